//! Following a surface while tools are denied and allowed, and credentials come and go.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::live::{any_request, any_tool, apply};
use super::watching::{Event, Follower, State, after, any_event, made, state};
use super::*;
use crate::traits::Traits;

/// What keeps tools from being used: a rule that denies these, and a credential that tools of this namespace need.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShutTools {
    pub(super) denied: BTreeMap<ToolId, String>,
    missing_in: Option<&'static str>,
}

impl ShutTools {
    pub(super) fn by_namespace(&self) -> impl Fn(&Traits) -> Option<String> + 'static {
        let missing_in = self.missing_in;
        move |traits| missing_in.filter(|space| traits.namespace == *space).map(|_| "no worker has it".to_owned())
    }

    /// Another number for each of them.
    pub(super) fn mark(&self) -> u32 {
        let number =
            |id: &ToolId| id.as_str().rsplit('_').next().and_then(|number| number.parse::<u32>().ok()).unwrap();
        let space = self.missing_in.map_or(0, |space| 1 + space.len() as u32);
        self.denied.keys().map(|id| 1 << number(id)).sum::<u32>() + (space << 16)
    }

    /// What of a state may be used.
    fn leave(&self, mut state: State, catalog: &Catalog) -> State {
        let missing = self.by_namespace();
        state.retain(|id, _| !self.denied.contains_key(id) && missing(&catalog.get(id).unwrap().traits).is_none());
        state
    }
}

#[derive(Clone, Debug)]
enum ShutEvent {
    Of(Event),
    Denied(u32),
    Allowed(u32),
    Missing(Option<&'static str>),
}

fn any_shut_event() -> impl Strategy<Value = ShutEvent> {
    prop_oneof![
        8 => any_event().prop_map(ShutEvent::Of),
        2 => (0..8u32).prop_map(ShutEvent::Denied),
        2 => (0..8u32).prop_map(ShutEvent::Allowed),
        1 => prop::sample::select(vec![None, Some("a"), Some("b.c")]).prop_map(ShutEvent::Missing),
    ]
}

proptest! {
    /// The same where tools are denied and allowed, and credentials come and go: what nobody may use is not shown, and whoever follows knows that,
    /// also over breaks.
    #[test]
    fn what_is_shut_is_told_like_what_is_not_shown(
        before in prop::collection::vec(any_tool(), 0..8),
        request in any_request(),
        events in prop::collection::vec(any_shut_event(), 0..40),
    ) {
        let mut catalog = catalog(&[]);
        apply(&mut catalog, &before);
        let mut surface = made(&catalog, &request);
        let mut follower = Follower::of(&surface, &catalog);
        let mut shut = ShutTools::default();
        let mut moments = BTreeMap::from([(surface.moment(&catalog).to_string(), state(&surface, &catalog))]);
        for event in &events {
            let id = |number: &u32| ToolId::from_trusted(format!("tool_{number}"));
            match event {
                ShutEvent::Denied(number) => drop(shut.denied.insert(id(number), "is denied".to_owned())),
                ShutEvent::Allowed(number) => drop(shut.denied.remove(&id(number))),
                ShutEvent::Missing(space) => shut.missing_in = *space,
                ShutEvent::Of(event) => surface = after(event, &surface, &mut catalog),
            }
            let now = surface.moment(&catalog).with_shut(shut.mark());
            moments.insert(now.to_string(), shut.leave(state(&surface, &catalog), &catalog));
            match event {
                ShutEvent::Of(Event::GoesOn(most)) => {
                    follower.goes_on_beside(&surface, &catalog, &shut, *most);
                }
                ShutEvent::Of(Event::Breaks) => follower.breaks_beside(&surface, &catalog, &shut),
                _ => {}
            }
            prop_assert_eq!(Some(&follower.known), moments.get(&follower.moment.to_string()));
        }
        while follower.goes_on_beside(&surface, &catalog, &shut, 3) {}
        prop_assert_eq!(&follower.known, &shut.leave(state(&surface, &catalog), &catalog));
    }
}
