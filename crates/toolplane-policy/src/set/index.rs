//! Where to look for the rules about a call: by scope, then by tool, then by program, directory or host.
//!
//! A lookup may find rules that do not fit after all; it must never miss one that fits or may fit.

use std::collections::{BTreeSet, HashMap};

use toolplane_records::vocabulary::Behavior;

use super::keys::{Beside, Keys, directory, host, in_name, own_keys, path_keys};
use crate::rule::Rule;
use crate::scene::Scene;
use toolplane_matching::SubjectPattern;
use toolplane_matching::ToolMatching as _;
use toolplane_matching::fit::Fit;
use toolplane_matching::subject::SubjectKind;
use toolplane_matching::tools::{Family, ToolPattern, provider_spelling};

/// Positions of rules by what they are about.
#[derive(Clone, Debug, Default)]
pub(super) struct RuleIndex {
    scopes: HashMap<Scope, Tools>,
}

/// A rule that may be about a call. Of the same rule, the one whose pattern was found by a word of the call comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    pub(super) position: u32,
    /// Its pattern begins with a program that is nowhere in the call: it is about what cannot be seen of it, or not at all.
    pub(super) unlisted: bool,
}

/// The narrowest part of a rule's scope; the rest is checked by the rule.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Any,
    Session(String),
    Actor(String),
    Surface(String),
    Tenant(String),
}

#[derive(Clone, Debug, Default)]
struct Tools {
    any: Bucket,
    named: HashMap<String, Bucket>,
    beginning: HashMap<String, Bucket>,
    lengths: BTreeSet<usize>,
    namespace: HashMap<String, Bucket>,
    family: HashMap<Family, Bucket>,
    server: HashMap<String, Bucket>,
    servers: Bucket,
}

/// Rules about one kind of tool.
#[derive(Clone, Debug, Default)]
struct Bucket {
    /// Without a pattern.
    bare: Vec<u32>,
    /// With one.
    patterned: Vec<u32>,
    program: Keyed,
    directory: Keyed,
    host: Keyed,
}

/// Patterns of one kind by the word they begin with.
#[derive(Clone, Debug, Default)]
struct Keyed {
    by_key: HashMap<String, Vec<u32>>,
    /// Those without such a word, and those that are no pattern of this kind at all.
    rest: Vec<u32>,
}

// === impl Index ===

impl RuleIndex {
    pub(super) fn of(rules: &[Rule]) -> Self {
        let mut index = Self::default();
        for (position, rule) in (0u32..).zip(rules) {
            let tools = index.scopes.entry(Scope::of(rule)).or_default();
            tools.bucket(&rule.matcher().tools).add(position, rule.matcher().pattern.as_ref());
        }
        index
    }

    /// The rules to look at, each once and in order.
    pub(super) fn candidates(&self, scene: &Scene<'_>) -> Vec<Candidate> {
        let caller = &scene.call.caller;
        let own = own_keys(scene);
        let redirected = match scene.target.kind {
            Some(SubjectKind::Command) => {
                let named = scene.target.subjects.named().iter().map(|file| &file.path);
                path_keys(scene.target.subjects.paths().iter().chain(named))
            }
            _ => Keys { words: Vec::new(), beside: Beside::Nothing },
        };
        let mut found = Vec::new();
        let scopes = [
            Scope::Any,
            Scope::Session(caller.session.clone()),
            Scope::Actor(caller.actor.clone()),
            Scope::Surface(caller.surface.clone()),
            Scope::Tenant(caller.tenant.clone()),
        ];
        for tools in scopes.iter().filter_map(|scope| self.scopes.get(scope)) {
            tools.for_each(scene, |bucket| bucket.collect(scene.target.kind, &own, &mut found));
            let files = !scene.target.subjects.paths().is_empty() || !scene.target.subjects.named().is_empty();
            if files && scene.target.kind == Some(SubjectKind::Command) {
                for family in [Family::Read, Family::Edit] {
                    if let Some(bucket) = tools.family.get(&family) {
                        bucket.collect(Some(SubjectKind::Path), &redirected, &mut found);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup_by_key(|candidate| candidate.position);
        found
    }
}

// === impl Scope ===

impl Scope {
    fn of(rule: &Rule) -> Self {
        let scope = rule.scope();
        match () {
            () if !scope.session.is_empty() => Self::Session(scope.session.clone()),
            () if !scope.actor.is_empty() => Self::Actor(scope.actor.clone()),
            () if !scope.surface.is_empty() => Self::Surface(scope.surface.clone()),
            () if !scope.tenant.is_empty() => Self::Tenant(scope.tenant.clone()),
            () => Self::Any,
        }
    }
}

// === impl Tools ===

impl Tools {
    fn bucket(&mut self, pattern: &ToolPattern) -> &mut Bucket {
        match pattern {
            ToolPattern::Any => &mut self.any,
            ToolPattern::Named(name) => self.named.entry(name.clone()).or_default(),
            ToolPattern::Beginning(prefix) => {
                self.lengths.insert(prefix.len());
                self.beginning.entry(prefix.clone()).or_default()
            }
            ToolPattern::Namespace(namespace) => self.namespace.entry(namespace.clone()).or_default(),
            ToolPattern::Family(family, _) => self.family.entry(*family).or_default(),
            ToolPattern::Mcp { server, .. } if server.contains('*') => &mut self.servers,
            ToolPattern::Mcp { server, .. } => self.server.entry(first_server(&provider_spelling(server))).or_default(),
        }
    }

    fn for_each(&self, scene: &Scene<'_>, mut visit: impl FnMut(&Bucket)) {
        let tool = &scene.call.tool;
        visit(&self.any);
        let names = [tool.tool_id.as_str(), tool.full_name.as_str()];
        let names = || names.into_iter().chain(tool.called_name()).chain(tool.aliases.iter().map(String::as_str));
        for name in names() {
            self.named.get(name).into_iter().for_each(&mut visit);
            let prefixes = self.lengths.iter().filter_map(|length| name.get(..*length));
            prefixes.filter_map(|prefix| self.beginning.get(prefix)).for_each(&mut visit);
        }
        if !self.namespace.is_empty() {
            let ends = tool.namespace.match_indices('.').map(|(end, _)| end).chain([tool.namespace.len()]);
            ends.filter_map(|end| self.namespace.get(&tool.namespace[..end])).for_each(&mut visit);
        }
        // Families are few, and tools may belong to several, or only be named like one.
        let belongs = |family: Family| {
            let named = names().any(|name| Family::of(name) == Some(family));
            named || family.fit(Behavior::Deny, tool) != Fit::No || family.fit(Behavior::Allow, tool) != Fit::No
        };
        self.family.iter().filter(|(family, _)| belongs(**family)).for_each(|(_, bucket)| visit(bucket));
        visit(&self.servers);
        if !self.server.is_empty() {
            for name in names().chain([tool.namespace.as_str()]).filter(|name| name.starts_with("mcp")) {
                let spelt = provider_spelling(name);
                let Some(rest) = spelt.strip_prefix("mcp__") else { continue };
                self.server.get(&first_server(rest)).into_iter().for_each(&mut visit);
            }
        }
    }
}

fn first_server(rest: &str) -> String {
    rest.split("__").next().unwrap_or(rest).to_owned()
}

// === impl Bucket ===

impl Bucket {
    fn add(&mut self, position: u32, pattern: Option<&SubjectPattern>) {
        let Some(pattern) = pattern else {
            self.bare.push(position);
            return;
        };
        self.patterned.push(position);
        let program = pattern.command.as_ref().and_then(|command| command.program());
        let program = program.filter(|program| program.chars().all(in_name));
        self.program.add(position, program.map(str::to_ascii_lowercase));
        self.directory.add(position, pattern.path.as_ref().and_then(|_| directory(pattern.text())));
        self.host.add(position, pattern.url.as_ref().and_then(|_| host(pattern.text())));
    }

    fn collect(&self, kind: Option<SubjectKind>, keys: &Keys, found: &mut Vec<Candidate>) {
        let mut add = |positions: &[u32], unlisted: bool| {
            found.extend(positions.iter().map(|position| Candidate { position: *position, unlisted }));
        };
        add(&self.bare, false);
        let keyed = match kind {
            Some(SubjectKind::Command) => &self.program,
            Some(SubjectKind::Path) => &self.directory,
            Some(SubjectKind::Url) => &self.host,
            None => return add(&self.patterned, false),
        };
        if keys.beside == Beside::Everything {
            return add(&self.patterned, false);
        }
        add(&keyed.rest, false);
        keys.words.iter().filter_map(|word| keyed.by_key.get(word)).for_each(|positions| add(positions, false));
        if keys.beside == Beside::Unlisted {
            add(&self.patterned, true);
        }
    }
}

impl Keyed {
    fn add(&mut self, position: u32, key: Option<String>) {
        match key {
            Some(key) => self.by_key.entry(key).or_default().push(position),
            None => self.rest.push(position),
        }
    }
}
