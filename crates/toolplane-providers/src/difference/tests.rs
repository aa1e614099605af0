use proptest::prelude::*;
use toolplane_records::vocabulary::ProviderTrust;

use super::*;
use crate::fixtures::{at, listed, of_provider, provider, registration, with_schema};
use crate::known::KnownTool;
use crate::listing::{Found, Limits};
use crate::names::ToolNames;
use crate::review::{Standing, standing};

/// A provider that nobody trusts, what is known of it, and what it says.
struct World {
    provider: Provider,
    known: Known,
    clock: i64,
}

impl World {
    fn new(trust: ProviderTrust) -> Self {
        Self { provider: provider("gh", trust), known: Known::default(), clock: 0 }
    }

    fn listing(&self, tools: Vec<Found>) -> Listing {
        Listing::of(&self.provider, tools, &self.known, &Limits::default())
    }

    /// What has changed; nothing is taken in.
    fn look(&self, tools: Vec<Found>) -> Difference {
        difference(&self.known, &self.listing(tools))
    }

    /// What has changed; it is taken in.
    fn take(&mut self, tools: Vec<Found>) -> Difference {
        self.clock += 1;
        let listing = self.listing(tools);
        let found = difference(&self.known, &listing);
        let records = found.records(&self.provider, &self.known, at(self.clock));
        let of = |tool_id: &ToolId| listing.definition(tool_id).map(|definition| Arc::clone(&definition.registration));
        self.known.take_in(records, of);
        found
    }

    fn state(&self, native: &str) -> ReviewState {
        self.record(native).state
    }

    fn record(&self, native: &str) -> &ProvidedTool {
        self.known.get(&id(native)).and_then(|tool| tool.record.read()).unwrap()
    }
}

fn id(native: &str) -> ToolId {
    ToolNames::of(&toolplane_records::ids::ProviderId::from_trusted("gh"), native).unwrap().tool_id
}

/// Added, changed, unchanged, withdrawn, refused.
fn sizes(found: &Difference) -> [usize; 5] {
    [found.added.len(), found.changed.len(), found.unchanged.len(), found.withdrawn.len(), found.refused.len()]
}

fn codes(found: &Difference) -> Vec<(String, RefusalCode)> {
    found.refused.iter().map(|one| (one.native_id.clone(), one.refusal.code)).collect()
}

#[test]
fn every_tool_is_in_one_list() {
    let mut world = World::new(ProviderTrust::AllTools);
    assert_eq!(sizes(&world.take(vec![listed("a", "1"), listed("b", "1"), listed("c", "1")])), [3, 0, 0, 0, 0]);
    let next = || vec![listed("d", "1"), listed("a", "1"), listed("b", "2"), listed("bad", "")];
    let found = world.take(next());
    assert_eq!(sizes(&found), [1, 1, 1, 1, 1]);
    assert_eq!(found.changed[0].words().unwrap().told[0].after, "2");
    assert_eq!(codes(&found), [("bad".to_owned(), RefusalCode::InvalidDefinition)]);
    assert_eq!(world.state("c"), ReviewState::Withdrawn);
    // Once more, nothing is new but what is refused each time.
    let again = world.take(next());
    assert_eq!(sizes(&again), [0, 0, 3, 0, 1]);
    assert!(again.records(&world.provider, &world.known, at(99)).is_empty());
    assert_eq!(again.list_digest, found.list_digest);
    let back = world.take(vec![listed("c", "1")]);
    assert!(back.added[0].came_back && back.withdrawn.len() == 4);
}

#[test]
fn a_provider_that_has_nothing_any_more_is_pointed_out() {
    let mut world = World::new(ProviderTrust::NewTools);
    assert!(!world.look(Vec::new()).empties(), "it never had any");
    world.take(vec![listed("a", "1")]);
    assert!(world.look(Vec::new()).empties());
    // A list that is not whole takes nothing away.
    let part = difference(&world.known, &world.listing(Vec::new()).in_part());
    assert!(part.is_empty());
}

#[test]
fn one_bad_tool_never_loses_the_rest() {
    let mut world = World::new(ProviderTrust::AllTools);
    let unsupported = ToolRefusal { code: RefusalCode::Unsupported, reason: "uses callbacks".to_owned() };
    let mut elsewhere = registration("elsewhere", "1");
    elsewhere.declaration.namespace = "shell".to_owned();
    let mut alias = registration("alias", "1");
    alias.declaration.aliases = vec!["shell.exec".to_owned()];
    let mut retired = registration("retired", "1");
    retired.declaration.lifecycle = toolplane_records::vocabulary::ToolLifecycle::Retired;
    let made = |native: &str, made| Found { native_id: native.to_owned(), made };
    let found = world.take(vec![
        listed("good", "1"),
        made("unsupported", Err(unsupported)),
        made("elsewhere", Ok(elsewhere)),
        made("alias", Ok(alias)),
        made("retired", Ok(retired)),
        made("copied", Ok(of_provider("other", "copied", "1"))),
        made("schema", Ok(with_schema("schema", r#"{"type":"object","properties":{"a":{"type":"nonsense"}}}"#))),
        made("", Ok(registration("x", "1"))),
    ]);
    let expected = [
        ("alias", RefusalCode::WrongIdentity),
        ("copied", RefusalCode::WrongIdentity),
        ("elsewhere", RefusalCode::WrongIdentity),
        ("retired", RefusalCode::WrongIdentity),
        ("schema", RefusalCode::InvalidDefinition),
        ("unsupported", RefusalCode::Unsupported),
        ("", RefusalCode::InvalidName),
    ];
    assert_eq!(codes(&found), expected.map(|(native, code)| (native.to_owned(), code)));
    assert_eq!((found.added.len(), world.state("good")), (1, ReviewState::Approved));
    assert_eq!(world.record("unsupported").refusal.as_ref().unwrap().reason, "uses callbacks");
}

#[test]
fn what_is_listed_twice_is_one_or_none() {
    let mut world = World::new(ProviderTrust::AllTools);
    let found = world.take(vec![listed("same", "1"), listed("two", "1"), listed("same", "1"), listed("two", "2")]);
    assert_eq!(sizes(&found), [1, 0, 0, 0, 1]);
    assert_eq!(codes(&found), [("two".to_owned(), RefusalCode::ListedTwice)]);
    // A tool that was approved is called no more while its provider says two things of it.
    world.take(vec![listed("same", "1"), listed("same", "2")]);
    assert_eq!(world.state("same"), ReviewState::Refused);
}

#[test]
fn names_are_never_shared() {
    let shared = || vec![listed("a.b", "1"), listed("a__b", "1"), listed("gh.x", "1"), listed("x", "1")];
    let mut world = World::new(ProviderTrust::NewTools);
    // Nobody was there before: nobody gets the name.
    assert_eq!(codes(&world.take(shared())).len(), 4);
    let mut world = World::new(ProviderTrust::NewTools);
    world.take(vec![listed("a.b", "1"), listed("x", "1")]);
    let found = world.take(shared());
    let lost: Vec<_> = codes(&found).into_iter().map(|(native, _)| native).collect();
    assert_eq!((lost, found.unchanged.len()), (vec!["a__b".to_owned(), "gh.x".to_owned()], 2));
    assert!(found.refused[0].refusal.reason.contains("`a.b`"), "{}", found.refused[0].refusal.reason);
}

#[test]
fn a_flood_of_tools_costs_those_that_were_there_nothing() {
    let mut world = World::new(ProviderTrust::NewTools);
    world.take(vec![listed("zz", "1")]);
    let many = (0..20).map(|n| listed(&format!("a{n:02}"), "1")).chain([listed("zz", "1")]).collect();
    let limits = Limits { max_tools: 5, ..Limits::default() };
    let listing = Listing::of(&world.provider, many, &world.known, &limits);
    let found = difference(&world.known, &listing);
    assert_eq!(sizes(&found), [4, 0, 1, 0, 16]);
    assert_eq!(found.records(&world.provider, &world.known, at(9)).len(), 4, "what is too many is not remembered");
}

#[test]
fn a_record_that_cannot_be_read_counts_as_changed() {
    let mut world = World::new(ProviderTrust::NewTools);
    world.known.put(id("a"), KnownTool { record: Record::Unreadable, approved: None });
    world.known.put(id("gone"), KnownTool { record: Record::Unreadable, approved: None });
    let found = world.take(vec![listed("a", "1")]);
    assert!(found.changed[0].was_unreadable && found.changed[0].words().is_none());
    assert_eq!((world.state("a"), world.state("gone")), (ReviewState::Changed, ReviewState::Withdrawn));
    assert_eq!(world.record("a").notes, ["what was known of it could not be read"]);
}

#[test]
fn another_spelling_is_no_change() {
    let spelled = |schema: &str| vec![Found { native_id: "a".to_owned(), made: Ok(with_schema("a", schema)) }];
    let mut world = World::new(ProviderTrust::NewTools);
    world.take(spelled(r#"{"type":"object","properties":{"n":{"minimum":1.0}}}"#));
    let found = world.take(spelled(r#"{ "properties":{"n":{"minimum":1}}, "type":"object" }"#));
    assert_eq!(sizes(&found), [0, 0, 1, 0, 0]);
}

/// Says how long each step takes; that is not asserted, because machines differ. Digests are made up: making real ones is the work of
/// [`Listing::of`].
#[test]
fn ten_thousand_tools() {
    let (provider, registration) = (provider("gh", ProviderTrust::NewTools), Arc::new(registration("t", "1")));
    let listing = |salt: &str| {
        let one = |n: u32| {
            let (native_id, registration) = (format!("tool_{n}"), Arc::clone(&registration));
            let digest = Digest::of(format!("{n} {salt}").as_bytes());
            (id(&native_id), Listed { native_id, outcome: Ok(Definition { registration, digest }) })
        };
        Listing { tools: (0..10_000).map(one).collect(), is_complete: true, ..Listing::default() }
    };
    let timed = |what: &str, known: &Known, listing: &Listing| {
        let start = std::time::Instant::now();
        let found = difference(known, listing);
        let (compared, start) = (start.elapsed(), std::time::Instant::now());
        let records = found.records(&provider, known, at(1));
        println!("{what}: compared {compared:?}, {} records {:?}", records.len(), start.elapsed());
        (sizes(&found), records)
    };
    let mut known = Known::default();
    let (first, second) = (listing("1"), listing("2"));
    let (added, records) = timed("new", &known, &first);
    known.take_in(records, |_| Some(Arc::clone(&registration)));
    assert_eq!(added, [10_000, 0, 0, 0, 0]);
    assert_eq!(timed("unchanged", &known, &first), ([0, 0, 10_000, 0, 0], Vec::new()));
    let (changed, records) = timed("changed", &known, &second);
    assert_eq!((changed, records.len()), ([0, 10_000, 0, 0, 0], 10_000));
    let nothing = Listing { is_complete: true, ..Listing::default() };
    assert_eq!(timed("withdrawn", &known, &nothing).0, [0, 0, 0, 10_000, 0]);
}

fn lists() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0..6u8, 0..4u8), 0..12)
}

fn made(tools: &[(u8, u8)]) -> Vec<Found> {
    let one = |(tool, what): &(u8, u8)| match what {
        3 => listed(&format!("t{tool}"), ""),
        _ => listed(&format!("t{tool}"), &format!("{what}")),
    };
    tools.iter().map(one).collect()
}

proptest! {
    /// However it is ordered and repeated, the same list is the same difference; and no tool is in two lists.
    #[test]
    fn order_means_nothing(before in lists(), now in lists(), seed in any::<u64>()) {
        let mut world = World::new(ProviderTrust::NewTools);
        world.take(made(&before));
        let mut shuffled: Vec<(u8, u8)> = now.iter().chain(&now).copied().collect();
        let length = shuffled.len();
        (0..length).for_each(|at| shuffled.swap(at, seed.wrapping_mul(at as u64 + 7) as usize % length));
        let (one, other) = (world.look(made(&now)), world.look(made(&shuffled)));
        let records = |found: &Difference| found.records(&world.provider, &world.known, at(9));
        prop_assert_eq!(records(&one), records(&other));
        prop_assert_eq!((sizes(&one), &one.refused, one.list_digest), (sizes(&other), &other.refused, other.list_digest));
        let mut ids: Vec<ToolId> = one.added.iter().map(|one| one.tool_id.clone()).collect();
        ids.extend(one.changed.iter().map(|one| one.tool_id.clone()));
        ids.extend(one.unchanged.iter().chain(&one.withdrawn).cloned());
        ids.extend(one.refused.iter().filter_map(|one| one.tool_id.clone()));
        let all = ids.len();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), all, "in two lists");
    }

    /// A second look at the same changes nothing, and what a list does not hold may not be called.
    #[test]
    fn what_is_taken_in_is_known(lists in prop::collection::vec(lists(), 1..5)) {
        let mut world = World::new(ProviderTrust::AllTools);
        for list in &lists {
            world.take(made(list));
            let again = world.look(made(list));
            prop_assert_eq!((again.added.len(), again.changed.len(), again.withdrawn.len()), (0, 0, 0));
            prop_assert_eq!(again.records(&world.provider, &world.known, at(99)).len(), 0);
        }
        let last = world.listing(made(lists.last().unwrap()));
        for (tool_id, tool) in world.known.iter() {
            let now = last.definition(tool_id).map(|definition| definition.digest);
            let callable = standing(Some(&tool.record), now.as_ref(), ProviderTrust::AllTools) == Standing::Callable;
            prop_assert_eq!(callable, now.is_some());
        }
    }
}
