use super::{Config, PermissionOptions};
use crate::rules::Active;

fn active(text: &str) -> Result<Active, String> {
    let config = Config::from_toml("test.toml".as_ref(), text).unwrap();
    let options = PermissionOptions::from_config(&config).map_err(|error| error.to_string())?;
    Active::of_source(&options.source).map_err(|faults| faults.to_string())
}

#[test]
fn without_rules_there_is_none() {
    let none = active("").unwrap();
    assert!(none.rules().is_empty(), "{:?}", none.rules());
    let own = active("[[permission.rules]]\nbehavior = \"deny\"\ntool = \"*\"\n").unwrap();
    assert_eq!(own.rules().len(), 1);
    assert_eq!((own.rules()[0].behavior.as_str(), own.rules()[0].origin.as_str()), ("deny", "config"));
    assert_ne!(none.digest(), own.digest());
}

#[test]
fn wrong_rules_are_refused_by_their_place() {
    let rule = "[[permission.rules]]\nbehavior = \"deny\"\ntool = \"*\"\n";
    let cases = [
        (format!("{rule}tols = \"x\"\n"), "permission.rules[0]"),
        (format!("{rule}facts = [\"nice\"]\n"), "permission.rules[0].facts[0]"),
        (format!("{rule}id = \"a\"\n{rule}id = \"a\"\n"), "permission.rules[1]"),
        (format!("{rule}id = \"rule/default/x\"\n"), "permission.rules[0].id"),
        ("[permission]\ndefault_mode = \"often\"\n".to_owned(), "permission.default_mode"),
        ("[permission]\ndefault_mode = \"bypass\"\n".to_owned(), "permission.allow_bypass"),
        ("[permission]\nrules_files = [\"/nonexistent.toml\"]\n".to_owned(), "permission.rules_files[0]"),
        ("[permission]\ncedar_schema = \"/nonexistent\"\n".to_owned(), "permission.cedar_schema"),
    ];
    for (text, place) in cases {
        let error = active(&text).unwrap_err();
        assert!(error.contains(place), "{text}: {error}");
    }
}

#[test]
fn the_digest_covers_what_decisions_depend_on() {
    let base = active("").unwrap().digest().to_owned();
    let changes = [
        "[permission]\nallow_bypass = true\n",
        "[permission]\ndefault_mode = \"plan\"\n",
        "[permission]\nuntrusted_namespaces = []\n",
        "[permission]\nworkspace = \"/w\"\n",
        "[permission]\ntrust_repositories = true\n",
        "[permission.review]\nconfidence_below = 0.5\n",
        "[[permission.rules]]\nbehavior = \"ask\"\ntool = \"*\"\n",
    ];
    for change in changes {
        assert_ne!(active(change).unwrap().digest(), base, "{change}");
    }
    let same = active("[permission]\napproval_ttl_ms = 5\nallow_self_approval = true\n").unwrap();
    assert_eq!(same.digest(), base, "these change no decision");
}

#[test]
fn a_wrong_rule_of_a_file_is_named_by_its_line_and_key() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("toolplane.toml");
    for (rule, place) in [
        ("behaviour = \"allow\"\ntool = \"*\"\n", "toolplane.toml:3: `permission.rules[0].behaviour`: unknown field"),
        ("behavior = \"allow\"\ntool = \"*\"\nid = 5\n", "toolplane.toml:5: `permission.rules[0].id`: invalid type"),
        (
            "behavior = \"allow\"\ntool = \"*\"\nfacts = [\"nice\"]\n",
            "toolplane.toml:5: `permission.rules[0].facts[0]`: ",
        ),
    ] {
        std::fs::write(&file, format!("# rules\n[[permission.rules]]\n{rule}")).unwrap();
        let config = Config::load(Some(&file), []).unwrap();
        let error = PermissionOptions::from_config(&config).unwrap_err().to_string();
        assert!(error.contains(place), "{error}");
    }
}
