//! From what the self-test found to layers that held or did not.

use super::NAMESPACES;
use super::bounds::{FILES, MEMORY, MIB, PROCESSES};
use crate::bubblewrap::{Bubblewrap, host_namespaces};
use crate::environment;
use crate::inside::SCRATCH;
use crate::inside::WORKSPACE;
use crate::launcher::Facts;
use crate::posture::Layer;

/// A required layer.
pub(super) fn layer(name: &str, held: bool, detail: impl Into<String>) -> Layer {
    Layer { name: name.into(), held, required: true, detail: detail.into() }
}

/// A layer that holds when nothing is found that breaks it.
fn nothing<T: AsRef<str>>(name: &str, found: &[T], fault: &str) -> Layer {
    let found: Vec<_> = found.iter().map(AsRef::as_ref).collect();
    let detail = if found.is_empty() { "nothing found".to_owned() } else { format!("{fault}: {}", found.join(", ")) };
    layer(name, found.is_empty(), detail)
}

/// All layers the self-test tells about.
pub(super) fn layers(facts: &Facts, sandbox: &Bubblewrap) -> Vec<Layer> {
    let mut layers = isolation(facts);
    layers.extend(privileges(facts));
    layers.extend(bounds(facts, sandbox));
    layers
}

fn isolation(facts: &Facts) -> Vec<Layer> {
    let host = host_namespaces();
    let is_shared = |name: &&&str| facts.namespaces.get(**name).is_none_or(|inode| host.get(**name) == Some(inode));
    let shared: Vec<_> = NAMESPACES.iter().filter(is_shared).collect();
    let written = |dir: &str| facts.writes.get(dir).is_some_and(|attempt| attempt.worked);
    let writable: Vec<_> = ["/", "/usr", "/etc", "/dev", "/proc/sys"].into_iter().filter(|dir| written(dir)).collect();
    vec![
        nothing("namespaces", &shared, "shared with the worker"),
        layer(
            "no_network",
            !facts.internet_socket.worked && facts.interfaces == ["lo"],
            format!("interfaces {}; internet socket: {}", facts.interfaces.join(", "), facts.internet_socket.outcome),
        ),
        layer(
            "no_host_sockets",
            !facts.host_socket.worked && facts.own_socket.worked,
            format!("of the worker: {}; of its own: {}", facts.host_socket.outcome, facts.own_socket.outcome),
        ),
        nothing("read_only_system", &writable, "writable"),
        layer("workspace", written(WORKSPACE) && written(SCRATCH), "workspace and scratch can be written"),
        layer("host_files_hidden", !facts.canary.worked, format!("a file of the worker: {}", facts.canary.outcome)),
        layer("no_terminal", !facts.terminal.worked, facts.terminal.outcome.clone()),
    ]
}

fn privileges(facts: &Facts) -> Vec<Layer> {
    let status = |key: &str| facts.status.get(key).map_or("absent", String::as_str);
    let capabilities = ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"];
    let fixed = environment::complete(&Default::default());
    let mut leaked: Vec<_> = facts.environment.iter().filter(|name| !fixed.contains_key(*name)).cloned().collect();
    if facts.init_environment.worked && facts.init_environment.outcome != "0 bytes" {
        leaked.push(format!("{} of process 1", facts.init_environment.outcome));
    }
    let is_stream = |descriptor: &str| ["0", "1", "2"].contains(&descriptor.split(' ').next().unwrap_or(""));
    let inherited: Vec<_> = facts.descriptors.iter().filter(|descriptor| !is_stream(descriptor)).collect();
    vec![
        layer(
            "no_capabilities",
            capabilities.iter().all(|key| status(key) == "0000000000000000"),
            format!("effective {}, bounding {}", status("CapEff"), status("CapBnd")),
        ),
        layer("no_new_privileges", status("NoNewPrivs") == "1", format!("NoNewPrivs {}", status("NoNewPrivs"))),
        layer(
            "seccomp",
            status("Seccomp") == "2" && !facts.new_namespace.worked,
            format!("mode {}; a new user namespace: {}", status("Seccomp"), facts.new_namespace.outcome),
        ),
        layer("no_lent_rights", !facts.set_user_id.worked, format!("set-user-id: {}", facts.set_user_id.outcome)),
        layer("plain_user", !status("Uid").split_whitespace().any(|uid| uid == "0"), format!("uid {}", status("Uid"))),
        nothing("environment_empty", &leaked, "not meant for the tool"),
        nothing("no_descriptors", &inherited, "inherited"),
    ]
}

fn bounds(facts: &Facts, sandbox: &Bubblewrap) -> Vec<Layer> {
    let groups = sandbox.control_groups();
    let (started, filled) = (facts.processes_started, facts.memory_filled);
    let whole = groups.bounds_memory();
    let how = if whole { "by control group".to_owned() } else { format!("per process only: {}", groups.describe()) };
    vec![
        layer("open_files_bound", facts.files_opened < FILES, format!("{} of {FILES}", facts.files_opened)),
        layer(
            "pids_bound",
            (1..PROCESSES).contains(&started),
            format!("{started} of {PROCESSES} started; {}", groups.describe()),
        ),
        layer(
            "memory_bound",
            filled <= MEMORY,
            format!("one process filled {} MiB of {} MiB; {}", filled / MIB, MEMORY / MIB, groups.describe()),
        ),
        Layer { required: false, ..layer("memory_bound_of_tree", whole, how) },
    ]
}
