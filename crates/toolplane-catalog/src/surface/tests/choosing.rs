//! What a surface says about choosing, read and held.

use proptest::prelude::*;
use toolplane_matching::fit::Fit;
use toolplane_matching::tools::ToolPattern;
use toolplane_records::payload::JsonPayload;
use toolplane_records::vocabulary::Behavior;

use super::*;

fn read(choice: Value, policy: Value) -> Result<Choosing, String> {
    let given = |value: Value| (!value.is_null()).then(|| JsonPayload::of(&value));
    let read = Choosing::read(given(choice.clone()).as_ref(), given(policy.clone()).as_ref());
    if read.is_err() {
        assert!(
            Choosing::stored(given(choice).as_ref(), given(policy).as_ref()).is_silent(),
            "stored, it holds nothing"
        );
    }
    read.map_err(|fault| format!("{} {}", fault.field, fault.rule))
}

/// What is said of a call of the tool `namespace.name`.
fn refused(choosing: &Choosing, namespace: &str, name: &str, by_moment: bool) -> Option<NotChosen> {
    choosing.refuses(&tool(namespace, name).tool_facts(), None, by_moment)
}

#[test]
fn a_choice_is_held_at_each_call() {
    let none = || Value::Null;
    for (choice, one, other) in [
        (json!("auto"), None, None),
        (json!("required"), None, None),
        (json!("none"), Some(NotChosen::NoCalls), Some(NotChosen::NoCalls)),
        (json!("a.one"), None, Some(NotChosen::OnlyOther("a.one".to_owned()))),
        (json!({ "tool": "tool_a_one" }), None, Some(NotChosen::OnlyOther("tool_a_one".to_owned()))),
    ] {
        let choosing = read(choice.clone(), none()).unwrap();
        assert_eq!(refused(&choosing, "a", "one", false), one, "{choice}");
        assert_eq!(refused(&choosing, "a", "other", false), other, "{choice}");
    }
    for wrong in
        [json!(1), json!(["auto"]), json!({}), json!({ "tool": 1 }), json!({ "tool": "a", "x": 1 }), json!(" ")]
    {
        let fault = read(wrong.clone(), none()).unwrap_err();
        assert!(fault.starts_with("default_tool_choice must be `auto`"), "{wrong}: {fault}");
    }
}

#[test]
fn choices_by_which_nothing_is_called_are_told() {
    let catalog = catalog(&[tool("a", "one"), tool("a", "two"), tool("b", "one")]);
    let told = |choice: Value, policy: Value| {
        let given = |value: Value| (!value.is_null()).then(|| JsonPayload::of(&value));
        let request = SurfaceRequest {
            namespaces: strings(&["a"]),
            default_tool_choice: given(choice),
            selection_policy: given(policy),
            ..request()
        };
        let told = make(&catalog, &request).indexed.idle_choices(&catalog, Shut::NOTHING);
        told.into_iter().map(|one| format!("{}: {}", one.field, one.message)).collect::<Vec<_>>()
    };
    let none: [&str; 0] = [];
    assert_eq!(told(Value::Null, Value::Null), none);
    assert_eq!(told(json!("none"), json!({ "allowed_tools": ["b.*"] })), none, "it is said that nothing is called");
    assert_eq!(told(json!("a.one"), json!({ "denied_tools": ["a.two"], "require_moment": true })), none);
    assert_eq!(told(Value::Null, json!({ "allowed_tools": ["a.*"], "denied_tools": ["a.two"] })), none);
    assert_eq!(
        told(Value::Null, json!({ "allowed_tools": ["a.one"], "denied_tools": ["a.one"] })),
        ["selection_policy: lets no tool of this surface be called now"]
    );
    assert_eq!(
        told(Value::Null, json!({ "allowed_tools": ["a.one", "b.one"], "denied_tools": ["c.*"] })),
        [
            "selection_policy.allowed_tools[1]: no tool of this surface fits `b.one` now",
            "selection_policy.denied_tools[0]: no tool of this surface fits `c.*` now",
        ]
    );
    assert_eq!(
        told(json!("a.one"), json!({ "denied_tools": ["a.*"] })),
        [
            "default_tool_choice: nothing can be called: `a.one` is denied by `a.*` in `selection_policy.denied_tools` of this surface"
        ]
    );
    assert_eq!(
        told(json!("b.one"), Value::Null),
        ["default_tool_choice: `b.one` is the only tool to be called, and this surface does not show it now"]
    );
}

#[test]
fn of_more_tools_than_are_looked_at_nothing_is_said() {
    let many: Vec<Registration> = (0..2_100).map(|n| tool("a", &format!("t{n}"))).collect();
    let catalog = catalog(&many);
    let told = |patterns: usize| {
        let denied: Vec<String> = (0..patterns).map(|n| format!("b.t{n}")).collect();
        let policy = Some(JsonPayload::of(&json!({ "denied_tools": denied })));
        make(&catalog, &SurfaceRequest { selection_policy: policy, ..request() })
            .indexed
            .idle_choices(&catalog, Shut::NOTHING)
            .len()
    };
    assert_eq!((told(2), told(100)), (2, 0));
}

#[test]
fn a_policy_is_read_whole_or_refused() {
    let policy =
        json!({ "allowed_tools": ["a.*"], "denied_tools": ["a.two"], "parallel_calls": false, "require_moment": true });
    let choosing = read(Value::Null, policy).unwrap();
    assert!(choosing.rules.one_at_a_time && !choosing.is_silent());
    assert_eq!(refused(&choosing, "a", "one", true), None);
    assert_eq!(refused(&choosing, "a", "one", false), Some(NotChosen::NoMoment));
    assert_eq!(refused(&choosing, "a", "two", true), Some(NotChosen::Denied("a.two".to_owned())));
    assert_eq!(refused(&choosing, "b", "one", true), Some(NotChosen::NotAllowed));
    assert!(read(Value::Null, json!({ "parallel_calls": true, "require_moment": false })).unwrap().is_silent());
    for (wrong, field, rule) in [
        (json!({ "max_calls": 3 }), "selection_policy.max_calls", "`denied_tools`"),
        (json!({ "allowed_tools": [] }), "selection_policy.allowed_tools", "1 to 100"),
        (json!({ "allowed_tools": "a.*" }), "selection_policy.allowed_tools", "list"),
        (json!({ "allowed_tools": ["a.*", 1] }), "selection_policy.allowed_tools", "list"),
        (json!({ "denied_tools": ["a.one", "Bsh"] }), "selection_policy.denied_tools[1]", "`Bash`"),
        (json!({ "denied_tools": ["Bash(git:*)"] }), "selection_policy.denied_tools[0]", ""),
        (json!({ "parallel_calls": "no" }), "selection_policy.parallel_calls", "true or false"),
        (json!([]), "selection_policy", "object"),
    ] {
        let fault = read(Value::Null, wrong.clone()).unwrap_err();
        assert!(fault.starts_with(field) && fault.contains(rule), "{wrong}: {fault}");
    }
}

/// A surface that is made for one tool alone goes on to mean that tool, whatever it is called.
#[test]
fn the_tool_that_is_chosen_keeps_its_place() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "two")]);
    let choice = Some(JsonPayload::of(&json!("one")));
    let surface = make(&catalog, &SurfaceRequest { default_tool_choice: choice, ..request() });
    let mut renamed = tool("a", "uno");
    renamed.declaration.tool_id = ToolId::from_trusted("tool_a_one");
    register(&mut catalog, renamed);
    let refused = |id: &str| {
        let entry = catalog.get(&ToolId::from_trusted(id)).unwrap();
        surface.indexed.not_chosen(entry, false).map(|(why, above)| {
            assert_eq!(above, None, "it says so itself");
            why
        })
    };
    assert_eq!(refused("tool_a_one"), None);
    assert_eq!(refused("tool_a_two"), Some(NotChosen::OnlyOther("one".to_owned())));
    let wrong = SurfaceRequest { default_tool_choice: Some(JsonPayload::of(&json!("nothing"))), ..request() };
    let made = LiveSurface::make(&catalog, &wrong, SurfaceId::from_trusted("s1"), Timestamp::from_millis(1));
    let violations = made.unwrap_err().violations(catalog.similar());
    assert_eq!(violations[0].field, "default_tool_choice");
}

proptest! {
    /// A call is let through where an allowed pattern surely fits and no denied one may, and nowhere else.
    #[test]
    fn patterns_agree_with_their_own_reading(
        allowed in prop::collection::vec(prop::sample::select(vec!["*", "a.*", "a.one", "namespace:b", "one", "Bash"]), 0..3),
        denied in prop::collection::vec(prop::sample::select(vec!["a.two", "b.*", "two", "Read", "tool_a_one"]), 0..3),
        space in prop::sample::select(vec!["a", "b", "b.c"]),
        name in prop::sample::select(vec!["one", "two"]),
    ) {
        let mut policy = json!({});
        let lists = [("allowed_tools", &allowed), ("denied_tools", &denied)];
        lists.into_iter().filter(|(_, list)| !list.is_empty()).for_each(|(member, list)| policy[member] = json!(list));
        let choosing = read(Value::Null, policy).unwrap();
        let facts = tool(space, name).tool_facts();
        let fit = |text: &&str, behavior| text.parse::<ToolPattern>().unwrap().fit(behavior, &facts);
        let passes = (allowed.is_empty() || allowed.iter().any(|text| fit(text, Behavior::Allow) == Fit::Yes))
            && denied.iter().all(|text| fit(text, Behavior::Deny) == Fit::No);
        prop_assert_eq!(refused(&choosing, space, name, false).is_none(), passes);
    }
}
