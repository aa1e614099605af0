//! Following a surface: a difference applied to what was known gives what there is.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::budget::any_budget;
use super::live::{any_request, any_tool, apply, retire, tagged};
use super::shut::ShutTools;
use super::*;
use crate::filter::Criteria;

pub(super) type State = BTreeMap<ToolId, ShownTool>;

/// What the surface shows of every tool now.
pub(super) fn state(surface: &IndexedSurface, catalog: &Catalog) -> State {
    let shown = catalog.entries().filter_map(|entry| match surface.seen(entry, u64::MAX) {
        Sight::Shown(tool) => Some((entry.tool_id().clone(), tool)),
        _ => None,
    });
    shown.collect()
}

/// Somebody who follows a surface and takes in whole differences alone.
pub(super) struct Follower {
    pub(super) watcher: SurfaceWatcher,
    pub(super) known: State,
    pub(super) moment: Moment,
    /// Parts of a difference of which the last one has not come.
    parts: Vec<DifferencePart>,
    /// What kept tools from being used, as it was told, and as it is told by these parts.
    told_shut: ShutTools,
    unsure_behind: Option<u64>,
    towards: ShutTools,
}

impl Follower {
    pub(super) fn of(surface: &Arc<IndexedSurface>, catalog: &Catalog) -> Self {
        let watcher = SurfaceWatcher::from_now(Arc::clone(surface), catalog);
        let moment = watcher.reached().0;
        assert_eq!(moment, surface.moment(catalog));
        let (told_shut, towards) = Default::default();
        let known = state(surface, catalog);
        Self { watcher, known, moment, parts: Vec::new(), told_shut, unsure_behind: None, towards }
    }

    /// The connection breaks: what was not told to its end is forgotten.
    pub(super) fn breaks(&mut self, surface: &Arc<IndexedSurface>, catalog: &Catalog) {
        self.breaks_beside(surface, catalog, &ShutTools::default());
    }

    /// The same where something keeps tools from being used now.
    pub(super) fn breaks_beside(&mut self, surface: &Arc<IndexedSurface>, catalog: &Catalog, now: &ShutTools) {
        self.parts.clear();
        // One that is told anew is underway from its beginning.
        self.towards = now.clone();
        let moment: Moment = self.moment.to_string().parse().unwrap();
        assert_eq!(moment, self.moment);
        let surface = Arc::clone(surface);
        self.unsure_behind = Some(moment.catalog).filter(|_| moment.shut != 0);
        (self.watcher, self.told_shut) = match ShutThen::of(moment.shut, now.mark()) {
            ShutThen::Unknown => (SurfaceWatcher::from_nothing(surface, catalog), now.clone()),
            ShutThen::Nothing => (SurfaceWatcher::from_moment(surface, catalog, moment), ShutTools::default()),
            ShutThen::Same => (SurfaceWatcher::from_moment(surface, catalog, moment), now.clone()),
        };
    }

    /// Goes on by one part; whether there may be more.
    pub(super) fn goes_on(&mut self, surface: &Arc<IndexedSurface>, catalog: &Catalog, most: usize) -> bool {
        self.goes_on_beside(surface, catalog, &ShutTools::default(), most)
    }

    /// The same where something keeps tools from being used now.
    pub(super) fn goes_on_beside(
        &mut self,
        surface: &Arc<IndexedSurface>,
        catalog: &Catalog,
        now: &ShutTools,
        most: usize,
    ) -> bool {
        if !self.watcher.is_underway() {
            self.towards = now.clone();
        }
        let (before, towards) = (self.told_shut.clone(), self.towards.clone());
        let shut = (&before.by_namespace(), &towards.by_namespace());
        let away = (&before.away(), &towards.away());
        let change = ShutChange {
            before: before.shut(shut.0, away.0),
            now: towards.shut(shut.1, away.1),
            is_none: before == towards,
            unsure_behind: self.unsure_behind,
        };
        let progress = self.watcher.next_beside(surface, catalog, change, most);
        if !self.watcher.is_underway() {
            (self.told_shut, self.unsure_behind) = (towards, None);
        }
        match progress {
            Progress::Current => return false,
            Progress::Looking => return true,
            Progress::Part(part) => {
                assert!(part.tools.len() <= most, "{part:?}");
                let leads_to = part.leads_to;
                self.parts.push(part);
                if let Some((moment, _)) = leads_to {
                    self.take_in();
                    self.moment = moment.with_shut(self.told_shut.mark());
                }
            }
        }
        true
    }

    fn take_in(&mut self) {
        let before = self.known.clone();
        let mut told = BTreeSet::new();
        for part in std::mem::take(&mut self.parts) {
            if part.anew {
                self.known.clear();
            }
            for difference in part.tools {
                assert!(told.insert(difference.tool_id.clone()), "told twice in one difference: {difference:?}");
                match &difference.before {
                    Sight::Shown(tool) => assert_eq!(before.get(&difference.tool_id), Some(tool)),
                    Sight::NotShown { .. } => assert_eq!(before.get(&difference.tool_id), None),
                    Sight::Absent | Sight::Unknown => {}
                }
                match (difference.kind(), difference.now) {
                    (DifferenceKind::Removed, _) => drop(self.known.remove(&difference.tool_id)),
                    (_, Sight::Shown(tool)) => drop(self.known.insert(difference.tool_id, tool)),
                    (kind, now) => panic!("{kind:?} to {now:?}"),
                }
            }
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Event {
    Registered(Box<Registration>),
    Retired(u32),
    Loaded(u32),
    Unloaded(u32),
    OtherBudget(Budget),
    Extended(Option<u32>, Option<&'static str>),
    /// By a namespace, and a tool, which is loaded at once: two changes that somebody who follows sees as one.
    ExtendedAndLoaded(u32, &'static str),
    /// The follower goes on, with so many tools in a part.
    GoesOn(usize),
    Breaks,
}

pub(super) fn any_event() -> impl Strategy<Value = Event> {
    let space = prop::sample::select(vec![None, Some("b"), Some("b.c")]);
    prop_oneof![
        6 => any_tool().prop_map(|tool| Event::Registered(Box::new(tool))),
        1 => (0..8u32).prop_map(Event::Retired),
        2 => (0..8u32).prop_map(Event::Loaded),
        2 => (0..8u32).prop_map(Event::Unloaded),
        1 => any_budget().prop_map(Event::OtherBudget),
        2 => (prop::option::of(0..8u32), space).prop_map(|(tool, space)| Event::Extended(tool, space)),
        1 => (0..8u32, prop::sample::select(vec!["a", "b"])).prop_map(|(tool, space)| Event::ExtendedAndLoaded(tool, space)),
        4 => (1..4usize).prop_map(Event::GoesOn),
        1 => Just(Event::Breaks),
    ]
}

/// The surface after the event, which changes the catalog itself.
pub(super) fn after(event: &Event, surface: &Arc<IndexedSurface>, catalog: &mut Catalog) -> Arc<IndexedSurface> {
    let name = |number: &u32| vec![format!("tool_{number}")];
    let stored = |surface: IndexedSurface| IndexedSurface::read(&surface.write().unwrap()).unwrap();
    match event {
        Event::Registered(tool) => drop(apply(catalog, std::slice::from_ref(tool))),
        Event::Retired(number) => {
            if let Ok(change) = catalog.plan_retire(&ToolId::from_trusted(format!("tool_{number}"))) {
                catalog.apply(change);
            }
        }
        Event::Loaded(number) => {
            let loading = super::super::load(surface, catalog, &name(number), Timestamp::from_millis(7), &COUNTING);
            if !loading.is_nothing() {
                return Arc::new(stored(surface.after_loading(&loading)));
            }
        }
        Event::Unloaded(number) => {
            let gone = super::super::unload(surface, catalog, &name(number));
            if !gone.is_empty() {
                return Arc::new(stored(surface.after_unloading(catalog, &gone)));
            }
        }
        Event::OtherBudget(budget) => {
            if let Ok(Some(loading)) = surface.within_other_budget(catalog, *budget, &COUNTING) {
                return Arc::new(stored(surface.after_loading(&loading)));
            }
        }
        Event::Extended(tool, space) => {
            let tool_refs = tool.iter().flat_map(name).collect();
            let by = Extension {
                tool_refs,
                namespaces: space.iter().map(|one| (*one).to_owned()).collect(),
                ..Extension::default()
            };
            // Of this namespace only tools with a tag.
            let criteria = if *space == Some("b.c") { tagged(&["y"]) } else { Criteria::default() };
            let by = Extension { criteria, ..by };
            if let Ok(Some(extended)) = surface.after_extending(catalog, &by) {
                return Arc::new(stored(extended));
            }
        }
        Event::ExtendedAndLoaded(tool, space) => {
            let extended = after(&Event::Extended(Some(*tool), Some(space)), surface, catalog);
            return after(&Event::Loaded(*tool), &extended, catalog);
        }
        Event::GoesOn(_) | Event::Breaks => {}
    }
    Arc::clone(surface)
}

proptest! {
    /// Whatever changes, however slow the follower is and wherever its connection breaks: at each moment it is told it knows
    /// exactly what the surface showed then, and in the end what it shows.
    #[test]
    fn a_difference_applied_to_what_was_known_gives_what_there_is(
        before in prop::collection::vec(any_tool(), 0..8),
        request in any_request(),
        budget in any_budget(),
        events in prop::collection::vec(any_event(), 0..40),
    ) {
        let request = SurfaceRequest { budget, ..request };
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &before);
        let mut surface = Arc::new(make(&catalog, &request).indexed);
        let mut follower = Follower::of(&surface, &catalog);
        let mut moments = BTreeMap::from([(surface.moment(&catalog).to_string(), state(&surface, &catalog))]);
        for event in &events {
            surface = after(event, &surface, &mut catalog);
            moments.insert(surface.moment(&catalog).to_string(), state(&surface, &catalog));
            match event {
                Event::GoesOn(most) => drop(follower.goes_on(&surface, &catalog, *most)),
                Event::Breaks => follower.breaks(&surface, &catalog),
                _ => {}
            }
            prop_assert_eq!(Some(&follower.known), moments.get(&follower.moment.to_string()));
        }
        while follower.goes_on(&surface, &catalog, 3) {}
        prop_assert_eq!(&follower.known, &state(&surface, &catalog));
        let told = follower.watcher.reached();
        prop_assert_eq!(told, (surface.moment(&catalog), surface.revision(&catalog)));
    }
}

pub(super) fn made(catalog: &Catalog, request: &SurfaceRequest) -> Arc<IndexedSurface> {
    Arc::new(make(catalog, request).indexed)
}

/// What is told next, in words.
pub(super) fn told(watcher: &mut SurfaceWatcher, surface: &Arc<IndexedSurface>, catalog: &Catalog) -> Vec<String> {
    let mut told = Vec::new();
    loop {
        match watcher.next(surface, catalog, 100) {
            Progress::Current => return told,
            Progress::Looking => {}
            Progress::Part(part) => {
                told.extend(part.anew.then(|| "anew".to_owned()));
                told.extend(part.tools.iter().map(|tool| format!("{:?} {}", tool.kind(), tool.tool_id)));
            }
        }
    }
}

#[test]
fn what_is_loaded_registered_and_retired_is_told() {
    let mut catalog = catalog(&[tool("a", "one"), tool("b", "two")]);
    let surface = made(&catalog, &SurfaceRequest { namespaces: strings(&["a"]), ..request() });
    let mut watcher = SurfaceWatcher::from_now(Arc::clone(&surface), &catalog);
    assert_eq!(told(&mut watcher, &surface, &catalog), [""; 0]);
    register(&mut catalog, tool("a", "new"));
    register(&mut catalog, tool("b", "other"));
    register(&mut catalog, in_state("late", "draft"));
    assert_eq!(
        told(&mut watcher, &surface, &catalog),
        ["Added tool_a_new"],
        "nothing of other namespaces, nothing hidden"
    );
    let surface = after(&Event::Extended(None, Some("b")), &surface, &mut catalog);
    assert_eq!(told(&mut watcher, &surface, &catalog), ["Added tool_b_other", "Added tool_b_two"]);
    retire(&mut catalog, "tool_a_one");
    let Progress::Part(part) = watcher.next(&surface, &catalog, 100) else { panic!("it is told") };
    assert!(
        matches!(&part.tools[..], [ToolDifference { before: Sight::Shown(_), now: Sight::NotShown { reason, .. }, .. }]
            if *reason == HiddenReason::Retired),
        "{part:?}"
    );
}

#[test]
fn a_difference_tells_each_tool_once() {
    let mut catalog = catalog(&[tool("a", "one"), tool("b", "two"), tool("b", "three")]);
    let surface = made(&catalog, &SurfaceRequest { namespaces: strings(&["a"]), ..request() });
    let mut watcher = SurfaceWatcher::from_now(Arc::clone(&surface), &catalog);
    let by = Extension { namespaces: strings(&["b"]), tool_refs: strings(&["b.two"]), ..Extension::default() };
    let surface = Arc::new(surface.after_extending(&catalog, &by).unwrap().unwrap());
    let once = ["Added tool_b_three", "Added tool_b_two"];
    assert_eq!(told(&mut watcher.clone(), &surface, &catalog), once, "named, and in a namespace");
    let loading = super::super::load(&surface, &catalog, &strings(&["b.two"]), Timestamp::from_millis(9), &COUNTING);
    let surface = Arc::new(surface.after_loading(&loading));
    assert_eq!(told(&mut watcher.clone(), &surface, &catalog), once, "and loaded");
    // Declared again while the difference is told.
    let Progress::Part(first) = watcher.next(&surface, &catalog, 1) else { panic!("it is told") };
    assert_eq!(first.tools[0].tool_id.as_str(), "tool_b_three");
    let mut again = tool("b", "three");
    again.declaration.description = "another one".to_owned();
    register(&mut catalog, again);
    let Progress::Part(second) = watcher.next(&surface, &catalog, 9) else { panic!("it is told") };
    let ids = |part: &DifferencePart| part.tools.iter().map(|tool| tool.tool_id.to_string()).collect::<Vec<_>>();
    assert_eq!((ids(&second), second.leads_to.is_some()), (vec!["tool_b_two".to_owned()], true));
    assert_eq!(told(&mut watcher, &surface, &catalog), ["Changed tool_b_three"], "in the next one");
}

/// What says that a loaded tool has to be loaded again is told with it, and that it was.
#[test]
fn a_changed_schema_is_told_until_it_is_loaded_again() {
    let mut catalog = catalog(&[tool("a", "one")]);
    let surface = made(&catalog, &request());
    let mut watcher = SurfaceWatcher::from_now(Arc::clone(&surface), &catalog);
    let schema = json!({"type": "object", "properties": {"new": {"type": "string"}}, "required": ["new"]});
    register(&mut catalog, with_schema("one", schema));
    let stale = |progress| match progress {
        Progress::Part(DifferencePart { tools, .. }) => tools.into_iter().map(|tool| tool.stale).collect::<Vec<_>>(),
        other => panic!("{other:?}"),
    };
    let first = stale(watcher.next(&surface, &catalog, 9));
    assert!(matches!(&first[..], [Some(what)] if what == "it takes arguments now"), "{first:?}");
    let loading = super::super::load(&surface, &catalog, &strings(&["one"]), Timestamp::from_millis(9), &COUNTING);
    let again = Arc::new(surface.after_loading(&loading));
    assert_eq!(stale(watcher.next(&again, &catalog, 9)), [None]);
}

#[test]
fn what_is_no_longer_known_is_told_anew() {
    let mut catalog = catalog(&[tool("a", "one"), in_state("hidden", "draft")]);
    let surface = made(&catalog, &request());
    let from = |catalog: &Catalog, text: &str| {
        let mut watcher = SurfaceWatcher::from_moment(Arc::clone(&surface), catalog, text.parse().unwrap());
        told(&mut watcher, &surface, catalog)
    };
    let now = surface.moment(&catalog);
    assert_eq!(from(&catalog, &now.to_string()), [""; 0]);
    for unknown in ["9.2", "0.2", "1.1", "1.3"] {
        assert_eq!(from(&catalog, unknown), ["anew", "Added tool_a_one"], "{unknown}");
    }
    // A tool that was declared very often is told, though not how it was.
    for text in 0..40 {
        let mut again = tool("a", "one");
        again.declaration.description = format!("the {text}th");
        register(&mut catalog, again);
    }
    assert_eq!(from(&catalog, &now.to_string()), ["Changed tool_a_one"]);
    assert_eq!("1.2-00000a1b".parse::<Moment>().map(|moment| (moment.catalog, moment.shut)), Ok((2, 0xa1b)));
    for wrong in ["1.2-", "1.2-0", "1.2-a1b", "1.2-0000A1B0", "1.2-00000000", "1.2-123456789", "1-2.3", "1.2--1"] {
        assert_eq!(wrong.parse::<Moment>(), Err(NoMoment), "{wrong}");
    }
    for wrong in ["", "1", "1.", "01.2", "1.2.3.4.5.6", "1..2", "1.02.3", "a.b", "-1.2", "+1.2"] {
        assert_eq!(wrong.parse::<Moment>(), Err(NoMoment), "{wrong}");
    }
}
