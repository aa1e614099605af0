use super::{Profile, SandboxSpec, WorkspaceAccess};

fn refused(spec: &SandboxSpec, field: &str) {
    let error = spec.check().expect_err("must be refused");
    assert!(error.to_string().starts_with(&format!("`{field}`")), "{error}");
}

#[test]
fn profiles_have_the_published_names() {
    for profile in Profile::ALL {
        assert_eq!(profile.as_str().parse::<Profile>(), Ok(*profile));
    }
    assert_eq!(Profile::WorkspaceReadOnly.access(), Some(WorkspaceAccess::ReadOnly));
    assert_eq!(Profile::ComputeOnly.access(), None);
    assert!("unconfined".parse::<Profile>().is_err());
}

#[test]
fn arguments_are_bounded() {
    assert_eq!(SandboxSpec::new(["true"]).check(), Ok(()));
    refused(&SandboxSpec::new(Vec::<String>::new()), "argv");
    refused(&SandboxSpec::new([""]), "argv");
    refused(&SandboxSpec::new(["printf", "a\0b"]), "argv");
    refused(&SandboxSpec::new(["echo".to_owned(), "x".repeat(70_000)]), "argv");
    refused(&SandboxSpec::new(vec!["x"; 5000]), "argv");
}

#[test]
fn places_are_checked() {
    let mut spec = SandboxSpec::new(["true"]);
    spec.cwd = Some("workspace".into());
    refused(&spec, "cwd");
    spec.cwd = None;
    for path in ["relative", "/", "/etc/ssl", "/proc", "/opt/../etc", "/usr/lib"] {
        spec.read_only_paths = vec![path.into()];
        refused(&spec, "read_only_paths");
    }
    spec.read_only_paths = vec!["/opt/tool".into()];
    assert_eq!(spec.check(), Ok(()));
    refused(&spec.with_profile(Profile::WorkspaceWrite, "relative"), "workspace");
}
