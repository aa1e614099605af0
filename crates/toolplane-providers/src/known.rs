//! What is known of a provider's tools from before.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolplane_catalog::Registration;
use toolplane_records::ids::ToolId;
use toolplane_records::provider::{ProvidedTool, ToolCounts};
use toolplane_records::vocabulary::{ProviderTrust, ReviewState};

use crate::review::{Standing, standing};

/// The tools of one provider that were seen before, withdrawn ones included. They have to be remembered for as long as the provider
/// is there (but for those of [`crate::review::may_be_forgotten`]): a tool that nobody remembers is new.
#[derive(Clone, Debug, Default)]
pub struct Known {
    tools: BTreeMap<ToolId, KnownTool>,
}

/// One tool that was seen before.
#[derive(Clone, Debug)]
pub struct KnownTool {
    /// What is said about it.
    pub record: Record,
    /// What it was approved as last, for telling what has changed; absent when it never was, or when it cannot be read.
    pub approved: Option<Arc<Registration>>,
}

/// What a store says about a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record {
    /// Its record.
    Read(Box<ProvidedTool>),
    /// There is one, and it cannot be read: the tool counts as changed.
    Unreadable,
}

impl Record {
    /// The record, when it could be read.
    pub fn read(&self) -> Option<&ProvidedTool> {
        match self {
            Self::Read(tool) => Some(tool),
            Self::Unreadable => None,
        }
    }
}

impl From<ProvidedTool> for Record {
    fn from(tool: ProvidedTool) -> Self {
        Self::Read(Box::new(tool))
    }
}

impl Known {
    /// Adds a tool, or puts it in the place of what was known of it.
    pub fn put(&mut self, tool_id: ToolId, tool: KnownTool) {
        self.tools.insert(tool_id, tool);
    }

    /// The tool with that id.
    pub fn get(&self, tool_id: &ToolId) -> Option<&KnownTool> {
        self.tools.get(tool_id)
    }

    /// Every tool, by id.
    pub fn iter(&self) -> impl Iterator<Item = (&ToolId, &KnownTool)> {
        self.tools.iter()
    }

    /// Takes in records that were made anew, with what each was approved as when the record says that it is.
    pub fn take_in(&mut self, records: Vec<ProvidedTool>, registration: impl Fn(&ToolId) -> Option<Arc<Registration>>) {
        for record in records {
            let tool_id = record.tool_id.clone();
            let before = self.tools.remove(&tool_id).and_then(|tool| tool.approved);
            let approved = match record.state {
                ReviewState::Approved => registration(&tool_id).or(before),
                _ => before.filter(|_| record.approved.is_some()),
            };
            self.tools.insert(tool_id, KnownTool { record: record.into(), approved });
        }
    }

    /// Whether the provider was last seen to have this tool.
    pub(crate) fn has(&self, tool_id: &ToolId) -> bool {
        let gone = |tool: &ProvidedTool| matches!(tool.state, ReviewState::Withdrawn | ReviewState::Refused);
        self.tools.get(tool_id).is_some_and(|tool| !tool.record.read().is_some_and(gone))
    }
}

/// The tools of a provider, counted as they stand under that trust.
pub fn counts<'a>(records: impl IntoIterator<Item = &'a Record>, trust: ProviderTrust) -> ToolCounts {
    let mut counts = ToolCounts::default();
    for record in records {
        let digest = record.read().and_then(|tool| tool.digest);
        let standing = standing(Some(record), digest.as_ref(), trust);
        counts.found += u32::from(standing != Standing::Withdrawn);
        match standing {
            Standing::Callable => counts.imported += 1,
            Standing::New | Standing::Changed => counts.waiting += 1,
            Standing::Rejected => counts.rejected += 1,
            Standing::Refused => counts.refused += 1,
            Standing::Withdrawn => counts.withdrawn += 1,
        }
    }
    counts
}
