//! The grammar of rules.

use toolplane_fuzz::fuzz;
use toolplane_records::rule::PermissionRule;

use crate::Rule;

/// What is a rule is one of the same text again; what is none is refused with a field.
#[test]
fn rules() {
    let golden = include_str!("../../toolplane-records/tests/golden/permission-rule.full.json");
    let corpus = [
        "Bash(git diff:*)",
        "Read(src/**/*.{rs,toml})",
        "WebFetch(domain:*.example.com)",
        "shell.exec(npm run *)",
        "mcp__a__*",
        "*",
    ];
    let rule: PermissionRule = serde_json::from_str(golden).unwrap();
    fuzz!("rules", corpus, |bytes: &[u8]| {
        let matcher = String::from_utf8_lossy(bytes).into_owned();
        let record = PermissionRule { matcher, matches: Vec::new(), not_matches: Vec::new(), ..rule.clone() };
        match Rule::from_record(&record) {
            Ok(read) => assert_eq!(read.record(), &record),
            Err(violations) => assert!(!violations.is_empty()),
        }
    });
}
