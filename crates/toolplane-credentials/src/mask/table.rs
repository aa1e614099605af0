//! All forms of all secrets, as one automaton that is fed byte by byte.

use std::collections::{BTreeMap, HashMap};

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::NFA;

use super::forms;

/// A state of the automaton: the longest end of what was read that begins a form.
pub(super) type State = StateID;

/// The automaton, and whose each form is.
pub(super) struct Table {
    automaton: NFA,
    start: State,
    /// How many bytes of a form each state stands for, and one form that begins so.
    known: HashMap<State, (usize, usize)>,
    /// The credential of each form, as its place in `replacements`.
    owners: Vec<usize>,
    replacements: Vec<String>,
    forms: Vec<Vec<u8>>,
    /// A form with a space in it is there, which `+` may stand for.
    pub(super) has_space: bool,
}

impl Table {
    /// The table for these secrets; nothing when there is nothing to look for.
    pub(super) fn new<'a>(secrets: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Option<Self> {
        let mut owned: BTreeMap<Vec<u8>, &str> = BTreeMap::new();
        for (name, secret) in secrets {
            for form in forms::of(secret) {
                let owner = owned.entry(form).or_insert(name);
                *owner = (*owner).min(name);
            }
        }
        let mut names: Vec<&str> = owned.values().copied().collect();
        names.sort_unstable();
        names.dedup();
        let owners = owned.values().map(|name| names.binary_search(name).unwrap_or_default()).collect();
        // An automaton cannot be made of more than 2^31 bytes of forms; secrets are bounded far below that.
        let automaton = NFA::builder().prefilter(false).build(owned.keys()).ok().filter(|_| !owned.is_empty())?;
        let replacements = names.iter().map(|name| super::replacement(name)).collect();
        let start = automaton.start_state(Anchored::No).ok()?;
        let known = known(&automaton, owned.keys())?;
        Some(Self {
            automaton,
            start,
            known,
            owners,
            replacements,
            has_space: owned.keys().any(|form| form.contains(&b' ')),
            forms: owned.into_keys().collect(),
        })
    }

    pub(super) fn start(&self) -> State {
        self.start
    }

    pub(super) fn next(&self, state: State, byte: u8) -> State {
        self.automaton.next_state(Anchored::No, state, byte)
    }

    pub(super) fn is_match(&self, state: State) -> bool {
        self.automaton.is_match(state)
    }

    /// The forms that end in this state.
    pub(super) fn matches(&self, state: State) -> impl Iterator<Item = usize> {
        (0..self.automaton.match_len(state)).map(move |index| self.automaton.match_pattern(state, index).as_usize())
    }

    pub(super) fn form_len(&self, form: usize) -> usize {
        aho_corasick::PatternID::new(form).map_or(0, |id| self.automaton.pattern_len(id))
    }

    /// How many bytes the state stands for.
    pub(super) fn depth(&self, state: State) -> usize {
        self.known.get(&state).map_or(0, |(depth, _)| *depth)
    }

    /// A form that begins with what the state stands for.
    pub(super) fn form_begun(&self, state: State) -> Option<usize> {
        self.known.get(&state).map(|(_, form)| *form)
    }

    /// The longest end of a form, of at least `least` bytes, with which `bytes` begin: how long it is, and whose.
    pub(super) fn end_of_form(&self, bytes: &[u8], least: usize) -> Option<(usize, usize)> {
        let of_form = |(form, all): (usize, &Vec<u8>)| {
            let from = all.len().saturating_sub(bytes.len()).max(1);
            let len = (from..=all.len().saturating_sub(least)).map(|at| all.len() - at);
            let found = len.into_iter().find(|len| bytes.starts_with(&all[all.len() - len..]));
            found.map(|len| (len, self.owner(form)))
        };
        self.forms.iter().enumerate().filter_map(of_form).max()
    }

    /// The credential of a form.
    pub(super) fn owner(&self, form: usize) -> usize {
        self.owners.get(form).copied().unwrap_or_default()
    }

    /// What stands in place of its secrets.
    pub(super) fn replacement(&self, owner: usize) -> &str {
        self.replacements.get(owner).map_or("", String::as_str)
    }
}

/// Every state that stands for the beginning of a form, found by going along each of them.
fn known<'a>(automaton: &NFA, forms: impl Iterator<Item = &'a Vec<u8>>) -> Option<HashMap<State, (usize, usize)>> {
    let first = automaton.start_state(Anchored::Yes).ok()?;
    let mut known = HashMap::new();
    for (form, bytes) in forms.enumerate() {
        let mut state = first;
        for (index, byte) in bytes.iter().enumerate() {
            state = automaton.next_state(Anchored::Yes, state, *byte);
            known.insert(state, (index + 1, form));
        }
    }
    Some(known)
}
