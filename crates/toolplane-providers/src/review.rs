//! Which tools of a provider may be called: those somebody has looked at, as they are now.
//!
//! | state | how it gets there | may be called |
//! | --- | --- | --- |
//! | `new` | it was never there before, or it was withdrawn and came back | no |
//! | `approved` | a person, or trust, approved exactly this definition | yes, as long as it is this definition |
//! | `changed` | somebody decided about it before, and it is another definition now; or its record cannot be read | no |
//! | `rejected` | a person looked at exactly this definition and does not want it | no |
//! | `refused` | what its provider says of it cannot be a tool here | no |
//! | `withdrawn` | its provider no longer has it | no |
//!
//! What was decided, and why so:
//!
//! - **An approval is of one digest, and spent by the first other definition.** A definition that was approved once, changed and
//!   came back waits like any other: who can change a tool back and forth could otherwise show each caller another one.
//! - **A tool that comes back is new.** What it was approved as is only told, and counts for nothing. A rejection still does.
//! - **Trust passes what is seen for the first time** (`new_tools`), and also what changes (`all_tools`). A tool that comes back is not
//!   seen for the first time, or withdrawing it for a moment would be a way to change it; neither is one that waited already when the
//!   provider came to be trusted, except under `all_tools`.
//! - **Trust never overrules a rejection.** Only a person lets a tool pass that a person rejected, whatever it has become.
//! - **Trust ends at once.** What trust alone let pass may no longer be called when the provider is trusted no more.
//! - **A rename or a copy inherits nothing**, because approvals are kept by the id of the tool, which is made from its provider and
//!   from what that calls it.
//! - **A record that cannot be read counts as changed**, and so does a definition that a record says nothing of. A rejection that stood
//!   in it is lost with it.

mod answer;
#[cfg(test)]
mod tests;

use toolplane_records::codes;
use toolplane_records::error::ToolError;
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::{ProvidedTool, Provider, ToolRefusal, ToolReview};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ProviderTrust, ReviewBasis, ReviewState};

use crate::known::Record;

pub use answer::{Answer, ReviewRefusal, Wanted, answer, answer_all};

/// What a reviewer is told of a tool that was there before.
const CAME_BACK: &str = "it was there before, and withdrawn meanwhile";
/// What a reviewer is told where a record could not be read.
const UNREADABLE: &str = "what was known of it could not be read";
/// What a reviewer is told of a definition that was approved before.
const AS_BEFORE: &str = "it is again what was approved before; it was something else meanwhile";
/// What a reviewer is told of a tool that changed before anybody looked at it.
const WHILE_WAITING: &str = "it changed while it waited";

/// Which tool of whom.
#[derive(Clone, Copy, Debug)]
pub struct Tool<'a> {
    provider: &'a Provider,
    tool_id: &'a ToolId,
    native_id: &'a str,
}

impl<'a> Tool<'a> {
    /// The tool `tool_id` of `provider`, which calls it `native_id`.
    pub fn new(provider: &'a Provider, tool_id: &'a ToolId, native_id: &'a str) -> Self {
        Self { provider, tool_id, native_id }
    }

    /// A record that says nothing but which tool it is.
    fn unseen(self, now: Timestamp) -> ProvidedTool {
        ProvidedTool {
            schema_version: toolplane_records::schema_version(),
            provider_id: self.provider.provider_id.clone(),
            tenant: self.provider.tenant.clone(),
            tool_id: self.tool_id.clone(),
            native_id: self.native_id.to_owned(),
            digest: None,
            state: ReviewState::New,
            approved: None,
            rejected: None,
            refusal: None,
            first_seen_at: now,
            changed_at: now,
            notes: Vec::new(),
        }
    }

    /// What is known of it, or that it cannot be read.
    fn from(self, record: Option<&Record>, now: Timestamp) -> ProvidedTool {
        match record {
            Some(Record::Read(before)) => ProvidedTool::clone(before),
            Some(Record::Unreadable) => ProvidedTool { notes: vec![UNREADABLE.to_owned()], ..self.unseen(now) },
            None => self.unseen(now),
        }
    }
}

/// How a tool stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It may be called.
    Callable,
    /// It waits for the first look at it.
    New,
    /// It waits for another look at it.
    Changed,
    /// Somebody does not want it.
    Rejected,
    /// It cannot be a tool here as it is defined now.
    Refused,
    /// Its provider does not have it any more.
    Withdrawn,
}

/// What of a tool models are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// All of it, as it was approved.
    Whole,
    /// That there is one of this name, and why it cannot be called, in our words.
    Name,
    /// Nothing: even the name is a text that nobody has looked at.
    Nothing,
}

/// How a tool stands whose definition has the digest `now`, under that trust. What is asked before each call: nothing else may
/// let a call of a provider's tool pass.
pub fn standing(record: Option<&Record>, now: Option<&Digest>, trust: ProviderTrust) -> Standing {
    match record {
        None => Standing::New,
        Some(Record::Unreadable) => Standing::Changed,
        Some(Record::Read(tool)) => standing_of(tool, now, trust),
    }
}

fn standing_of(tool: &ProvidedTool, now: Option<&Digest>, trust: ProviderTrust) -> Standing {
    match tool.state {
        ReviewState::Withdrawn => Standing::Withdrawn,
        ReviewState::Refused => Standing::Refused,
        ReviewState::Rejected if now.is_some() && tool.rejected.as_ref().map(|review| &review.digest) == now => {
            Standing::Rejected
        }
        ReviewState::Approved => match &tool.approved {
            Some(review) if now == Some(&review.digest) && tool.digest == Some(review.digest) => match review.basis {
                ReviewBasis::Person => Standing::Callable,
                ReviewBasis::Trust if trust.lets_new_pass() => Standing::Callable,
                ReviewBasis::Trust => Standing::New,
            },
            _ => Standing::Changed,
        },
        ReviewState::New => Standing::New,
        ReviewState::Changed | ReviewState::Rejected => Standing::Changed,
    }
}

/// What of a tool models are shown that stands so. `was_approved`: it was, in whatever definition.
pub fn shown(standing: Standing, was_approved: bool) -> Shown {
    match standing {
        Standing::Callable => Shown::Whole,
        Standing::Changed | Standing::Refused | Standing::Withdrawn if was_approved => Shown::Name,
        _ => Shown::Nothing,
    }
}

impl Standing {
    /// What a caller is told who calls `tool`, by its name, all the same; nothing when it may be called. Holds no word of its provider.
    pub fn error(self, tool: &str) -> Option<ToolError> {
        let waits = "it cannot be called until somebody has looked at it";
        let (code, message) = match self {
            Self::Callable => return None,
            Self::New => (codes::PROVIDED_TOOL_WAITS, format!("`{tool}` is new: {waits}")),
            Self::Changed => (codes::PROVIDED_TOOL_WAITS, format!("`{tool}` has changed: {waits}")),
            Self::Rejected => (
                codes::PROVIDED_TOOL_REJECTED,
                format!("somebody looked at `{tool}` and does not want it to be called"),
            ),
            Self::Refused => {
                (codes::PROVIDED_TOOL_REFUSED, format!("`{tool}` cannot be called as its provider defines it now"))
            }
            Self::Withdrawn => (codes::PROVIDED_TOOL_WITHDRAWN, format!("the provider has no tool `{tool}` any more")),
        };
        let mut error = ToolError::of(code, message);
        error.side_effects = Some("none".to_owned());
        Some(error)
    }
}

/// The record of a tool whose provider defines it so now. The same as before when nothing is new.
pub fn defined(
    record: Option<&Record>,
    tool: Tool<'_>,
    digest: Digest,
    trust: ProviderTrust,
    now: Timestamp,
) -> ProvidedTool {
    let before = record.and_then(Record::read);
    if let Some(before) = before
        && before.digest == Some(digest)
        && is_settled(before, digest, trust)
    {
        return before.clone();
    }
    let mut after = tool.from(record, now);
    if let Some(before) = before {
        after.notes = notes(before, digest);
    }
    after.refusal = None;
    after.state = state_of(record, &after, digest);
    let passes = match record {
        None => trust.lets_new_pass(),
        Some(_) => trust.lets_changes_pass() && after.rejected.is_none(),
    };
    if passes {
        after.state = ReviewState::Approved;
        after.approved = Some(trusted(digest, now));
        after.notes.clear();
    }
    if before.is_none_or(|before| (before.state, before.digest) != (after.state, Some(digest))) {
        after.changed_at = now;
    }
    after.digest = Some(digest);
    after
}

/// The record of a tool that cannot be one as its provider defines it now.
pub fn refused(record: Option<&Record>, tool: Tool<'_>, refusal: &ToolRefusal, now: Timestamp) -> ProvidedTool {
    let mut after = tool.from(record, now);
    if after.state != ReviewState::Refused || after.refusal.as_ref() != Some(refusal) {
        after.changed_at = now;
    }
    after.state = ReviewState::Refused;
    after.digest = None;
    after.refusal = Some(refusal.clone());
    after
}

/// The record of a tool that its provider no longer has.
pub fn withdrawn(record: Option<&Record>, tool: Tool<'_>, now: Timestamp) -> ProvidedTool {
    let mut after = tool.from(record, now);
    if after.state != ReviewState::Withdrawn {
        after.changed_at = now;
    }
    after.state = ReviewState::Withdrawn;
    after.digest = None;
    after.refusal = None;
    after
}

/// Whether the record of a tool says nothing that will ever matter, so that a provider which keeps making up names fills no store: it is
/// gone, and nobody ever decided about it. Every other record has to be kept for as long as its provider is there.
pub fn may_be_forgotten(tool: &ProvidedTool) -> bool {
    tool.state == ReviewState::Withdrawn && tool.approved.is_none() && tool.rejected.is_none()
}

/// Whether there is nothing to decide about a definition that is the one of before.
fn is_settled(before: &ProvidedTool, digest: Digest, trust: ProviderTrust) -> bool {
    match standing_of(before, Some(&digest), trust) {
        Standing::Callable | Standing::Rejected => true,
        Standing::New | Standing::Changed => {
            let says_so = matches!(before.state, ReviewState::New | ReviewState::Changed);
            says_so && !(trust.lets_changes_pass() && before.rejected.is_none())
        }
        Standing::Refused | Standing::Withdrawn => false,
    }
}

/// The state of a definition that nobody passes by trust. `after` is what is kept of what was known.
fn state_of(record: Option<&Record>, after: &ProvidedTool, digest: Digest) -> ReviewState {
    let before = match record {
        None => return ReviewState::New,
        Some(Record::Unreadable) => return ReviewState::Changed,
        Some(Record::Read(before)) => before,
    };
    let by_a_person = after.approved.as_ref().is_some_and(|review| review.basis == ReviewBasis::Person);
    match before.state {
        // What was rejected stays so, also after it was away.
        _ if after.rejected.as_ref().is_some_and(|review| review.digest == digest) => ReviewState::Rejected,
        ReviewState::Withdrawn | ReviewState::New => ReviewState::New,
        // Trust alone let this very definition pass, and trusts no more: nobody has looked at it.
        ReviewState::Approved if before.digest == Some(digest) && !by_a_person => ReviewState::New,
        ReviewState::Refused if after.approved.is_none() && after.rejected.is_none() => ReviewState::New,
        _ => ReviewState::Changed,
    }
}

/// What a reviewer should know.
fn notes(before: &ProvidedTool, digest: Digest) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |text: &str, holds: bool| {
        let was_noted = before.notes.iter().any(|noted| noted == text);
        if holds || was_noted && matches!(text, CAME_BACK | UNREADABLE) {
            notes.push(text.to_owned());
        }
    };
    let was_approved = before.approved.as_ref().is_some_and(|review| review.digest == digest);
    note(CAME_BACK, before.state == ReviewState::Withdrawn);
    note(UNREADABLE, false);
    note(AS_BEFORE, was_approved && before.digest != Some(digest));
    let waits = matches!(before.state, ReviewState::New | ReviewState::Changed);
    note(WHILE_WAITING, waits && before.digest.is_some_and(|before| before != digest));
    notes
}

fn trusted(digest: Digest, at: Timestamp) -> ToolReview {
    ToolReview { digest, basis: ReviewBasis::Trust, by: String::new(), at, comment: String::new() }
}
