//! What a provider says it has, put in order: each tool once, with its definition or the reason why it is none.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use toolplane_catalog::{CatalogLimits, Registration, validate};
use toolplane_records::error::FieldViolation;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::{Provider, ToolRefusal};
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::{RefusalCode, ToolLifecycle};

use crate::digest::definition_digest;
use crate::known::Known;
use crate::names::ToolNames;

/// One tool a provider says it has.
#[derive(Clone, Debug)]
pub struct Found {
    /// What the provider calls it.
    pub native_id: String,
    /// The registration that is made from its definition, or why none can be made.
    pub made: Result<Registration, ToolRefusal>,
}

/// A tool as its provider defines it now.
#[derive(Clone, Debug)]
pub struct Definition {
    /// What would be registered.
    pub registration: Arc<Registration>,
    /// Its canonical digest.
    pub digest: Digest,
}

/// Bounds on what one provider may bring.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Most tools of one provider.
    pub max_tools: usize,
    /// What each registration is held to.
    pub catalog: CatalogLimits,
}

impl Default for Limits {
    /// 10,000 tools.
    fn default() -> Self {
        Self { max_tools: 10_000, catalog: CatalogLimits::default() }
    }
}

/// Everything a provider says it has. The order in which it was said means nothing.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    pub(crate) tools: BTreeMap<ToolId, Listed>,
    /// What cannot even be named.
    pub(crate) nameless: Vec<(String, ToolRefusal)>,
    pub(crate) is_complete: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) native_id: String,
    pub(crate) outcome: Result<Definition, ToolRefusal>,
}

impl Listing {
    /// What `provider` has. Registrations that are not known are checked as the catalogue would; those that are known were.
    ///
    /// Refused, each by name, are tools that cannot be registered, whose ids or names are not those of [`ToolNames`], that are listed
    /// twice with different definitions, that would have the name of another one (the one that was known before keeps it; where none
    /// was, nobody gets it), and those beyond the bounds (known ones come first).
    pub fn of(provider: &Provider, found: Vec<Found>, known: &Known, limits: &Limits) -> Self {
        let mut listing = Self { is_complete: true, ..Self::default() };
        for one in found {
            listing.take(provider, one, known, limits);
        }
        listing.refuse_shared_names(known);
        listing.refuse_too_many(known, limits);
        listing.nameless.sort_by(|one, other| one.0.cmp(&other.0));
        listing.nameless.dedup_by(|one, other| one.0 == other.0);
        listing.nameless.truncate(limits.max_tools);
        listing
    }

    /// The same, when it is known that the provider has more than it could say: nothing is withdrawn then.
    #[must_use]
    pub fn in_part(self) -> Self {
        Self { is_complete: false, ..self }
    }

    /// How many tools are in it, refused ones included.
    pub fn len(&self) -> usize {
        self.tools.len() + self.nameless.len()
    }

    /// Whether the provider says it has nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The definition of a tool; nothing when it is not in the list, or refused.
    pub fn definition(&self, tool_id: &ToolId) -> Option<&Definition> {
        self.tools.get(tool_id)?.outcome.as_ref().ok()
    }

    /// The tools that can be named, by id; refused ones too.
    pub fn tool_ids(&self) -> impl Iterator<Item = &ToolId> {
        self.tools.keys()
    }

    /// How many of them cannot be tools here.
    pub fn refused(&self) -> usize {
        self.nameless.len() + self.tools.values().filter(|listed| listed.outcome.is_err()).count()
    }

    /// A digest of all of it, which is the same when nothing has changed.
    pub fn digest(&self) -> Digest {
        // No tool id holds a line end, and a digest has always as many bytes.
        let mut bytes = Vec::with_capacity(128 * self.len());
        for (tool_id, listed) in &self.tools {
            bytes.extend_from_slice(tool_id.as_str().as_bytes());
            let (mark, digest) = match &listed.outcome {
                Ok(definition) => (b'\n', definition.digest),
                Err(refusal) => (b'!', Digest::of(format!("{}\n{}", refusal.code, refusal.reason).as_bytes())),
            };
            bytes.push(mark);
            bytes.extend_from_slice(digest.as_bytes());
        }
        for (native_id, _) in &self.nameless {
            bytes.extend_from_slice(Digest::of(native_id.as_bytes()).as_bytes());
        }
        Digest::of(&bytes)
    }

    fn take(&mut self, provider: &Provider, found: Found, known: &Known, limits: &Limits) {
        let Found { native_id, made } = found;
        let names = match ToolNames::of(&provider.provider_id, &native_id) {
            Ok(names) => names,
            Err(refusal) => return self.nameless.push((excerpt(&native_id, 80), refusal)),
        };
        let outcome = made.and_then(|registration| {
            let digest = definition_digest(&registration);
            let before = known.get(&names.tool_id).and_then(|tool| tool.record.read()?.digest);
            check_identity(provider, &names, &registration)?;
            if before != Some(digest) {
                let invalid = |reason| ToolRefusal { code: RefusalCode::InvalidDefinition, reason };
                validate(&registration, &limits.catalog).map_err(|faults| invalid(told(&faults)))?;
            }
            Ok(Definition { registration: Arc::new(registration), digest })
        });
        let Some(there) = self.tools.get_mut(&names.tool_id) else {
            self.tools.insert(names.tool_id, Listed { native_id, outcome });
            return;
        };
        let same = there.native_id == native_id
            && match (&there.outcome, &outcome) {
                (Ok(one), Ok(other)) => one.digest == other.digest,
                (Err(one), Err(other)) => one == other,
                _ => false,
            };
        if !same {
            let reason = "the provider lists it twice, with different definitions".to_owned();
            there.outcome = Err(ToolRefusal { code: RefusalCode::ListedTwice, reason });
            // Whichever of two native names came first.
            there.native_id = native_id.min(std::mem::take(&mut there.native_id));
        }
    }

    fn refuse_shared_names(&mut self, known: &Known) {
        let mut holders: HashMap<String, Vec<ToolId>> = HashMap::with_capacity(self.tools.len());
        for (tool_id, listed) in &self.tools {
            let Ok(definition) = &listed.outcome else { continue };
            // Two full names that differ only in dots and underscores are one to those who cannot have dots.
            let registration = &definition.registration;
            let names = [registration.alias(), registration.declaration.full_name().replace('.', "__")].into_iter();
            let aliases = definition.registration.aliases().into_iter().map(|alias| alias.replace('.', "__"));
            for name in names.chain(aliases) {
                let holders = holders.entry(name).or_default();
                if holders.last() != Some(tool_id) {
                    holders.push(tool_id.clone());
                }
            }
        }
        let mut shared: Vec<(String, Vec<ToolId>)> = holders.into_iter().filter(|(_, ids)| ids.len() > 1).collect();
        shared.sort();
        for (name, tool_ids) in shared {
            let mut before = tool_ids.iter().filter(|tool_id| known.has(tool_id));
            let keeps = before.next().filter(|_| before.next().is_none()).cloned();
            for tool_id in &tool_ids {
                if keeps.as_ref() == Some(tool_id) {
                    continue;
                }
                let other = tool_ids.iter().find(|other| *other != tool_id);
                let other = other.and_then(|other| self.tools.get(other));
                let other = excerpt(other.map_or("", |listed| &listed.native_id), 80);
                let reason = format!("its name `{name}` would be that of the provider's tool `{other}`");
                self.refuse(tool_id, RefusalCode::NameTaken, reason);
            }
        }
    }

    fn refuse_too_many(&mut self, known: &Known, limits: &Limits) {
        let most = limits.max_tools;
        if self.tools.len() <= most {
            return;
        }
        let mut order: Vec<(bool, ToolId)> =
            self.tools.keys().map(|tool_id| (!known.has(tool_id), tool_id.clone())).collect();
        order.sort();
        for (_, tool_id) in order.into_iter().skip(most) {
            let reason = format!("the provider lists more than {most} tools");
            self.refuse(&tool_id, RefusalCode::TooMany, reason);
        }
    }

    fn refuse(&mut self, tool_id: &ToolId, code: RefusalCode, reason: String) {
        if let Some(listed) = self.tools.get_mut(tool_id) {
            listed.outcome = Err(ToolRefusal { code, reason });
        }
    }
}

/// Whether a registration is the one of the tool it is said to be of.
fn check_identity(provider: &Provider, names: &ToolNames, made: &Registration) -> Result<(), ToolRefusal> {
    let declaration = &made.declaration;
    let wrong = |reason: String| Err(ToolRefusal { code: RefusalCode::WrongIdentity, reason });
    // Where it has a name that is easier to read, the one that leads back to its provider's is another of its names.
    let own = format!("{}.{}", provider.namespace, names.name);
    let is_called = declaration.name == names.name || declaration.aliases.contains(&own);
    if declaration.tool_id != names.tool_id || !is_called {
        return wrong(format!("must be `{}` with the name `{}`", names.tool_id, names.name));
    }
    if declaration.namespace != provider.namespace {
        return wrong(format!("must be in the namespace `{}` of its provider", provider.namespace));
    }
    let within = |alias: &&str| alias.strip_prefix(&provider.namespace).is_some_and(|rest| rest.starts_with('.'));
    if let Some(alias) = made.aliases().into_iter().find(|alias| !within(alias)) {
        let (alias, namespace) = (excerpt(alias, 80), &provider.namespace);
        return wrong(format!("its alias `{alias}` is not in the namespace `{namespace}` of its provider"));
    }
    if declaration.lifecycle == ToolLifecycle::Retired {
        return wrong("a tool that is there cannot be retired: its identity would be spent".to_owned());
    }
    Ok(())
}

/// The first violations as one text.
fn told(faults: &[FieldViolation]) -> String {
    const TOLD: usize = 3;
    let one = |fault: &FieldViolation| format!("`{}` {}", excerpt(&fault.field, 120), excerpt(&fault.description, 240));
    let mut told: Vec<String> = faults.iter().take(TOLD).map(one).collect();
    if faults.len() > TOLD {
        told.push(format!("and {} more", faults.len() - TOLD));
    }
    told.join("; ")
}
