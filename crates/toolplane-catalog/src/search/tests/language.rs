//! The question language, as it is answered.

use super::*;

fn mail() -> Catalog {
    let risky = |namespace: &str, name: &str, risk: &str| {
        let mut json = tool_json(namespace, name);
        json["declaration"]["permission_profile_ref"] = json!("p");
        json["permission_profile"] = json!({ "permission_profile_id": "p", "risk_level": risk });
        registration(&json)
    };
    catalog(&[
        with("mail", "send", &json!({ "description": "Sends an email message to people." })),
        with(
            "mail.archive",
            "search",
            &json!({ "description": "Searches old email messages.", "tool_kind": "mcp_tool" }),
        ),
        with("chat", "send", &json!({ "description": "Posts a message in a channel; people read it at once." })),
        with("repo", "open_pull_request", &json!({ "description": "Opens a pull request for review." })),
        with("repo", "pull", &json!({ "description": "Pulls changes; no request is needed." })),
        risky("disk", "wipe", "high"),
        risky("disk", "measure", "low"),
    ])
}

fn check(query: &str, expected: &[&str]) {
    let catalog = mail();
    let found = find_with(&catalog, query, &Thesaurus::empty());
    let mut found = names(&found);
    found.sort_unstable();
    assert_eq!(found, expected, "{query}");
}

#[test]
fn what_must_be_there_is_there_and_what_must_not_is_not() {
    check("message", &["chat.send", "mail.archive.search", "mail.send"]);
    check("message +email", &["mail.archive.search", "mail.send"]);
    check("message -email", &["chat.send"]);
    check("+messages +people", &["chat.send", "mail.send"]);
    check("+message +request", &[]);
    check("message -nobodyhasthis", &["chat.send", "mail.archive.search", "mail.send"]);
    check("-email -message +send", &[]);
    check("mess*", &["chat.send", "mail.archive.search", "mail.send"]);
    check("message -sea*", &["chat.send", "mail.send"]);
}

#[test]
fn a_phrase_is_words_that_follow_each_other() {
    check("\"pull request\"", &["repo.open_pull_request"]);
    check("\"pulling requests\"", &["repo.open_pull_request"]);
    check("pull -\"pull request\"", &["repo.pull"]);
    check("\"request pull\"", &["repo.open_pull_request", "repo.pull"]);
    check("+\"request pull\"", &[]);
}

#[test]
fn filters_choose_without_words_and_beside_them() {
    check("namespace:mail", &["mail.archive.search", "mail.send"]);
    check("namespace:mail.archive", &["mail.archive.search"]);
    check("namespace:MAIL message", &["mail.archive.search", "mail.send"]);
    check("namespace:mai", &[]);
    check("message -namespace:mail", &["chat.send"]);
    check("kind:mcp_tool", &["mail.archive.search"]);
    check("namespace:mail namespace:chat send", &["chat.send", "mail.send"]);
    check("risk:high", &["disk.wipe"]);
    check("risk:high risk:low", &["disk.measure", "disk.wipe"]);
    check("namespace:mail risk:low", &[]);
    check("namespace:mail nobodyhasthis", &[]);
    let filters = [Filter::new(FilterKind::Risk, "LOW", false).unwrap()];
    let catalog = mail();
    let none = Thesaurus::empty();
    let asked = Question { filters: &filters, ..question("disk", 10, &none) };
    let answer = super::super::search(&Everything::default(), &catalog.index().snapshot(), &asked).unwrap();
    assert_eq!(names(&answer.result.found), ["disk.measure"]);
}

#[test]
fn names_are_selected_in_any_case_and_shared_ones_are_asked_about() {
    let catalog = mail();
    let ask = |query: &str| search(&surface(&catalog, DeferPolicy::All), &catalog, query, 10);
    for query in ["select:mail.send", "SELECT:Mail.SEND", "Select: MAIL__send ", "select:TOOL_mail_send"] {
        let found = ask(query);
        assert_eq!((names(&found.found), found.query_type.as_str()), (vec!["mail.send"], "select"), "{query}");
    }
    let found = ask("select:send,wipe,nowhere");
    assert_eq!(names(&found.found), ["disk.wipe"]);
    assert_eq!(found.missing_names, ["nowhere"]);
    let ambiguous: Vec<_> =
        found.ambiguous_names.iter().map(|one| (one.name.as_str(), one.candidates.clone())).collect();
    assert_eq!(ambiguous, [("send", vec!["chat.send".to_owned(), "mail.send".to_owned()])]);
}

#[test]
fn a_bare_name_means_the_tool_the_surface_shows() {
    let catalog = mail();
    let request = SurfaceRequest {
        namespaces: vec!["chat".to_owned()],
        ..SurfaceRequest::new(TenantId::unauthenticated(), SurfaceScope::Turn)
    };
    let chat = made(&catalog, &request);
    assert_eq!(names(&search(&chat, &catalog, "select:Send", 10).found), ["chat.send"]);
    assert_eq!(names(&search(&chat, &catalog, "email message", 10).found), ["chat.send"]);
    assert_eq!(search(&chat, &catalog, "select:mail.send", 10).next_action, "not_available");
}
