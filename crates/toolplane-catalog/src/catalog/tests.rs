//! Names and changes: all or nothing, one owner per name, retired identities stay.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::json;
use toolplane_records::ids::ToolId;

use super::*;
use crate::fixtures::{catalog, registration, shell_json, tool, tool_json};
use crate::similar::Effort;
use crate::validate::validate_stored;

fn named(namespace: &str, name: &str, aliases: &[&str]) -> Registration {
    let mut json = tool_json(namespace, name);
    json["declaration"]["aliases"] = json!(aliases);
    registration(&json)
}

fn found<'a>(catalog: &'a Catalog, name: &str) -> Option<&'a str> {
    match catalog.find(name) {
        Lookup::One(entry) => Some(entry.tool.full_name()),
        _ => None,
    }
}

fn stored(registration: &Registration, revision: u64) -> CatalogChange {
    let tool = validate_stored(Arc::new(registration.clone()), None, &CatalogLimits::default()).unwrap();
    let (kind, history) = (ChangeKind::Updated, Arc::default());
    CatalogChange { kind, tool: Arc::new(tool), revision, history, since: Since::default() }
}

/// Registering `new` beside `old` is refused at `field`, naming the other tool.
fn check_collision(old: Registration, new: Registration, field: &str) {
    let holder = old.declaration.tool_id.clone();
    let violations = catalog(std::slice::from_ref(&old)).plan_register(std::slice::from_ref(&new)).unwrap_err();
    let names = |violation: &FieldViolation| violation.description.contains(&format!("leads to the tool `{holder}`"));
    assert!(violations.iter().any(|v| v.field == format!("tools[0].{field}") && names(v)), "{violations:?}");
    // The same in one request.
    let violations = Catalog::default().plan_register(&[old, new]).unwrap_err();
    assert!(violations.iter().any(|v| v.field == format!("tools[1].{field}")), "{violations:?}");
}

#[test]
fn every_name_leads_to_the_tool() {
    let catalog = catalog(&[named("mcp.github", "search_issues", &["find_issue"]), tool("web", "search")]);
    for name in [
        "tool_mcp_github_search_issues",
        "mcp.github.search_issues",
        "mcp__github__search_issues",
        "find_issue",
        "search_issues",
    ] {
        assert_eq!(found(&catalog, name), Some("mcp.github.search_issues"), "{name}");
    }
    assert_eq!(found(&catalog, "search"), Some("web.search"));
    assert!(matches!(catalog.find("Search"), Lookup::Unknown));
}

#[test]
fn shared_bare_names_are_ambiguous_until_one_is_left() {
    let catalog = catalog(&[tool("web", "search"), tool("code", "search")]);
    match catalog.find("search") {
        Lookup::Ambiguous(sharing) => assert_eq!(sharing.entries().count(), 2),
        other => panic!("{other:?}"),
    }
    assert_eq!(found(&catalog, "code.search"), Some("code.search"));
}

#[test]
fn collisions_name_the_field_and_the_other_tool() {
    check_collision(tool("a.b", "c"), named("x", "y", &["a.b.c"]), "declaration.aliases[0]");
    check_collision(named("x", "y", &["z"]), named("p", "q", &["z"]), "declaration.aliases[0]");
    // The same name for providers, by different routes.
    check_collision(tool("a", "b__c"), tool("a__b", "c"), "declaration.name");
    // An alias must not shadow a bare name, nor be shadowed by one.
    check_collision(tool("web", "search"), named("x", "y", &["search"]), "declaration.aliases[0]");
    check_collision(named("x", "y", &["search"]), tool("web", "search"), "declaration.name");
    let mut stolen = tool_json("x", "y");
    stolen["declaration"]["tool_id"] = json!("web.search");
    check_collision(tool("web", "search"), registration(&stolen), "declaration.tool_id");
    let mut same_full_name = tool_json("a", "b.c");
    same_full_name["declaration"]["tool_id"] = json!("other");
    check_collision(tool("a.b", "c"), registration(&same_full_name), "declaration.name");
}

#[test]
fn registering_is_all_or_nothing() {
    let catalog = catalog(&[]);
    let mut wrong = tool("a", "two");
    wrong.declaration.description.clear();
    let violations = catalog.plan_register(&[tool("a", "one"), wrong, tool("a", "one")]).unwrap_err();
    let fields: Vec<&str> = violations.iter().map(|violation| violation.field.as_str()).collect();
    assert_eq!(fields, ["tools[1].declaration.description", "tools[2].declaration.tool_id"]);
}

#[test]
fn changes_say_what_they_do() {
    let mut catalog = Catalog::default();
    let mut kinds = |registration: &Registration| {
        let change = catalog.plan_register(std::slice::from_ref(registration)).unwrap().remove(0);
        let told = (change.kind, change.revision);
        catalog.apply(change);
        told
    };
    let first = tool("a", "one");
    let mut second = first.clone();
    second.declaration.title = "One".to_owned();
    assert_eq!(kinds(&first), (ChangeKind::Created, 1));
    assert_eq!(kinds(&first), (ChangeKind::Unchanged, 1));
    assert_eq!(kinds(&second), (ChangeKind::Updated, 2));
    assert_eq!(kinds(&second), (ChangeKind::Unchanged, 2));
}

#[test]
fn a_renamed_tool_gives_its_name_up() {
    let mut catalog = catalog(&[tool("a", "one")]);
    let mut renamed = tool("a", "one");
    renamed.declaration.name = "uno".to_owned();
    let mut successor = tool("a", "one");
    successor.declaration.tool_id = ToolId::from_trusted("successor");
    for change in catalog.plan_register(&[renamed, successor]).unwrap() {
        catalog.apply(change);
    }
    assert_eq!(found(&catalog, "tool_a_one"), Some("a.uno"));
    assert_eq!(found(&catalog, "a.one"), Some("a.one"));
}

#[test]
fn a_retired_identity_stays_and_stays_taken() {
    let mut catalog = catalog(&[named("a", "one", &["uno"])]);
    let id = ToolId::from_trusted("tool_a_one");
    let change = catalog.plan_retire(&id).unwrap();
    assert_eq!((change.kind, change.revision), (ChangeKind::Retired, 2));
    catalog.apply(change);
    assert_eq!(catalog.get(&id).unwrap().tool.registration().lifecycle(), ToolLifecycle::Retired);
    assert_eq!(found(&catalog, "uno"), Some("a.one"));
    assert_eq!(catalog.plan_retire(&id).unwrap_err(), RetireRefusal::AlreadyRetired);
    assert_eq!(catalog.plan_retire(&ToolId::from_trusted("none")).unwrap_err(), RetireRefusal::Unknown);
    let again = catalog.plan_register(&[named("a", "one", &["uno"])]).unwrap_err();
    assert!(again[0].description.contains("never used again"));
    assert!(catalog.plan_register(&[named("b", "two", &["uno"])]).is_err());
}

#[test]
fn a_tool_whose_names_are_taken_is_not_restored() {
    let stored = |tools| PreparedTools::of(vec![stored(&tools, 7)]);
    let restored = Catalog::default().restored(stored(named("a", "one", &["uno"]))).unwrap();
    assert_eq!(restored.get(&ToolId::from_trusted("tool_a_one")).unwrap().revision, 7);
    let refused = restored.restored(stored(named("b", "two", &["uno"]))).unwrap_err();
    assert_eq!((refused.tool_id.as_str(), refused.faults[0].field.as_str()), ("tool_b_two", "declaration.aliases[0]"));
    let twice = [named("a", "one", &[]), named("a", "one", &[])];
    let twice = PreparedTools::of(twice.iter().map(|tool| super::tests::stored(tool, 1)).collect());
    let refused = Catalog::default().restored(twice).unwrap_err();
    assert_eq!(refused.faults.last().unwrap().description, "`tool_a_one` is here already");
}

fn any_tool() -> impl Strategy<Value = Registration> {
    let word = || prop::sample::select(vec!["a", "b", "c", "a.b", "b.c", "a__b", "b__c"]);
    (word(), word(), prop::collection::btree_set(word(), 0..2), 0..6u32).prop_map(|(namespace, name, aliases, id)| {
        let mut json = tool_json(namespace, name);
        json["declaration"]["tool_id"] = json!(format!("t{id}"));
        json["declaration"]["aliases"] = json!(aliases.into_iter().collect::<Vec<_>>());
        registration(&json)
    })
}

/// Every name with all the tools that claim it alone, and every bare name with all that have it.
fn claims(
    tools: &BTreeMap<ToolId, Registration>,
) -> (BTreeMap<String, BTreeSet<ToolId>>, BTreeMap<String, BTreeSet<ToolId>>) {
    let (mut own, mut bare) = (BTreeMap::<_, BTreeSet<_>>::new(), BTreeMap::<_, BTreeSet<_>>::new());
    for (id, tool) in tools {
        let declaration = &tool.declaration;
        let mut names = vec![id.to_string(), declaration.full_name(), declaration.full_name().replace('.', "__")];
        names.extend(declaration.aliases.clone());
        for name in names {
            own.entry(name).or_default().insert(id.clone());
        }
        bare.entry(declaration.name.clone()).or_default().insert(id.clone());
    }
    (own, bare)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_catalog_that_is_restored_by_pages_is_the_same(tools in prop::collection::vec(any_tool(), 1..20), page in 1_usize..6) {
        let mut catalog = Catalog::default();
        for tool in tools {
            if let Ok(changes) = catalog.plan_register(&[tool]) {
                changes.into_iter().for_each(|change| catalog.apply(change));
            }
        }
        let stored: Vec<CatalogChange> = catalog.entries().cloned().map(|entry| {
            let CatalogEntry { tool, revision, history, since, traits: _ } = entry;
            CatalogChange { kind: ChangeKind::Updated, tool, revision, history, since }
        }).collect();
        let pages = stored.chunks(page).map(|page| PreparedTools::of(page.to_vec()));
        let restored = pages.fold(Catalog::default(), |catalog, page| catalog.restored(page).unwrap());
        prop_assert_eq!(restored.revision(), catalog.revision());
        let known = |catalog: &Catalog| -> Vec<_> {
            let of = |entry: &CatalogEntry| (entry.tool_id().clone(), entry.revision, entry.tool.digest(), Arc::clone(&entry.traits));
            catalog.entries().map(of).collect()
        };
        prop_assert_eq!(known(&restored), known(&catalog));
        prop_assert_eq!(restored.index().content(), catalog.index().content());
        let names = catalog.entries().flat_map(|entry| own_names(entry.tool.registration()));
        for name in names.map(|(name, _)| name).chain(["a", "b", "c", "a.b"].map(str::to_owned)) {
            prop_assert_eq!(found(&restored, &name), found(&catalog, &name));
            let similar = |catalog: &Catalog| {
                let mut similar = catalog.similar().similar(&format!("{name}x"), &mut Effort::of_one_request(), |_| true);
                similar.sort();
                similar
            };
            // Of equally near ones those that came first are told.
            if catalog.len() <= 3 {
                prop_assert_eq!(similar(&restored), similar(&catalog));
            }
        }
    }

    #[test]
    fn what_is_accepted_never_has_two_owners(tools in prop::collection::vec(any_tool(), 1..10)) {
        let mut catalog = Catalog::default();
        let mut accepted = BTreeMap::new();
        for tool in tools {
            let mut would_be = accepted.clone();
            would_be.insert(tool.declaration.tool_id.clone(), tool.clone());
            let (own, bare) = claims(&would_be);
            let clean = own.iter().all(|(name, owners)| {
                let sharing = bare.get(name).into_iter().flatten();
                owners.iter().chain(sharing).collect::<BTreeSet<_>>().len() == 1
            });
            match catalog.plan_register(std::slice::from_ref(&tool)) {
                Ok(changes) => {
                    prop_assert!(clean, "accepted a collision: {:?}", tool.declaration);
                    changes.into_iter().for_each(|change| catalog.apply(change));
                    accepted = would_be;
                }
                Err(violations) => prop_assert!(!clean, "refused without a collision: {:?}", violations),
            }
        }
        let (own, _) = claims(&accepted);
        for (name, owners) in own {
            match catalog.find(&name) {
                Lookup::One(entry) => prop_assert!(owners.contains(entry.tool_id())),
                other => prop_assert!(false, "{} leads to {:?}", name, other),
            }
        }
    }
}

#[test]
fn a_declared_name_that_holds_its_namespace_has_a_bare_name_too() {
    let mut catalog = catalog(&[registration(&shell_json())]);
    assert_eq!(found(&catalog, "exec"), Some("local.shell.exec"));
    // Where another tool is called so, it is meant; and nobody is kept from that name.
    let other = catalog.plan_register(&[tool("remote", "exec")]).unwrap();
    other.into_iter().for_each(|change| catalog.apply(change));
    assert_eq!(found(&catalog, "exec"), Some("remote.exec"));
    assert_eq!(found(&catalog, "shell.exec"), Some("local.shell.exec"));
}
