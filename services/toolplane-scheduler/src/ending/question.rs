//! A result in which something is found that a person is asked about: it waits, masked, for the answer, and ends as it is or masked.
//!
//! Whatever is not a plain yes ends it masked: a no, no answer in time, nobody who could be asked, a call that is to be stopped, an original
//! that cannot be read any more.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use toolplane_cleaning::Treatment;
use toolplane_hooks::bounds::cut;
use toolplane_lifecycle::{Command, LeaseKey, ResultQuestion};
use toolplane_proto::v1;
use toolplane_records::SmolStr;
use toolplane_records::approval::Approval;
use toolplane_records::decision::PermissionDecision;
use toolplane_records::ids::{ApprovalId, InvocationKey};
use toolplane_records::invocation::Invocation;
use toolplane_records::result::{Cleaned, ContentBlock};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{ApprovalState, Behavior, InvocationStatus};
use toolplane_results::payload::error::PayloadError;

use super::report::Report;
use super::told::text_of;
use super::{Endings, StoredReport};
use crate::originals::{self, Keeping, Unsealed};
use crate::plan::{DispatchPlan, PlannedOutput};
use crate::result_questions::WaitingResults;
use crate::storage::RecordError;

/// How long before the call's own deadline a question ends: the masked result is told in time.
const BEFORE_DEADLINE_MS: i64 = 2_000;
/// How long beyond its question a sealed original is there: until it is given out.
const ORIGINAL_MS: i64 = 10 * 60 * 1000;
/// Most characters of the masked output that the question shows.
const SHOWN: usize = 400;

/// What a question left.
pub(super) struct Settled {
    /// The ending, as it is told.
    pub(super) report: Box<Report>,
    /// What a person said.
    pub(super) answer: Option<PermissionDecision>,
    /// Addresses that go unless the result names them.
    pub(super) replaced: Vec<String>,
}

/// Whether a person is asked about what was found.
pub(super) fn is_asked(found: &[Cleaned]) -> bool {
    let of = |treatment: Treatment| found.iter().any(|found| found.treatment == treatment.as_str());
    // Of an output that is dropped there is nothing to give out.
    of(Treatment::Ask) && !of(Treatment::Drop)
}

/// What follows from an answer, or from none.
enum Word {
    Released,
    /// For this reason.
    Masked(&'static str),
}

impl Endings {
    /// Asks people about a cleaned report in which something [is asked about](is_asked), and whose `original` is sealed. What the record says of it is added to `notes`.
    pub(super) async fn question(
        &self,
        record: &Invocation,
        outcome: &v1::ExecutionOutcome,
        found: &[Cleaned],
        original: &mut Keeping,
        notes: &mut Vec<String>,
    ) -> Result<Option<ResultQuestion>, RecordError> {
        let now = self.0.calls.now().await?;
        let why = match self.put(record, outcome, found, original, now).await {
            Ok(question) => {
                if let Keeping::Kept(kept) = original {
                    kept.expires_at = kept.expires_at.max(question.expires_at.plus_millis(ORIGINAL_MS));
                }
                return Ok(Some(question));
            }
            Err(why) => why,
        };
        tracing::warn!(invocation_id = %record.invocation_id, why, "nobody can be asked about a result; it ends masked");
        notes.push(format!("ask:not_possible:{why}"));
        match original {
            Keeping::Kept(kept) if kept.only_asked => {
                for part in &kept.parts {
                    originals::forget(&self.0.payloads, part).await;
                }
                *original = Keeping::Unwanted;
            }
            Keeping::Not(_) if !self.0.originals.is_wanted_for(record, found) => *original = Keeping::Unwanted,
            _ => {}
        }
        Ok(None)
    }

    /// Puts the question; gives a word that says why where that is not possible.
    async fn put(
        &self,
        record: &Invocation,
        outcome: &v1::ExecutionOutcome,
        found: &[Cleaned],
        original: &Keeping,
        now: Timestamp,
    ) -> Result<ResultQuestion, &'static str> {
        let kept = match original {
            Keeping::Kept(kept) => kept,
            Keeping::Not(why) => return Err(why),
            Keeping::Unwanted => return Err("no_original"),
        };
        let questions = self.0.questions.as_ref().ok_or("no_approver")?;
        if record.cancel.is_some() {
            return Err("canceled");
        }
        if record.safety.is_idempotent && (outcome.is_error || outcome.error.is_some()) {
            // It may be executed again; nobody is asked about each try.
            return Err("failed");
        }
        let until = record.deadline_at.map(|deadline| deadline.plus_millis(-BEFORE_DEADLINE_MS));
        if until.is_some_and(|until| until <= now) {
            return Err("no_time");
        }
        let digest = kept.parts.first().ok_or("no_original")?.sealed.digest;
        let asked = questions.ask(record, (text(record, outcome, found), digest), until).await;
        asked.unwrap_or_else(|error| {
            tracing::warn!(invocation_id = %record.invocation_id, %error, "a question about a result could not be put");
            Err("unavailable")
        })
    }

    /// The question of a stored ending as it is now, and what follows; nothing follows while it is waited for.
    async fn word(
        &self,
        record: &Invocation,
        stored: &StoredReport,
    ) -> Result<(Option<Approval>, Option<Word>), RecordError> {
        let now = self.0.calls.now().await?;
        let (id, until) = (ApprovalId::from_trusted(&stored.approval_id), Timestamp::from_millis(stored.asked_until));
        let found = match &self.0.questions {
            Some(questions) => questions.get(&record.tenant, &id).await,
            None => Ok(None),
        };
        let approval = match found {
            Ok(approval) => approval,
            Err(error) if now < until => {
                tracing::warn!(invocation_id = %record.invocation_id, %error, "an answer could not be asked for; trying again later");
                return Ok((None, None));
            }
            Err(_) => None,
        };
        let word = match &approval {
            _ if record.cancel.is_some() => Some(Word::Masked("canceled")),
            None => Some(Word::Masked("question_gone")),
            Some(approval) => match approval.state {
                ApprovalState::Pending if now < until => None,
                ApprovalState::Approved if is_yes(approval) => Some(Word::Released),
                ApprovalState::Approved => Some(Word::Masked("not_a_plain_yes")),
                ApprovalState::Rejected => Some(Word::Masked("refused")),
                ApprovalState::Withdrawn => Some(Word::Masked("withdrawn")),
                _ => Some(Word::Masked("no_answer")),
            },
        };
        Ok((approval, word))
    }

    /// What the question of a stored ending left; nothing while it is waited for.
    pub(super) async fn settled(
        &self,
        record: &Arc<Invocation>,
        plan: Option<&DispatchPlan>,
        mut stored: StoredReport,
    ) -> Result<Option<Settled>, RecordError> {
        let (approval, word) = self.word(record, &stored).await?;
        let is_pending = approval.as_ref().is_some_and(|approval| approval.state == ApprovalState::Pending);
        let answer = approval.and_then(|approval| approval.resolution);
        let why = match word {
            None => return Ok(None),
            Some(Word::Masked(why)) => why,
            Some(Word::Released) => {
                let now = self.0.calls.now().await?;
                match self.release(record, plan, &stored, now).await? {
                    Ok((report, replaced)) => return Ok(Some(Settled { report, answer, replaced })),
                    Err(why) => why,
                }
            }
        };
        if let (Some(questions), true) = (&self.0.questions, is_pending) {
            let id = ApprovalId::from_trusted(&stored.approval_id);
            questions.withdraw(&record.tenant, &id, "the result ends masked").await;
        }
        stored.notes.push(format!("ask:masked:{why}"));
        let report = self.read_stored(record, plan, stored).await?;
        Ok(Some(Settled { report, answer, replaced: Vec::new() }))
    }

    /// The report as it came, but for what nobody was asked about; a word that says why where it cannot be read.
    async fn release(
        &self,
        record: &Arc<Invocation>,
        plan: Option<&DispatchPlan>,
        stored: &StoredReport,
        now: Timestamp,
    ) -> Result<Result<(Box<Report>, Vec<String>), &'static str>, RecordError> {
        let inner = &self.0;
        let kept = inner.calls.records().original(&record.key()).await?;
        let Some(kept) = kept.filter(|kept| kept.lease_no == record.lease_no) else { return Ok(Err("original_gone")) };
        let (mut outcome, back) = match inner.originals.put_back(&inner.payloads, record, &kept, now).await {
            Ok(back) => back,
            Err(Unsealed::Vault(_)) => return Ok(Err("no_key")),
            Err(Unsealed::Objects(PayloadError::NotFound { .. } | PayloadError::Expired { .. })) => {
                return Ok(Err("original_gone"));
            }
            Err(Unsealed::Objects(error)) => return Err(RecordError::Objects(error)),
        };
        let nothing = PlannedOutput::default();
        let of = (&**record, plan.map_or(&nothing, |plan| &plan.declared));
        let cleaned = inner.cleaning.released(&inner.payloads, of, record.lease_no, &mut outcome, now).await;
        let cleaned = cleaned.map_err(RecordError::Objects)?;
        outcome.site = stored.outcome.as_ref().and_then(|stored| stored.site.clone());
        let asked = stored.cleaned().into_iter().filter(|found| found.treatment == Treatment::Ask.as_str());
        let released = asked.map(|found| Cleaned { treatment: SmolStr::new_static("released"), ..found });
        let found: Vec<Cleaned> = cleaned.found.into_iter().chain(released).collect();
        let notes = stored.notes.iter().cloned().chain(["ask:released".to_owned()]).collect();
        let progress_left_out = stored.progress_left_out;
        let ending = StoredReport { outcome: Some(Box::new(outcome)), progress_left_out, notes, ..Default::default() };
        let report = self.read_stored(record, plan, ending.with_cleaned(&found)).await?;
        Ok(Ok((report, back.into_iter().chain(cleaned.replaced).collect())))
    }

    /// The ending of a call whose result a person is asked about.
    async fn asked_about(&self, id: &InvocationKey) -> Result<Option<(Arc<Invocation>, StoredReport)>, RecordError> {
        let record = match self.0.calls.records().get(id).await {
            Ok(record) if record.status == InvocationStatus::PostHooksRunning => record,
            Ok(_) | Err(RecordError::NotFound) => return Ok(None),
            Err(error) => return Err(error),
        };
        let stored = StoredReport::read(self.0.calls.records().ending(id).await?);
        Ok(stored.is_question().then_some((record, stored)))
    }

    /// Whether nobody has said yet what is to become of the result of a call.
    pub(super) async fn waits_for_a_person(&self, id: &InvocationKey) -> Result<bool, RecordError> {
        let Some((record, stored)) = self.asked_about(id).await? else { return Ok(false) };
        Ok(self.word(&record, &stored).await?.1.is_none())
    }

    /// Goes on with a call whose result waits for the answer to `approval_id`, or to whatever question, once there is one; says whether
    /// the call waits for that. Of the schedulers that hear an answer one goes on.
    pub(super) async fn goes_on(
        &self,
        id: &InvocationKey,
        approval_id: Option<&ApprovalId>,
    ) -> Result<bool, RecordError> {
        let Some((record, stored)) = self.asked_about(id).await? else { return Ok(false) };
        if approval_id.is_some_and(|approval_id| approval_id.as_str() != stored.approval_id) {
            return Ok(false);
        }
        if self.word(&record, &stored).await?.1.is_none() {
            return Ok(true);
        }
        let plan = self.0.calls.plans().of(&record).await?;
        let report = self.read_stored(&record, plan.as_deref(), stored).await?;
        let due_at = self.due_at(plan.as_deref(), &report).await?;
        // Whoever comes second finds it taken, and that it is not due.
        let untaken = |record: &Invocation| record.post_hooks.is_some_and(|asked| asked.tries == 1);
        let take = |record: &Invocation| Command::TakeHooks { due_at, alone: untaken(record) };
        match self.0.calls.command(id, take).await {
            Ok(_) => {
                let (endings, id) = (self.clone(), id.clone());
                self.0.calls.storage().environment().spawn(async move { endings.conclude(&id).await });
            }
            Err(RecordError::Refused { .. } | RecordError::NotFound) => {}
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// The same, when nobody waits for what follows: whatever fails is tried again.
    pub(super) async fn look_at_answer(&self, id: &InvocationKey) {
        if let Err(error) = self.goes_on(id, None).await {
            tracing::warn!(invocation_id = %id, %error, "an answer about a result could not be looked for; trying again later");
        }
    }

    /// A question was put about a report that is not taken.
    pub(super) async fn not_waited_for(&self, lease: &LeaseKey, question: &ResultQuestion) {
        if let Some(questions) = &self.0.questions {
            questions.withdraw(&lease.tenant, &question.approval_id, "the call has ended otherwise").await;
        }
    }
}

impl WaitingResults for Endings {
    fn answered<'a>(
        &'a self,
        id: &'a InvocationKey,
        approval_id: Option<&'a ApprovalId>,
    ) -> BoxFuture<'a, Result<bool, RecordError>> {
        Box::pin(self.goes_on(id, approval_id))
    }
}

/// Whether a person said yes to what was asked, and not to something else.
fn is_yes(approval: &Approval) -> bool {
    let allowed = |answer: &PermissionDecision| answer.behavior == Behavior::Allow && answer.updated_input.is_none();
    approval.updated_input.is_none() && approval.resolution.as_ref().is_some_and(allowed)
}

fn places(count: u64) -> String {
    if count == 1 { "1 place".to_owned() } else { format!("{count} places") }
}

/// What people are asked: what was found, and how the masked output begins.
fn text(record: &Invocation, outcome: &v1::ExecutionOutcome, found: &[Cleaned]) -> String {
    let asked = found.iter().filter(|found| found.treatment == Treatment::Ask.as_str());
    let asked: Vec<String> =
        asked.map(|found| format!("{} ({}) in {}", found.rule, found.class, places(found.places))).collect();
    let texts = outcome.content.iter().filter_map(|block| ContentBlock::try_from(block.clone()).ok());
    let shown: Vec<String> = texts.filter_map(|block| text_of(&block).map(str::to_owned)).collect();
    let left: Vec<String> = outcome.artifact_refs.iter().map(|left| format!("`{}`", left.artifact_id)).collect();
    let with = if left.is_empty() { String::new() } else { format!(" and the files {}", cut(&left.join(", "), SHOWN)) };
    let begins = match shown.join("\n") {
        text if text.is_empty() => "Nothing of it is text that is shown.".to_owned(),
        text => format!("Masked, it begins: {}", cut(&text, SHOWN)),
    };
    format!(
        "the result of `{}`{with} is to be given out, and holds {}. Approve to give it out as it is, reject to give it out masked. {begins}",
        record.tool_name,
        asked.join(", "),
    )
}
