use toolplane_sandbox::bubblewrap::BubblewrapOptions;
use toolplane_sandbox::{Bubblewrap, SandboxBackend as _, SandboxError, SandboxSpec};

use crate::support::sandbox;

#[tokio::test]
async fn every_required_layer_holds_here() {
    let posture = sandbox().probe().await;
    let json = serde_json::to_string_pretty(&posture).unwrap();
    assert!(posture.available, "{json}");
    for layer in ["namespaces", "no_network", "seccomp", "tree_killed", "violations_recorded", "memory_bound"] {
        assert!(posture.holds(layer), "{layer}: {json}");
    }
}

#[tokio::test]
async fn per_process_limits_are_enough_without_control_groups() {
    let sandbox = Bubblewrap::new(&BubblewrapOptions { without_control_groups: true, ..BubblewrapOptions::default() });
    let posture = sandbox.probe().await;
    assert!(posture.available, "{posture:#?}");
    assert!(!posture.holds("memory_bound_of_tree"));
}

#[tokio::test]
async fn a_missing_part_makes_it_unavailable_and_says_what_to_do() {
    let missing = |bwrap: Option<&str>, launcher: Option<&str>| {
        Bubblewrap::new(&BubblewrapOptions {
            bwrap: bwrap.map(Into::into),
            launcher: launcher.map(Into::into),
            ..BubblewrapOptions::default()
        })
    };
    for (sandbox, word) in [
        (missing(Some("/nowhere/bwrap"), None), "install the package `bubblewrap`"),
        (missing(None, Some("/nowhere/launcher")), "TOOLPLANE_SANDBOX_LAUNCHER"),
    ] {
        let posture = sandbox.probe().await;
        assert!(!posture.available);
        assert!(posture.missing_reason.as_deref().is_some_and(|reason| reason.contains(word)), "{posture:?}");
        let error = sandbox.spawn(SandboxSpec::new(["true"]), None).await.unwrap_err();
        assert!(matches!(error, SandboxError::Unavailable(_)), "{error:?}");
    }
}

#[tokio::test]
async fn broken_parts_are_setup_failures_and_never_a_run() {
    for (bwrap, launcher, stage) in [
        (Some("/bin/false"), None, "namespaces"),
        (None, Some("/bin/true"), "namespaces"),
        (Some("/usr/bin/env"), None, "namespaces"),
    ] {
        let sandbox = Bubblewrap::new(&BubblewrapOptions {
            bwrap: bwrap.map(Into::into),
            launcher: launcher.map(Into::into),
            ..BubblewrapOptions::default()
        });
        let error = sandbox.spawn(SandboxSpec::new(["true"]), None).await.unwrap_err();
        assert!(matches!(&error, SandboxError::SetupFailed { stage: found, .. } if found == stage), "{error:?}");
        assert!(!sandbox.probe().await.available);
    }
}

/// Not a test of its own: started by the next one where no process can make user namespaces.
#[tokio::test]
#[ignore = "started by another test"]
async fn without_user_namespaces() {
    let posture = sandbox().probe().await;
    println!("REASON {}", posture.missing_reason.unwrap_or_default());
}

#[tokio::test]
async fn a_machine_without_user_namespaces_is_told_as_such() {
    // The number of namespaces below a namespace can be set in it, by its own root.
    let script = "echo 0 > /proc/sys/user/max_user_namespaces && exec \"$0\" --exact posture::without_user_namespaces --ignored --nocapture";
    let test = std::env::current_exe().unwrap();
    let mut command = std::process::Command::new("unshare");
    command.args(["--user", "--map-root-user", "sh", "-c", script]).arg(test);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains("REASON") && said.contains("user namespaces cannot be made"),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(said.contains("max_user_namespaces"), "{said}");
    assert!(!said.contains("owners of the workspace"), "{said}");
}
