//! What a name means to who goes by a moment: nothing that changed unseen is called.

use proptest::prelude::*;

use super::live::{any_request, any_tool, apply, retire};
use super::watching::{Event, after, any_event};
use super::*;

fn at(surface: &IndexedSurface, catalog: &Catalog, name: &str, moment: Moment) -> String {
    by(surface, catalog, name, moment, None)
}

/// What the name means, in words.
fn by(surface: &IndexedSurface, catalog: &Catalog, name: &str, moment: Moment, known: Option<&Digest>) -> String {
    let resolution = match resolve_at(surface, catalog, name, moment, known) {
        Err(wrong) => return format!("{wrong:?}"),
        Ok(Meant::Renamed(entry)) => return format!("renamed {}", entry.tool.full_name()),
        Ok(Meant::Later { entry, loaded }) => return format!("later {} {loaded}", entry.tool.full_name()),
        Ok(Meant::Now(resolution)) => resolution,
    };
    match resolution {
        Resolution::Callable(entry) => format!("callable {}", entry.tool.full_name()),
        Resolution::Changed(entry, drift) => {
            format!("changed {}: {}", entry.tool.full_name(), drift.words().unwrap_or_default())
        }
        Resolution::NotLoaded(tool) => format!("deferred {}", tool.name),
        Resolution::Blocked(tool) | Resolution::Excluded(tool) => format!("hidden {} {}", tool.name, tool.reason),
        Resolution::Unknown => "unknown".to_owned(),
    }
}

fn taking(name: &str, field: &str) -> Registration {
    with_schema(name, json!({ "type": "object", "properties": { field: { "type": "string" } } }))
}

fn called(id: &str, name: &str) -> Registration {
    let mut tool = tool("a", name);
    tool.declaration.tool_id = ToolId::from_trusted(id);
    tool
}

#[test]
fn a_schema_of_then_is_the_one_a_call_is_made_for() {
    let mut catalog = catalog(&[taking("one", "x"), tool("a", "two")]);
    let surface = make(&catalog, &request()).indexed;
    let then = surface.moment(&catalog);
    let mut told = taking("one", "x");
    told.declaration.description = "in other words".to_owned();
    register(&mut catalog, told);
    assert_eq!(at(&surface, &catalog, "one", then), "callable a.one", "a description is no schema");
    register(&mut catalog, taking("one", "y"));
    let fresh = super::super::load(&surface, &catalog, &strings(&["one"]), Timestamp::from_millis(5), &COUNTING);
    let surface = surface.after_loading(&fresh);
    assert!(matches!(super::super::resolve(&surface, &catalog, "one", None), Resolution::Callable(_)));
    let refused = at(&surface, &catalog, "one", then);
    assert!(refused.starts_with("changed a.one: ") && refused.contains("`/x` is gone"), "{refused}");
    assert_eq!(at(&surface, &catalog, "one", surface.moment(&catalog)), "callable a.one");
    // Who says the declaration, too, is known by that.
    let now = catalog.get(&ToolId::from_trusted("tool_a_one")).unwrap().tool.digest();
    assert_eq!(by(&surface, &catalog, "one", then, Some(&now)), "callable a.one");
    assert_eq!(at(&surface, &catalog, "two", then), "callable a.two", "what did not change");
    // Too long ago to be known is not taken for unchanged, unless the declaration is named.
    for field in 0..40 {
        register(&mut catalog, taking("two", &format!("f{field}")));
    }
    assert!(at(&surface, &catalog, "two", then).contains("no longer stored"));
}

#[test]
fn what_came_later_what_went_and_what_is_called_otherwise_is_told() {
    let mut catalog = catalog(&[called("t1", "one"), called("t2", "two"), called("t3", "three"), called("t4", "four")]);
    let surface = make(&catalog, &request()).indexed;
    let then = surface.moment(&catalog);
    // The name of one tool goes to another one, which was there before or not.
    register(&mut catalog, called("t1", "uno"));
    register(&mut catalog, called("t2", "one"));
    register(&mut catalog, called("t5", "two"));
    retire(&mut catalog, "t3");
    register(&mut catalog, called("t6", "new"));
    let gone = super::super::unload(&surface, &catalog, &strings(&["four"]));
    let surface = surface.after_unloading(&catalog, &gone);
    let now = surface.moment(&catalog);
    for (name, of_then, of_now) in [
        ("a.one", "renamed a.uno", "callable a.one"),
        ("a__one", "renamed a.uno", "callable a.one"),
        ("one", "renamed a.uno", "callable a.one"),
        ("a.two", "renamed a.one", "deferred a.two"),
        ("t2", "callable a.one", "callable a.one"),
        ("a.uno", "callable a.uno", "callable a.uno"),
        ("a.three", "hidden a.three retired", "hidden a.three retired"),
        ("a.four", "deferred a.four", "deferred a.four"),
        ("a.new", "later a.new false", "deferred a.new"),
        ("t5", "later a.two false", "deferred a.two"),
        ("a.nothing", "unknown", "unknown"),
    ] {
        assert_eq!(at(&surface, &catalog, name, then), of_then, "{name} then");
        assert_eq!(at(&surface, &catalog, name, now), of_now, "{name} now");
    }
    let fresh = super::super::load(&surface, &catalog, &strings(&["a.new"]), Timestamp::from_millis(5), &COUNTING);
    let surface = surface.after_loading(&fresh);
    assert_eq!(at(&surface, &catalog, "a.new", then), "later a.new true");
    // What was deferred has no schema to be known by: it is what it was loaded as.
    assert_eq!(at(&surface, &catalog, "a.new", now), "callable a.new");
}

#[test]
fn a_bare_name_means_the_tool_that_had_it_alone() {
    let mut catalog = catalog(&[tool("a", "read")]);
    let surface = make(&catalog, &request()).indexed;
    let then = surface.moment(&catalog);
    register(&mut catalog, tool("b", "read"));
    assert_eq!(at(&surface, &catalog, "read", then), "callable a.read");
    assert_eq!(at(&surface, &catalog, "read", surface.moment(&catalog)), "unknown");
}

#[test]
fn a_moment_is_one_of_its_surface() {
    let mut catalog = catalog(&[tool("a", "one"), tool("a", "two")]);
    register(&mut catalog, taking("two", "x"));
    let surface = make(&catalog, &request()).indexed;
    let now = surface.moment(&catalog);
    let all = LiveSurface::make(&catalog, &request(), SurfaceId::default_surface(), Timestamp::from_millis(1));
    let default = IndexedSurface::from(all.unwrap().newest());
    let moment = |text: &str| text.parse::<Moment>().unwrap();
    assert_eq!((now, default.moment(&catalog)), (moment("1.3"), moment("0.3")));
    for (text, own, of_default) in [
        ("1.3", "callable a.one", "Ahead"),
        ("0.3", "Foreign", "callable a.one"),
        ("1.4", "Ahead", "Ahead"),
        ("2.3", "Ahead", "Ahead"),
        ("1.2", "Foreign", "Ahead"),
        ("0.2", "Foreign", "callable a.one"),
    ] {
        assert_eq!(at(&surface, &catalog, "one", moment(text)), own, "{text}");
        assert_eq!(at(&default, &catalog, "one", moment(text)), of_default, "{text}");
    }
    assert!(at(&default, &catalog, "two", moment("0.2")).contains("it takes arguments now"));
    assert_eq!(at(&default, &catalog, "two", default.moment(&catalog)), "callable a.two");
}

/// What somebody saw of a surface at a moment: by tool, its name and, where it was loaded, the schema it was loaded by.
type Seen = Vec<(ToolId, String, Option<Value>)>;

fn seen(surface: &IndexedSurface, catalog: &Catalog) -> Seen {
    let shown = catalog.entries().filter_map(|entry| {
        let name = entry.tool.full_name().to_owned();
        match super::super::resolve(surface, catalog, entry.tool_id().as_str(), None) {
            Resolution::Callable(_) => Some((entry.tool_id().clone(), name, Some(schema(entry)))),
            // What is to be loaded again was loaded by a schema that nobody looks at here.
            Resolution::NotLoaded(_) | Resolution::Changed(..) => Some((entry.tool_id().clone(), name, None)),
            _ => None,
        }
    });
    shown.collect()
}

fn schema(entry: &crate::catalog::CatalogEntry) -> Value {
    entry.tool.registration().model_schema().map_or(Value::Null, |schema| schema.to_value())
}

/// Tools that take another argument now and then, and have another name.
fn any_change() -> impl Strategy<Value = Event> {
    let renamed = (any_tool(), 0..3u32, 0..3u32).prop_map(|(mut tool, name, field)| {
        tool.declaration.name = format!("n{name}");
        let taking = taking("t", &format!("f{field}"));
        tool.declaration.input_contract = taking.declaration.input_contract;
        Event::Registered(Box::new(tool))
    });
    prop_oneof![3 => renamed, 2 => any_event()]
}

proptest! {
    /// Whatever changed since: what is called by a moment is the very tool that was shown by that name then, and takes what it took; and
    /// what is what it was is called.
    #[test]
    fn nothing_is_called_that_was_another_thing(
        before in prop::collection::vec(any_change(), 0..8),
        request in any_request(),
        events in prop::collection::vec(any_change(), 0..24),
    ) {
        let mut catalog = catalog(&[]);
        let tools = before.into_iter().filter_map(|event| match event {
            Event::Registered(tool) => Some(*tool),
            _ => None,
        });
        apply(&mut catalog, &tools.collect::<Vec<_>>());
        let mut surface = Arc::new(make(&catalog, &request).indexed);
        let mut moments = vec![(surface.moment(&catalog), seen(&surface, &catalog))];
        for event in &events {
            surface = after(event, &surface, &mut catalog);
            moments.push((surface.moment(&catalog), seen(&surface, &catalog)));
        }
        for (moment, seen) in &moments {
            for (id, name, loaded) in seen {
                let called = match resolve_at(&surface, &catalog, name, *moment, None).unwrap() {
                    Meant::Now(Resolution::Callable(entry)) => Some(entry),
                    _ => None,
                };
                if let Some(entry) = called {
                    prop_assert_eq!(entry.tool_id(), id);
                    prop_assert!(loaded.is_none() || loaded.as_ref() == Some(&schema(entry)));
                }
                let now = catalog.get(id).unwrap();
                let same = now.tool.full_name() == name && loaded.as_ref() == Some(&schema(now));
                let loaded_now =
                    matches!(super::super::resolve(&surface, &catalog, id.as_str(), None), Resolution::Callable(_));
                if same && loaded_now {
                    prop_assert!(called.is_some(), "{} at {}", name, moment);
                }
            }
            // What was not shown then is not called.
            for entry in catalog.entries() {
                let id = entry.tool_id();
                if !seen.iter().any(|(then, ..)| then == id) {
                    let meant = resolve_at(&surface, &catalog, id.as_str(), *moment, None).unwrap();
                    prop_assert!(!matches!(meant, Meant::Now(Resolution::Callable(_))), "{} at {}", id, moment);
                }
            }
        }
    }
}
