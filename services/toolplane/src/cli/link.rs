//! The program under the name of a role: a link `toolplane-scheduler` to it is `toolplane serve --role scheduler`.

use std::ffi::OsString;
use std::path::Path;

use toolplane_records::cluster::ClusterRole;

/// What comes before a role in the name of a link.
const PREFIX: &str = "toolplane-";

/// The arguments as they would have been typed without a link; the first one is the name of the program.
pub(super) fn typed(arguments: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments = arguments.into_iter();
    let program = arguments.next().unwrap_or_else(|| "toolplane".into());
    let role = role_of(Path::new(&program)).map(|role| ["serve", "--role", role.as_str()].map(OsString::from));
    std::iter::once(program).chain(role.into_iter().flatten()).chain(arguments).collect()
}

fn role_of(program: &Path) -> Option<ClusterRole> {
    program.file_name()?.to_str()?.strip_prefix(PREFIX)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_link_says_which_role_runs() {
        for role in ClusterRole::ALL {
            let link = format!("/usr/bin/toolplane-{role}");
            let expected = words(&format!("{link} serve --role {role} --config x.toml"));
            assert_eq!(typed(words(&format!("{link} --config x.toml"))), expected);
        }
        for own in ["toolplane ls", "/opt/toolplane-0.1.0/toolplane ls", "toolplane-next ls", "scheduler ls"] {
            assert_eq!(typed(words(own)), words(own));
        }
    }
}
