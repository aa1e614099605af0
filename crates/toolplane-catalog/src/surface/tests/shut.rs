//! Following a surface while tools are denied and allowed, and credentials and providers come and go.

use std::collections::BTreeMap;

use proptest::prelude::*;
use toolplane_records::codes;

use super::live::{any_request, any_tool, apply};
use super::watching::{Event, Follower, State, after, any_event, made, state};
use super::*;
use crate::traits::Traits;

/// What keeps tools from being used: a rule that denies these, a credential that tools of this namespace need, the provider of those of that
/// one, and a tool that its provider has not.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ShutTools {
    pub(super) denied: BTreeMap<ToolId, String>,
    missing_in: Option<&'static str>,
    away_in: Option<&'static str>,
    gone: BTreeMap<ToolId, Why>,
}

fn within<T: Clone + 'static>(space: Option<&'static str>, why: T) -> impl Fn(&Traits) -> Option<T> + 'static {
    move |traits| space.filter(|space| traits.namespace == *space).map(|_| why.clone())
}

impl ShutTools {
    pub(super) fn by_namespace(&self) -> impl Fn(&Traits) -> Option<Why> + 'static {
        within(self.missing_in, (HiddenReason::CredentialMissing, "no worker has it".to_owned()))
    }

    pub(super) fn away(&self) -> impl Fn(&Traits) -> Option<Uncallable> + 'static {
        let message = "its provider is away".to_owned();
        within(self.away_in, Uncallable { code: codes::PROVIDER_AWAY, message })
    }

    pub(super) fn shut<'a>(
        &'a self,
        by_traits: &'a dyn Fn(&Traits) -> Option<Why>,
        away: &'a dyn Fn(&Traits) -> Option<Uncallable>,
    ) -> Shut<'a> {
        Shut { by_traits, denied: &self.denied, withheld: &self.gone, away }
    }

    /// Another number for each of them.
    pub(super) fn mark(&self) -> u32 {
        let number =
            |id: &ToolId| id.as_str().rsplit('_').next().and_then(|number| number.parse::<u32>().ok()).unwrap();
        let space = |space: Option<&str>| space.map_or(0, |space| 1 + space.len() as u32);
        let spaces = (space(self.missing_in) << 16) + (space(self.away_in) << 20);
        let tools = |ids: &mut dyn Iterator<Item = &ToolId>| ids.map(|id| 1 << number(id)).sum::<u32>();
        tools(&mut self.denied.keys()) + (tools(&mut self.gone.keys()) << 8) + spaces
    }

    /// What of a state may be used, and how.
    fn leave(&self, mut state: State, catalog: &Catalog) -> State {
        let (missing, away) = (self.by_namespace(), self.away());
        let is_single = |id: &ToolId| self.denied.contains_key(id) || self.gone.contains_key(id);
        state.retain(|id, _| !is_single(id) && missing(&catalog.get(id).unwrap().traits).is_none());
        state.iter_mut().for_each(|(id, tool)| tool.uncallable = away(&catalog.get(id).unwrap().traits));
        state
    }
}

#[derive(Clone, Debug)]
enum ShutEvent {
    Of(Event),
    Denied(u32),
    Allowed(u32),
    Missing(Option<&'static str>),
    Away(Option<&'static str>),
    Gone(u32),
    Back(u32),
}

fn any_shut_event() -> impl Strategy<Value = ShutEvent> {
    prop_oneof![
        8 => any_event().prop_map(ShutEvent::Of),
        2 => (0..8u32).prop_map(ShutEvent::Denied),
        2 => (0..8u32).prop_map(ShutEvent::Allowed),
        1 => prop::sample::select(vec![None, Some("a"), Some("b.c")]).prop_map(ShutEvent::Missing),
        1 => prop::sample::select(vec![None, Some("a"), Some("b.c")]).prop_map(ShutEvent::Away),
        1 => (0..8u32).prop_map(ShutEvent::Gone),
        1 => (0..8u32).prop_map(ShutEvent::Back),
    ]
}

proptest! {
    /// The same where tools are denied and allowed, and credentials and providers come and go: what nobody may use is not shown, what a provider
    /// is away for is shown as that, and whoever follows knows both, also over breaks. So does whoever reads.
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
                ShutEvent::Away(space) => shut.away_in = *space,
                ShutEvent::Gone(number) => {
                    shut.gone.insert(id(number), (HiddenReason::Retired, "the provider has it no more".to_owned()));
                }
                ShutEvent::Back(number) => drop(shut.gone.remove(&id(number))),
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
        let (by_traits, away) = (shut.by_namespace(), shut.away());
        let read = surface.tools(&catalog, shut.shut(&by_traits, &away), None).filter_map(|tool| match tool {
            SurfaceTool::Loaded(tool) => Some((tool.tool_id, tool.message)),
            SurfaceTool::Deferred(tool) => {
                let is_kept = tool.loading_state == LoadingState::Unavailable;
                Some((tool.tool_id, is_kept.then_some(tool.reason)))
            }
            SurfaceTool::Blocked(_) | SurfaceTool::Excluded(_) => None,
        });
        let read: BTreeMap<ToolId, Option<String>> = read.collect();
        let known = shut.leave(state(&surface, &catalog), &catalog).into_iter();
        let known = known.map(|(id, tool)| (id, tool.uncallable.map(|why| why.message)));
        prop_assert_eq!(read, known.collect::<BTreeMap<_, _>>());
        while follower.goes_on_beside(&surface, &catalog, &shut, 3) {}
        prop_assert_eq!(&follower.known, &shut.leave(state(&surface, &catalog), &catalog));
    }
}
