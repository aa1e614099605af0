use super::*;

fn entry(key: &NewKey) -> KeyEntry {
    KeyEntry {
        id: "ci-1".to_owned(),
        sha256: key.sha256(),
        tenant: "acme".to_owned(),
        actor: Some("Zoë \"quoted\"".to_owned()),
        roles: vec![Role::Agent, Role::Approver],
        expires_at: Some("2030-01-01T00:00:00Z".to_owned()),
        disabled: false,
    }
}

#[test]
fn a_new_key_is_found_again_by_its_digest_only() {
    let key = NewKey::make("ci-1").expect("key");
    assert_eq!(key.text().len(), PREFIX.len() + "ci-1".len() + 1 + SECRET_CHARS);
    assert_eq!(id_in(key.text().as_bytes()), Some("ci-1"));
    assert_ne!(key.text(), NewKey::make("ci-1").expect("another").text());
    assert!(!format!("{key:?}").contains(&key.text()[8..]));

    let text = entry(&key).to_toml().expect("lines");
    assert!(!text.contains(&key.text()[PREFIX.len() + 5..]), "{text}");
    let keys = read_file(&format!("# keys\n{text}")).expect("file");
    assert_eq!(keys.len(), 1);
    assert_eq!(keys[0].digest, digest(key.text().as_bytes()));
    assert_eq!((keys[0].tenant.as_str(), keys[0].actor.as_deref()), ("acme", Some("Zoë \"quoted\"")));
    assert_eq!(keys[0].roles, RoleSet::of(&[Role::Agent, Role::Approver]));
    assert!(has_key(&text, "ci-1").expect("file") && !has_key(&text, "ci-2").expect("file"));
}

#[test]
fn ids_are_plain() {
    for id in ["", "a_b", "a b", "é", &"x".repeat(65), "a/b"] {
        assert_eq!(NewKey::make(id).expect_err(id), KeyError::Id);
    }
    let short = format!("{PREFIX}a_{}", "x".repeat(42));
    for text in ["", "tpk_", "tpk__", "token", short.as_str()] {
        assert_eq!(id_in(text.as_bytes()), None, "{text}");
    }
    // The secret may have any letter of base64url, the separator too.
    let odd = format!("{PREFIX}a.b-c_{}", "_".repeat(SECRET_CHARS));
    assert_eq!(id_in(odd.as_bytes()), Some("a.b-c"));
}

#[test]
fn a_wrong_file_is_told_by_place_and_rule_without_its_content() {
    let key = NewKey::make("ci-1").expect("key");
    let good = entry(&key).to_toml().expect("lines");
    let cases = [
        ("[[key]]\nid = \"a\"\nhush = \"secret-word\"\n".to_owned(), "line 3"),
        ("keys = \"secret-word\"".to_owned(), "line 1"),
        ("not toml secret-word".to_owned(), "line 1"),
        (good.replace(&key.sha256(), "secret-word"), "`sha256`"),
        (good.replace("\"acme\"", "\"no spaces secret-word\""), "`tenant`"),
        (good.replace("[\"agent\", \"approver\"]", "[]"), "`roles`"),
        (good.replace("\"agent\"", "\"secret-word\""), "key 1 (`ci-1`): `roles` has one that is not one of agent"),
        (good.replace("2030-01-01T00:00:00Z", "secret-word"), "`expires_at`"),
        (format!("{good}{good}"), "key 2 (`ci-1`): `id` is there twice"),
    ];
    for (text, said) in cases {
        let error = read_file(&text).expect_err(&text).to_string();
        assert!(error.contains(said) && !error.contains("secret-word"), "{error}\n{text}");
    }
    assert_eq!(check_file(""), Ok(0));
}
