//! Who gets a credential, and what may be told of it.

use toolplane_credentials::{CredentialError, OutOfScope, Request};
use toolplane_records::vocabulary::HiddenReason;

use crate::house::{House, get, look, request, tool};

#[tokio::test]
async fn who_is_not_named_gets_nothing() {
    let house = House::new();
    let broker = house.broker(&format!(
        "[[credentials]]\nname = 'key'\nkind = 'api_key'\nsource = {{ file = '{}' }}\n\
         providers = ['github']\ntools = ['mcp__github__*']\ntenants = ['acme', 'default']\nactors = ['ann', 'bob']\n",
        house.write("key", "first-secret")
    ));
    let (search, other) = (tool("mcp.github.search", "mcp.github"), tool("mcp.evil.search", "mcp.evil"));
    let mut imposter = tool("mcp.evil.search", "mcp.evil");
    imposter.aliases.push("mcp__github__search".to_owned());
    let all = Request { name: "key", provider: Some("github"), tool: &search, tenant: "acme", actor: Some("ann") };
    broker.credential(&all).await.unwrap();
    for (request, what) in [
        (Request { provider: None, ..all }, OutOfScope::Provider),
        (Request { provider: Some("gitlab"), ..all }, OutOfScope::Provider),
        (Request { provider: Some("*"), ..all }, OutOfScope::Provider),
        (Request { tool: &other, ..all }, OutOfScope::Tool),
        (Request { tool: &imposter, ..all }, OutOfScope::Tool),
        (Request { tenant: "acme2", ..all }, OutOfScope::Tenant),
        (Request { actor: None, ..all }, OutOfScope::Actor),
        (Request { actor: Some("Ann"), ..all }, OutOfScope::Actor),
    ] {
        let error = broker.credential(&request).await.unwrap_err();
        assert_eq!(error, CredentialError::OutOfScope { name: "key".to_owned(), what }, "{request:?}");
        assert_eq!(error.code().as_str(), "credential.out_of_scope");
    }
    let unknown = broker.credential(&Request { name: "no\u{1b}[31m\u{202e}such", ..all }).await.unwrap_err();
    assert_eq!(unknown.code().as_str(), "credential.missing");
    assert!(!unknown.to_string().contains(['\u{1b}', '\u{202e}']), "{unknown}");
}

#[tokio::test]
async fn everybody_is_said_by_a_star() {
    let house = House::new();
    let path = house.write("key", "first-secret");
    for (scope, gets) in [
        ("providers = ['*']", true),
        ("tools = ['*']", true),
        ("tenants = ['*']\nactors = ['*']", true),
        ("tools = ['web.*']", true),
        ("tools = ['files.*']", false),
        ("tenants = ['acme']", false),
    ] {
        let config = format!("[[credentials]]\nname = 'key'\nkind = 'raw'\nsource = {{ file = '{path}' }}\n{scope}\n");
        assert_eq!(get(&house.broker(&config), "key").await.is_ok(), gets, "{scope}");
    }
}

#[tokio::test]
async fn what_a_tool_lacks_is_known_without_a_call_and_known_again_when_it_is_there() {
    let house = House::new();
    let broker = house.broker(&format!(
        "[[credentials]]\nname = 'key'\nkind = 'api_key'\nsource = {{ file = '{}' }}\ntools = ['web.*']\n\
         [[credentials]]\nname = 'acme'\nkind = 'raw'\nsource = {{ env = 'KEY' }}\ntenants = ['acme']\n",
        house.path("key").display()
    ));
    let reason = |name: &str| broker.check(&request(name)).err().map(|error| error.hidden_reason());
    assert_eq!(reason("key"), Some(None), "nobody has looked yet, so nothing is hidden");
    assert_eq!(reason("no-such"), Some(Some(HiddenReason::CredentialMissing)));
    assert_eq!(reason("acme"), Some(Some(HiddenReason::PolicyBlocked)));
    broker.load().await;
    assert_eq!(reason("key"), Some(Some(HiddenReason::CredentialMissing)));
    house.write("key", "first-secret");
    assert_eq!(reason("key"), Some(Some(HiddenReason::CredentialMissing)), "no source is looked at");
    broker.load().await;
    assert_eq!(reason("key"), None);
    house.mode("key", 0o644);
    broker.load().await;
    assert_eq!(reason("key"), Some(Some(HiddenReason::CredentialMissing)));
    for error in [
        broker.check(&request("no-such")).unwrap_err(),
        broker.check(&request("acme")).unwrap_err(),
        broker.check(&request("key")).unwrap_err(),
    ] {
        let word = error.hidden_reason().unwrap().to_string();
        assert_eq!(word, error.to_tool_error().error_class.to_string(), "a hidden tool and a call say the same");
    }
}

#[tokio::test]
async fn names_and_ages_are_told_and_no_values() {
    let house = House::new();
    let broker = house.broker(&format!(
        "[[credentials]]\nname = 'b'\nkind = 'api_key'\nsource = {{ file = '{}' }}\ntools = ['web.*']\ntenants = ['acme']\n\
         [[credentials]]\nname = 'a'\nkind = 'bearer'\nsource = {{ env = 'KEY' }}\ntools = ['*']\n",
        house.write("key", "first-secret")
    ));
    broker.load().await;
    house.later(5);
    let names = broker.names();
    assert_eq!(
        names.iter().map(|one| (one.name.as_str(), one.available)).collect::<Vec<_>>(),
        [("a", false), ("b", true)]
    );
    let (a, b) = (&names[0], &names[1]);
    assert_eq!((b.kind, b.source, b.generation, b.age.unwrap().as_secs()), ("api_key", "file", 1, 5));
    assert_eq!((b.scope.tools.as_deref(), b.scope.actors.as_deref()), (Some(&["web.*".to_owned()][..]), None));
    let (code, text) = a.fault.clone().unwrap();
    assert_eq!((code.as_str(), text.as_str()), ("credential.missing", "its variable is not set"));
    let shown = format!("{names:?} {broker:?}");
    assert!(!shown.contains("first-secret") && !shown.contains("/key") && !shown.contains("KEY"), "{shown}");
    // A test reads anew, for whomever the credential is.
    house.write("key", "short");
    let error = broker.test("b").await.unwrap_err();
    assert_eq!(error.code().as_str(), "credential.unreadable");
    house.write("key", "other-secret");
    assert_eq!(broker.test("b").await.unwrap().generation, 2);
    assert_eq!(look(&broker, "b").await, "credential.out_of_scope");
}
