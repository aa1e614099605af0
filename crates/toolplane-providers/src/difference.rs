//! What has changed between what is known of a provider's tools and what the provider says it has now.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use toolplane_catalog::Registration;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::{ProvidedTool, Provider, ToolRefusal};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{RefusalCode, ReviewState};

use crate::known::{Known, Record};
use crate::listing::{Definition, Listed, Listing};
use crate::names::{native_of, of_tool_id};
use crate::review::{self, Tool};
use crate::words::{Words, words};

/// What has changed. Every tool of either side is in exactly one list; each list is in the order of the tools' ids.
#[derive(Clone, Debug, Default)]
pub struct Difference {
    /// Tools that were not there before, or were withdrawn.
    pub added: Vec<Added>,
    /// Tools that are defined in another way, could not be read, or are tools again after they were refused.
    pub changed: Vec<Changed>,
    /// Tools that are defined as before. What is registered of them stays, byte for byte.
    pub unchanged: Vec<ToolId>,
    /// Tools that are no longer there. One that comes back is new.
    pub withdrawn: Vec<ToolId>,
    /// What cannot be a tool here.
    pub refused: Vec<Refused>,
    /// Digest of what the provider said; see [`Listing::digest`].
    pub list_digest: Option<Digest>,
}

/// A tool that was not there before.
#[derive(Clone, Debug)]
pub struct Added {
    /// The tool.
    pub tool_id: ToolId,
    /// What its provider calls it.
    pub native_id: String,
    /// Its definition.
    pub definition: Definition,
    /// It was there once, and withdrawn since.
    pub came_back: bool,
}

/// A tool that is not what it was.
#[derive(Clone, Debug)]
pub struct Changed {
    /// The tool.
    pub tool_id: ToolId,
    /// What its provider calls it.
    pub native_id: String,
    /// Its definition now.
    pub definition: Definition,
    /// What it was approved as last, when that is still known.
    pub approved: Option<Arc<Registration>>,
    /// What is known of it could not be read.
    pub was_unreadable: bool,
}

impl Changed {
    /// What has changed since it was approved, in words; nothing when it is not known what that was.
    pub fn words(&self) -> Option<Words> {
        self.approved.as_ref().map(|before| words(before, &self.definition.registration))
    }
}

/// Something that cannot be a tool here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The tool it would be, when it can be named.
    pub tool_id: Option<ToolId>,
    /// What its provider calls it.
    pub native_id: String,
    /// Why not.
    pub refusal: ToolRefusal,
    /// It was a tool before.
    pub was_known: bool,
}

/// What has changed since `known` was known, given what a provider says it has now.
///
/// The result depends neither on the order in which the provider says it nor on how often it says the same. A provider that could not
/// be asked says nothing, which is no list: nothing is compared then, and everything stays. The work is a look at each tool; texts
/// are compared only when somebody asks for [`Changed::words`].
pub fn difference(known: &Known, found: &Listing) -> Difference {
    let mut difference = Difference { list_digest: Some(found.digest()), ..Difference::default() };
    for (tool_id, listed) in &found.tools {
        difference.look_at(tool_id, listed, known);
    }
    let nameless = found.nameless.iter().map(|(native_id, refusal)| Refused {
        tool_id: None,
        native_id: native_id.clone(),
        refusal: refusal.clone(),
        was_known: false,
    });
    difference.refused.extend(nameless);
    if found.is_complete {
        let gone = known.iter().filter(|(tool_id, tool)| {
            let withdrawn = tool.record.read().is_some_and(|tool| tool.state == ReviewState::Withdrawn);
            !withdrawn && !found.tools.contains_key(tool_id)
        });
        difference.withdrawn.extend(gone.map(|(tool_id, _)| tool_id.clone()));
    }
    difference
}

impl Difference {
    /// Whether anything is not as it was.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.changed.is_empty() && self.withdrawn.is_empty() && self.refused.is_empty()
    }

    /// Whether a provider that had tools says it has none. That is more often a server that is not ready than one that gave up all of
    /// its tools, and taking it at its word makes every tool wait when it comes back: look once more before it is believed.
    pub fn empties(&self) -> bool {
        !self.withdrawn.is_empty() && self.added.is_empty() && self.changed.is_empty() && self.unchanged.is_empty()
    }

    /// The records after this difference, of the tools whose records are other ones then. What would be refused only because there are
    /// too many gets none.
    pub fn records(&self, provider: &Provider, known: &Known, now: Timestamp) -> Vec<ProvidedTool> {
        let trust = provider.trust;
        let record = |tool_id: &ToolId| known.get(tool_id).map(|tool| &tool.record);
        let mut records = Vec::new();
        let defined = self.added.iter().map(|one| (&one.tool_id, &one.native_id, one.definition.digest));
        let defined =
            defined.chain(self.changed.iter().map(|one| (&one.tool_id, &one.native_id, one.definition.digest)));
        for (tool_id, native_id, digest) in defined {
            let tool = Tool::new(provider, tool_id, native_id);
            records.push(review::defined(record(tool_id), tool, digest, trust, now));
        }
        for tool_id in &self.unchanged {
            // The trust of the provider may be another one.
            let Some(Record::Read(before)) = record(tool_id) else { continue };
            let Some(digest) = before.digest else { continue };
            let tool = Tool::new(provider, tool_id, &before.native_id);
            records.push(review::defined(record(tool_id), tool, digest, trust, now));
        }
        for refused in &self.refused {
            let Some(tool_id) = &refused.tool_id else { continue };
            if refused.was_known || refused.refusal.code != RefusalCode::TooMany {
                let tool = Tool::new(provider, tool_id, &refused.native_id);
                records.push(review::refused(record(tool_id), tool, &refused.refusal, now));
            }
        }
        for tool_id in &self.withdrawn {
            // What its record would say, were it to be read.
            let native_id = of_tool_id(tool_id).and_then(|(_, name)| native_of(name)).unwrap_or_default();
            records.push(review::withdrawn(record(tool_id), Tool::new(provider, tool_id, &native_id), now));
        }
        let is_new = |after: &ProvidedTool| record(&after.tool_id).and_then(Record::read) != Some(after);
        records.retain(is_new);
        records.sort_by(|one, other| one.tool_id.cmp(&other.tool_id));
        records
    }

    fn look_at(&mut self, tool_id: &ToolId, listed: &Listed, known: &Known) {
        let before = known.get(tool_id);
        let is_known = |definition: &Definition| {
            let record = before.and_then(|before| before.record.read());
            record.is_some_and(|record| {
                record.state != ReviewState::Withdrawn && record.digest == Some(definition.digest)
            })
        };
        let (tool_id, native_id) = match &listed.outcome {
            Ok(definition) if is_known(definition) => return self.unchanged.push(tool_id.clone()),
            _ => (tool_id.clone(), listed.native_id.clone()),
        };
        let definition = match &listed.outcome {
            Ok(definition) => definition.clone(),
            Err(refusal) => {
                let (was_known, refusal) = (before.is_some(), refusal.clone());
                return self.refused.push(Refused { tool_id: Some(tool_id), native_id, refusal, was_known });
            }
        };
        let Some(before) = before else {
            return self.added.push(Added { tool_id, native_id, definition, came_back: false });
        };
        match &before.record {
            Record::Read(record) if record.state == ReviewState::Withdrawn => {
                self.added.push(Added { tool_id, native_id, definition, came_back: true });
            }
            record => {
                let was_unreadable = *record == Record::Unreadable;
                let approved = before.approved.clone();
                self.changed.push(Changed { tool_id, native_id, definition, approved, was_unreadable });
            }
        }
    }
}
