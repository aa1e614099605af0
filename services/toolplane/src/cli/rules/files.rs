//! Files of rules, read and checked as the cluster would.

use std::path::Path;

use toolplane_permission::read_rules_file;
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::Behavior;

use crate::cli::failure::Failure;

/// The rules of a file; its faults in one error.
pub(super) fn read(file: &Path) -> Result<Vec<PermissionRule>, Failure> {
    std::fs::metadata(file).map_err(|error| Failure::file(file, &error))?;
    let rules = read_rules_file(file).map_err(|faults| Failure::Local(faults.to_string()))?;
    match rules.is_empty() {
        true => Err(Failure::Local(format!("`{}` holds no rules", file.display()))),
        false => Ok(rules.into_iter().map(unplaced).collect()),
    }
}

/// Where a rule is kept and when it began is for the cluster to say.
fn unplaced(rule: PermissionRule) -> PermissionRule {
    PermissionRule { origin: String::new(), created_at: None, ..rule }
}

/// What a check of a file says.
#[derive(Debug)]
pub(super) enum FileCheck {
    /// What it holds, in one line.
    Good(String),
    /// What is wrong with it, a line each.
    Faulty(Vec<String>),
}

/// Checks a file of rules as the cluster would.
pub(super) fn check(file: &Path) -> Result<FileCheck, Failure> {
    std::fs::metadata(file).map_err(|error| Failure::file(file, &error))?;
    Ok(match read_rules_file(file) {
        Ok(rules) => FileCheck::Good(summary(&rules)),
        Err(faults) => {
            let shown = file.display().to_string();
            // The file is named once, in front of each line.
            let place =
                |place: &str| place.strip_prefix(&shown).unwrap_or(place).trim_start_matches([':', ' ']).to_owned();
            let line = |fault: &toolplane_permission::Fault| match place(&fault.place).as_str() {
                "" => fault.rule.clone(),
                place => format!("{place}: {}", fault.rule),
            };
            FileCheck::Faulty(faults.0.iter().map(line).collect())
        }
    })
}

fn summary(rules: &[PermissionRule]) -> String {
    let count = |behavior: Behavior| rules.iter().filter(|rule| rule.behavior == behavior).count();
    let examples: usize = rules.iter().map(|rule| rule.matches.len() + rule.not_matches.len()).sum();
    let watched = rules.iter().filter(|rule| rule.shadow).count();
    let mut said = format!(
        "{} rules ({} allow, {} ask, {} deny), {examples} examples hold",
        rules.len(),
        count(Behavior::Allow),
        count(Behavior::Ask),
        count(Behavior::Deny),
    );
    if watched > 0 {
        said.push_str(&format!(", {watched} only watched"));
    }
    said
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/examples").join(name)
    }

    /// The example rules are good, and every one of their own examples holds.
    #[test]
    fn examples_are_good() {
        let mut seen = 0;
        for entry in std::fs::read_dir(folder("rules")).unwrap() {
            let file = entry.unwrap().path();
            seen += 1;
            let said = match check(&file).unwrap() {
                FileCheck::Good(said) => said,
                FileCheck::Faulty(faults) => panic!("{}: {faults:#?}", file.display()),
            };
            let has_examples = file.extension().is_some_and(|extension| extension == "toml");
            assert!(!said.starts_with("0 rules") && (!has_examples || !said.contains(", 0 examples")), "{said}");
        }
        assert!(seen >= 4, "only {seen} example files");
    }

    #[test]
    fn settings_of_coding_agents_are_rules_and_faults_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let file = folder.path().join(name);
            std::fs::write(&file, text).unwrap();
            file
        };
        let settings = write(
            "settings.json",
            r#"{"permissions":{"allow":["Bash(git diff:*)"],"deny":["Read(./.env)"],"defaultMode":"acceptEdits"}}"#,
        );
        assert_eq!(read(&settings).unwrap().len(), 2);
        assert!(read(&settings).unwrap().iter().all(|rule| rule.origin.is_empty()));

        let wrong = write("wrong.toml", "[[rules]]\nbehavior = \"deny\"\ntool = \"Bash(\"\n");
        let checked = check(&wrong).unwrap();
        assert!(
            matches!(&checked, FileCheck::Faulty(faults) if faults.len() == 1 && faults[0].starts_with("rules[0]")),
            "{checked:?}"
        );
        assert!(check(&folder.path().join("absent.toml")).is_err());
        assert!(read(&write("empty.toml", "rules = []\n")).is_err());
    }
}
