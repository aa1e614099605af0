//! Secrets in files and variables.

use std::ffi::OsString;
use std::time::{Duration, SystemTime};

use toolplane_credentials::CredentialConfig;

use crate::house::{House, get, look, value};

fn config(path: &str) -> String {
    format!("[[credentials]]\nname = 'key'\nkind = 'api_key'\nsource = {{ file = '{path}' }}\ntools = ['*']\n")
}

#[tokio::test]
async fn a_file_is_taken_up_as_it_is_now() {
    let house = House::new();
    let broker = house.broker(&config(&house.write("key", "first-secret\n")));
    assert_eq!(look(&broker, "key").await, "first-secret");
    let first = get(&broker, "key").await.unwrap();
    assert_eq!((first.generation(), get(&broker, "key").await.unwrap().generation()), (1, 1));
    // Written in place.
    house.write("key", "other-secret\n");
    assert_eq!(look(&broker, "key").await, "other-secret");
    // Exchanged at once, as mounted secrets are.
    house.write("new", "third-secret\n");
    std::fs::rename(house.path("new"), house.path("key")).unwrap();
    assert_eq!(look(&broker, "key").await, "third-secret");
    // Half written: what was there before is good for a while.
    house.write("key", "");
    assert_eq!(look(&broker, "key").await, "third-secret");
    house.later(3601);
    assert_eq!(look(&broker, "key").await, "credential.unreadable");
    house.write("key", "forth-secret");
    assert_eq!(look(&broker, "key").await, "forth-secret");
    // Gone is gone at once.
    std::fs::remove_file(house.path("key")).unwrap();
    assert_eq!(look(&broker, "key").await, "credential.missing");
    // What was given is what it was.
    assert_eq!(value(&first), "first-secret");
}

#[tokio::test]
async fn an_unchanged_file_is_not_taken_up_again() {
    let house = House::new();
    let path = house.write("key", "first-secret\n");
    let broker = house.broker(&config(&path));
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(long_ago).unwrap();
    for _ in 0..3 {
        assert_eq!(get(&broker, "key").await.unwrap().generation(), 1);
        house.later(2000);
    }
    // It was looked at all the time, so its value is not old.
    assert_eq!(broker.names()[0].age, Some(Duration::from_secs(6000)));
    house.write("same", "first-secret");
    std::fs::rename(house.path("same"), house.path("key")).unwrap();
    assert_eq!(get(&broker, "key").await.unwrap().generation(), 1, "the same bytes in another file");
}

#[tokio::test]
async fn what_others_could_read_or_change_is_not_used() {
    let house = House::new();
    let broker = house.broker(&config(&house.write("key", "first-secret\n")));
    assert_eq!(look(&broker, "key").await, "first-secret");
    for mode in [0o640, 0o604, 0o644, 0o660, 0o611] {
        house.mode("key", mode);
        assert_eq!(look(&broker, "key").await, "credential.unreadable", "{mode:o}");
        let error = get(&broker, "key").await.unwrap_err().to_string();
        assert!(error.contains("chmod 600") && error.contains(&format!("{mode:o}")), "{error}");
    }
    house.mode("key", 0o400);
    assert_eq!(look(&broker, "key").await, "first-secret");
    // What is no file does not keep anybody waiting.
    std::fs::remove_file(house.path("key")).unwrap();
    let made = std::process::Command::new("mkfifo").args(["-m", "600"]).arg(house.path("key")).status().unwrap();
    assert!(made.success());
    assert_eq!(look(&broker, "key").await, "credential.unreadable");
    std::fs::remove_file(house.path("key")).unwrap();
    std::fs::create_dir(house.path("key")).unwrap();
    house.mode("key", 0o700);
    assert_eq!(look(&broker, "key").await, "credential.unreadable");
}

#[tokio::test]
async fn links_are_followed() {
    let house = House::new();
    let broker = house.broker(&config(house.path("key").to_str().unwrap()));
    assert_eq!(look(&broker, "key").await, "credential.missing");
    std::os::unix::fs::symlink(house.write("one", "first-secret"), house.path("key")).unwrap();
    assert_eq!(look(&broker, "key").await, "first-secret");
    std::os::unix::fs::symlink(house.write("two", "other-secret"), house.path("next")).unwrap();
    std::fs::rename(house.path("next"), house.path("key")).unwrap();
    assert_eq!(look(&broker, "key").await, "other-secret");
    std::fs::remove_file(house.path("two")).unwrap();
    assert_eq!(look(&broker, "key").await, "credential.missing");
}

#[tokio::test]
async fn what_is_not_of_its_kind_is_refused() {
    let house = House::new();
    for (kind, content, expected) in [
        ("bearer", "seven77", "it has fewer than 8 bytes"),
        ("bearer", "Bearer abcdefghijk", "visible ASCII"),
        ("bearer", "two-lines\nof-it", "visible ASCII"),
        ("api_key", "caf\u{e9}-caf\u{e9}", "visible ASCII"),
        ("basic", "no-colon-here", "it is not `user:password`"),
        ("basic", "user:short", "it has fewer than 8 bytes"),
        ("json", "[]", "it is not a JSON object"),
        ("json", r#"{"a":"aaaaaaaa","a":"bbbbbbbb"}"#, "it is not a JSON object"),
        ("json", r#"{"a":1}"#, "no text at all"),
        ("json", r#"{"a":[1,{"b":"0123456789","c":["x"]}]}"#, "name those that are secret"),
        ("json", r#"{"user":"ann","token":"0123456789"}"#, "name those that are secret"),
        ("raw", "", "it has fewer than 8 bytes"),
    ] {
        let path = house.write("key", content);
        let broker = house.broker(&config(&path).replace("api_key", kind));
        let error = get(&broker, "key").await.unwrap_err();
        assert!(error.to_string().contains(expected), "{kind} {content}: {error}");
        assert_eq!(error.code().as_str(), "credential.unreadable");
    }
    let path = house.write("key", r#"{"a":"0123456789","b":{"c":[1]}}"#);
    let broker = house.broker(&(config(&path).replace("api_key", "json") + "secret_fields = ['b']\n"));
    assert!(get(&broker, "key").await.unwrap_err().to_string().contains("`secret_fields` names"));
    house.write("key", vec![b'a'; 20_000]);
    let broker = house.broker(&config(house.path("key").to_str().unwrap()));
    assert!(get(&broker, "key").await.unwrap_err().to_string().contains("more than 16384 bytes"));
}

#[tokio::test]
async fn variables_are_looked_at_each_time() {
    let house = House::new();
    let broker =
        house.broker("[[credentials]]\nname = 'key'\nkind = 'bearer'\nsource = { env = 'KEY' }\ntools = ['*']\n");
    assert_eq!(look(&broker, "key").await, "credential.missing");
    house.variables.lock().insert("KEY".to_owned(), OsString::from("first-secret"));
    assert_eq!(look(&broker, "key").await, "first-secret");
    house.variables.lock().clear();
    assert_eq!(look(&broker, "key").await, "credential.missing");
}

#[tokio::test]
async fn every_text_of_a_document_is_masked_at_any_depth() {
    let house = House::new();
    let document = r#"{"client":{"id":"our-client-id","secret":"inner-secret"},"keys":["first-key-22",{"k":"other-key-22"}],
        "port":12345678,"own":"outer-secret"}"#;
    let all = config(&house.write("all", document)).replace("api_key", "json");
    let some = all.replace("'key'", "'some'") + "secret_fields = ['keys', 'own']\n";
    let text = "our-client-id inner-secret first-key-22 other-key-22 12345678 outer-secret";
    for (config, expected) in [
        (all, "[credential key] [credential key] [credential key] [credential key] 12345678 [credential key]"),
        (some, "our-client-id inner-secret [credential some] [credential some] 12345678 [credential some]"),
    ] {
        let broker = house.broker(&config);
        broker.load().await;
        assert_eq!(broker.mask().text(text), expected);
        // Written anew by a program that has read it.
        let compact = serde_json::from_str::<serde_json::Value>(document).unwrap().to_string();
        assert!(!broker.mask().text(&compact).contains("outer-secret"));
    }
}

#[tokio::test]
async fn every_value_in_use_and_the_earlier_ones_are_masked() {
    let house = House::new();
    let document = r#"{"user":"ann","private_key":"-k-e-y-k-e-y-"}"#;
    let text = format!(
        "{}[[credentials]]\nname = 'db'\nkind = 'basic'\nsource = {{ file = '{}' }}\ntenants = ['*']\n\
         [[credentials]]\nname = 'sa'\nkind = 'json'\nsecret_fields = ['private_key']\nsource = {{ file = '{}' }}\ntenants = ['*']\n",
        config(&house.write("key", "first-secret\n")),
        house.write("db", "bot:hunter22hunter22"),
        house.write("sa", document),
    );
    let broker = house.broker(&text);
    assert!(broker.mask().is_empty());
    broker.load().await;
    let mask = broker.mask();
    let shown = mask
        .text("first-secret Basic Ym90Omh1bnRlcjIyaHVudGVyMjI= hunter22hunter22 bot ann -k-e-y-k-e-y-")
        .into_owned();
    assert_eq!(shown, "[credential key] Basic [credential db]= [credential db] bot ann [credential sa]");
    assert_eq!(mask.text(document), "[credential sa]");
    house.write("key", "other-secret\n");
    get(&broker, "key").await.unwrap();
    let both = "first-secret other-secret";
    assert_eq!(broker.mask().text(both), "[credential key] [credential key]");
    assert_eq!(mask.text(both), "[credential key] other-secret", "a mask is what it was when it was taken");
    // Earlier values go after an hour, at the next change.
    house.later(3601);
    house.write("key", "third-secret\n");
    get(&broker, "key").await.unwrap();
    let all = broker.mask().text("first-secret other-secret third-secret").into_owned();
    assert_eq!(all, "first-secret [credential key] [credential key]");
}

/// The configuration is read again: what is the same stays, and nothing that was known is shown.
#[tokio::test]
async fn other_credentials_take_over_without_losing_what_was_known() {
    let house = House::new();
    let entry = |name: &str, file: &str| {
        let file = house.write(file, format!("secret-in-{file}"));
        format!(
            "[[credentials]]\nname = \"{name}\"\nkind = \"api_key\"\nsource = {{ file = \"{file}\" }}\ntools = [\"*\"]\n"
        )
    };
    let credentials = |text: String| {
        let mut read: std::collections::BTreeMap<String, Vec<CredentialConfig>> = toml::from_str(&text).unwrap();
        read.remove("credentials").unwrap()
    };
    let broker = house.broker(&[entry("same", "one"), entry("moved", "two"), entry("gone", "three")].concat());
    for name in ["same", "moved", "gone"] {
        look(&broker, name).await;
    }
    let held = get(&broker, "gone").await.unwrap();
    let next = credentials([entry("same", "one"), entry("moved", "four"), entry("new", "five")].concat());
    let next = broker.with_credentials(next).unwrap();
    assert_eq!(look(&next, "gone").await, "credential.missing");
    assert_eq!(
        (look(&next, "moved").await.as_str(), look(&next, "new").await.as_str()),
        ("secret-in-four", "secret-in-five")
    );
    assert_eq!(get(&next, "same").await.unwrap().generation(), 1, "not read anew");
    let all = "secret-in-one secret-in-two secret-in-three secret-in-four secret-in-five";
    for broker in [&broker, &next] {
        let shown = broker.mask().text(all).into_owned();
        assert!(!shown.contains("secret-in"), "{shown}");
    }
    // An hour later only what somebody still holds is masked of the earlier ones.
    drop(broker);
    house.later(3601);
    house.write("five", "a-newer-secret");
    look(&next, "new").await;
    let shown = next.mask().text("secret-in-two secret-in-three").into_owned();
    assert_eq!(shown, "secret-in-two [credential gone]");
    drop(held);
    house.write("five", "the-newest-secret");
    look(&next, "new").await;
    assert_eq!(next.mask().text("secret-in-three"), "secret-in-three");
    assert!(next.with_credentials(credentials(entry("No Name", "one"))).is_err());
}
