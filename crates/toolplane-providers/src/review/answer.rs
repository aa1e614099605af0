//! What a person says about tools that wait.

use toolplane_records::codes::{self, Code};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::{ProvidedTool, ToolReview};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ReviewBasis, ReviewState};

use crate::known::{Known, Record};

/// What a person says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether the tools may be called.
    pub approves: bool,
    /// Who says it.
    pub by: String,
    /// Why; may be empty.
    pub comment: String,
    /// When.
    pub at: Timestamp,
}

/// One definition an answer is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The tool.
    pub tool_id: ToolId,
    /// Canonical digest of the definition that was shown.
    pub digest: Digest,
}

/// Why an answer does not count. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewRefusal {
    /// No such tool of this provider.
    #[error("tool `{0}` does not exist")]
    Unknown(ToolId),
    /// It was about another definition than the one there is now.
    #[error("`{tool_id}` has another definition now: {current}")]
    Outdated {
        /// The tool.
        tool_id: ToolId,
        /// Canonical digest of the definition there is now.
        current: Digest,
    },
    /// There is no definition now that it could be about.
    #[error("`{tool_id}` is {state}: there is no definition to look at")]
    NothingToReview {
        /// The tool.
        tool_id: ToolId,
        /// Its state.
        state: ReviewState,
    },
    /// What is known of it cannot be read; it has to be found anew first.
    #[error("what is known of `{0}` cannot be read")]
    Unreadable(ToolId),
}

impl ReviewRefusal {
    /// Stable machine-readable code.
    pub fn code(&self) -> Code {
        match self {
            Self::Unknown(_) => codes::NOT_FOUND,
            Self::Outdated { .. } => codes::REVIEW_OUTDATED,
            Self::NothingToReview { .. } => codes::REVIEW_NOT_WANTED,
            Self::Unreadable(_) => codes::REVIEW_UNREADABLE,
        }
    }
}

/// The record of a tool after an answer about its definition with this digest. The same answer once more changes nothing; another one
/// counts, and so a person may change their mind.
///
/// # Errors
///
/// [`ReviewRefusal::Outdated`] when the tool has another definition now, [`ReviewRefusal::NothingToReview`] when it has none.
pub fn answer(before: &ProvidedTool, digest: &Digest, answer: &Answer) -> Result<ProvidedTool, ReviewRefusal> {
    let current = match (before.state, before.digest) {
        (ReviewState::Withdrawn | ReviewState::Refused, _) | (_, None) => {
            let (tool_id, state) = (before.tool_id.clone(), before.state);
            return Err(ReviewRefusal::NothingToReview { tool_id, state });
        }
        (_, Some(current)) => current,
    };
    if current != *digest {
        return Err(ReviewRefusal::Outdated { tool_id: before.tool_id.clone(), current });
    }
    let holds = |review: &Option<ToolReview>| {
        review.as_ref().is_some_and(|review| review.digest == current && review.basis == ReviewBasis::Person)
    };
    let is_said_already = match answer.approves {
        true => before.state == ReviewState::Approved && holds(&before.approved),
        false => before.state == ReviewState::Rejected && holds(&before.rejected),
    };
    if is_said_already {
        return Ok(before.clone());
    }
    let review = ToolReview {
        digest: current,
        basis: ReviewBasis::Person,
        by: answer.by.clone(),
        at: answer.at,
        comment: answer.comment.clone(),
    };
    let mut after = ProvidedTool { changed_at: answer.at, notes: Vec::new(), ..before.clone() };
    if answer.approves {
        (after.state, after.approved, after.rejected) = (ReviewState::Approved, Some(review), None);
    } else {
        (after.state, after.rejected) = (ReviewState::Rejected, Some(review));
    }
    Ok(after)
}

/// The same answer about several tools, each judged alone and in the order given: one that is refused keeps no other from counting.
pub fn answer_all(known: &Known, wanted: &[Wanted], said: &Answer) -> Vec<Result<ProvidedTool, ReviewRefusal>> {
    let one = |wanted: &Wanted| match known.get(&wanted.tool_id).map(|tool| &tool.record) {
        None => Err(ReviewRefusal::Unknown(wanted.tool_id.clone())),
        Some(Record::Unreadable) => Err(ReviewRefusal::Unreadable(wanted.tool_id.clone())),
        Some(Record::Read(before)) => answer(before, &wanted.digest, said),
    };
    wanted.iter().map(one).collect()
}
