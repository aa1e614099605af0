//! What scopes hold calls to.

use toolplane_records::vocabulary::SurfaceScope as Scope;

use crate::surface::scope::{ScopeFacts, ScopeRules, slipped_refs};

fn refs(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

fn rules(scope: Scope, named: &[&str]) -> ScopeRules {
    ScopeRules::read(scope, &refs(named), "agent").unwrap()
}

fn said<'a>(session: Option<&'a str>, refs: &[&'a str]) -> ScopeFacts<'a> {
    ScopeFacts { session, refs: refs.to_vec(), ..ScopeFacts::default() }
}

#[test]
fn each_scope_holds_what_its_surface_names() {
    let cases = [
        (Scope::Session, "session:a", "session:b"),
        (Scope::Task, "task:a", "task:b"),
        (Scope::Turn, "turn:a", "turn:b"),
        (Scope::ModelRequest, "request:a", "request:b"),
        (Scope::Workspace, "workspace:a", "workspace:b"),
        (Scope::PeerAgent, "agent:a", "agent:b"),
        (Scope::Turn, "session:a", "session:b"),
        (Scope::ModelRequest, "workspace:a", "workspace:b"),
    ];
    for (scope, own, other) in cases {
        let rules = rules(scope, &["sandbox:7", own]);
        assert_eq!(rules.refuses(&said(None, &["sandbox:8", own])), None, "{scope} {own}");
        let out = rules.refuses(&said(None, &[other])).unwrap();
        assert_eq!(out.said.as_deref(), Some("b"), "{scope}");
        assert!(!out.message("call").contains("`a`") && !out.rule().contains("`a`"), "{}", out.message("call"));
        let none = rules.refuses(&said(None, &[])).unwrap();
        assert!(none.said.is_none() && none.message("call").contains("names none"), "{scope}");
    }
    let both = rules(Scope::Task, &["task:a", "task:b", "session:s"]);
    assert_eq!(both.refuses(&said(Some("s"), &["task:b"])), None);
    assert_eq!(both.refuses(&said(Some("t"), &["task:b"])).unwrap().form, "session");
}

#[test]
fn a_surface_that_names_nothing_is_for_everybody() {
    for scope in [Scope::Session, Scope::Task, Scope::Turn, Scope::Tenant, Scope::Skill, Scope::PeerAgent] {
        let rules = rules(scope, &["sandbox:7", "free text", "note:session:a"]);
        assert!(rules.is_silent() && rules.refuses(&said(None, &[])).is_none(), "{scope}");
    }
}

#[test]
fn what_a_scope_does_not_know_is_refused_and_says_nothing_where_it_is_stored() {
    for (scope, named, rule) in [
        (Scope::Session, "task:a", "knows `session:`, `workspace:`"),
        (Scope::Workspace, "session:a", "knows `workspace:`"),
        (Scope::Tenant, "session:a", "is for none"),
        (Scope::Role, "agent:a", "is for none"),
        (Scope::Session, "session: ", "must say which session"),
    ] {
        let fault = ScopeRules::read(scope, &refs(&["x", named]), "").unwrap_err();
        assert_eq!(fault.field, "runtime_refs[1]");
        assert!(fault.rule.contains(rule), "{}", fault.rule);
    }
    assert!(ScopeRules::stored(Scope::Session, &refs(&["task:a"]), "").is_silent());
}

#[test]
fn what_no_call_can_name_is_refused() {
    let fault = |scope, named: &str, role: &str| {
        let fault = ScopeRules::read(scope, &refs(&["x", named]), role).err()?;
        Some(format!("{} {}", fault.field, fault.rule))
    };
    let (long, longer) = ("x".repeat(256), "x".repeat(257));
    let control = Some("runtime_refs[1] must not contain control characters".to_owned());
    let too_long = Some("runtime_refs[1] must be at most 256 bytes".to_owned());
    assert_eq!(fault(Scope::Task, "task:7\u{0}", ""), control);
    assert_eq!(fault(Scope::Session, "free\ttext", ""), control, "calls cannot name it either");
    assert_eq!(fault(Scope::PeerAgent, "agent:a\n", ""), control);
    assert_eq!((fault(Scope::Session, &long, ""), fault(Scope::Session, &longer, "")), (None, too_long));
    assert_eq!(fault(Scope::PeerAgent, &format!("agent:{longer}"), ""), None, "the actor of a credential");
    assert_eq!(fault(Scope::Role, "y", "re\u{7}"), Some("role must not contain control characters".to_owned()));
    // It is said as `role:NAME`.
    assert_eq!((fault(Scope::Role, "y", &long[..251]), fault(Scope::Role, "y", &long[..252]).is_some()), (None, true));
    assert_eq!(fault(Scope::Session, "y", "any\nrole"), None, "it is held nowhere");
    // Those of earlier versions are kept.
    assert!(!ScopeRules::stored(Scope::Task, &refs(&["task:7\u{0}"]), "").is_silent());
}

#[test]
fn a_session_is_called_in_either_way_and_the_field_counts_first() {
    let rules = rules(Scope::Session, &["session:a"]);
    for own in ["a", "session:a"] {
        assert_eq!(rules.refuses(&said(Some(own), &[])), None, "{own}");
    }
    assert!(rules.refuses(&said(Some("b"), &["session:a"])).is_some());
}

#[test]
fn a_proven_agent_is_nobody_else() {
    let rules = rules(Scope::PeerAgent, &["agent:a"]);
    let facts = |agent, is_proven| ScopeFacts { agent, is_proven, refs: vec!["agent:a"], ..ScopeFacts::default() };
    assert_eq!(rules.refuses(&facts(Some("a"), true)), None);
    assert_eq!(rules.refuses(&facts(Some("b"), true)).unwrap().field(), "actor_ref");
    assert!(rules.refuses(&facts(None, true)).is_some());
    assert_eq!(rules.refuses(&facts(Some("b"), false)), None);
}

#[test]
fn roles_of_credentials_are_not_taken_from_what_is_said() {
    let refused = |role: &str, refs: &[&str]| {
        let rules = ScopeRules::read(Scope::Role, &[], role).unwrap();
        let roles = vec![("agent", true), ("operator", false)];
        rules.refuses(&ScopeFacts { roles, refs: refs.to_vec(), ..ScopeFacts::default() }).map(|out| out.form)
    };
    assert_eq!(refused("agent", &[]), None);
    assert_eq!(refused("operator", &["role:operator"]), Some("role".to_owned()));
    assert_eq!(refused("reviewer", &["role:reviewer"]), None);
    assert_eq!(refused("reviewer", &["role:writer"]), Some("role".to_owned()));
    assert_eq!(refused("", &[]), None);
    assert!(ScopeRules::read(Scope::Session, &[], "reviewer").unwrap().is_silent());
}

#[test]
fn what_helps_is_told_for_what_was_asked() {
    let cure = |scope, named: &str, role: &str, is_proven| {
        let rules = ScopeRules::read(scope, &refs(&[named]), role).unwrap();
        let facts = ScopeFacts { is_proven, roles: vec![("operator", false)], ..ScopeFacts::default() };
        let out = rules.refuses(&facts).unwrap();
        (out.cure_of_call(), out.said_in_request())
    };
    for (scope, named, call, request) in [
        (
            Scope::Session,
            "session:a",
            "in `session_ref` (`toolplane invoke --session ID`)",
            "`runtime_refs`, as `session:ID`",
        ),
        (
            Scope::PeerAgent,
            "agent:a",
            "in `actor_ref` (`toolplane invoke --actor ID`)",
            "`runtime_refs`, as `agent:ID`",
        ),
        (Scope::Task, "task:a", "in `runtime_refs` (`toolplane invoke --ref task:ID`)", "`runtime_refs`, as `task:ID`"),
    ] {
        let told = cure(scope, named, "", false);
        assert!(told.0.contains(call) && told.1 == request, "{told:?}");
    }
    let told = cure(Scope::PeerAgent, "agent:a", "", true);
    assert!(
        told.0.starts_with("Call with a credential of that agent,") && told.1.contains("actor of the credential"),
        "{told:?}"
    );
    let told = cure(Scope::Role, "x", "operator", false);
    assert!(
        told.0.starts_with("Call with a credential with that role,") && told.1.contains("roles of the credential"),
        "{told:?}"
    );
    let told = cure(Scope::Role, "x", "writer", false);
    assert!(
        told.0.contains("`toolplane invoke --ref role:ID`") && told.1 == "`runtime_refs`, as `role:ID`",
        "{told:?}"
    );
}

#[test]
fn what_a_newer_process_tells_is_held() {
    let told = ScopeRules::told(refs(&["project:a"]), String::new());
    assert!(told.refuses(&said(None, &[])).is_some());
    assert_eq!(told.refuses(&said(None, &["project:a"])), None);
}

#[test]
fn a_slip_in_a_ref_is_told() {
    let told = |scope, text: &str| {
        let slips = slipped_refs(scope, &refs(&["nightly import", text]));
        slips.into_iter().map(|slip| (slip.field, slip.similar)).collect::<Vec<_>>()
    };
    for slip in ["sesion:s1", "SESSION:s1", " session:s1", "session"] {
        let expected = vec![("runtime_refs[1]".to_owned(), refs(&["session"]))];
        assert_eq!(told(Scope::Session, slip), expected, "{slip}");
    }
    for fine in ["session:s1", "run:7", "a note", "agent:x"] {
        assert_eq!(told(Scope::Session, fine), [], "{fine}");
    }
    assert_eq!(told(Scope::Tenant, "sesion:s1"), [], "nobody is held to any");
    for empty in ["", " "] {
        let fault = ScopeRules::read(Scope::Session, &refs(&["run:7", empty]), "").unwrap_err();
        assert_eq!((&*fault.field, &*fault.rule), ("runtime_refs[1]", "must not be empty"));
    }
}
