//! Text of operators: files of rules, our own and those of coding agents.

use std::path::Path;

use toolplane_fuzz::fuzz;

use super::{of_json, of_toml};

const FILES: [&str; 4] = [
    "[[rules]]\nid = \"a\"\nbehavior = \"allow\"\ntool = \"Bash(git diff:*)\"\nreason = \"r\"\n",
    "[[rules]]\nbehavior = \"ask\"\ntool = \"*\"\nscope = { tenant = \"t\" }\narguments = [{ pointer = \"/a\", op = \"eq\", value = 1 }]\n",
    r#"{"rules": [{"behavior": "deny", "tool": "Read(secret/**)", "matches": [{"path": "secret/a"}]}]}"#,
    r#"{"permissions": {"allow": ["Read"], "deny": ["Bash(rm:*)"], "defaultMode": "plan", "additionalDirectories": ["/x"]}}"#,
];

#[test]
fn files_of_rules() {
    fuzz!("rule files", FILES, |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes);
        let found = [of_toml("rules", &text), of_json(Path::new("rules.json"), "rules", &text)];
        for (place, rule) in found.into_iter().flatten().flat_map(|file| file.rules) {
            assert!(!place.is_empty() && !rule.rule_id.is_empty());
            // Whether it is a rule is said, with fields.
            let _ = toolplane_policy::Rule::from_record(&rule);
        }
    });
}
