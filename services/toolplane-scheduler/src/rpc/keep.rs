//! Holds and deletions, as operators ask for them.

use toolplane_proto::convert::field::instant;
use toolplane_proto::v1;
use toolplane_proto::v1::legal_hold::Scope;
use toolplane_records::SmolStr;
use toolplane_records::ids::{InvocationId, InvocationKey};
use toolplane_runtime::Caller;

use crate::calls::{CallFilter, Calls};
use crate::error::CallError;
use crate::keeping::{DeletionRequest, Deletions, HoldScope, Holds, LegalHold, Undeleted};
use crate::storage::RecordError;

/// Longest reason, in bytes.
const MAX_REASON: usize = 1_000;
/// Calls of a session that are looked at at once.
const PAGE: usize = 200;
/// Most calls one request deletes.
const MOST: usize = 10_000;

/// The handlers of holds and deletions.
#[derive(Clone, Debug)]
pub(super) struct Keeping {
    pub(super) calls: Calls,
    pub(super) holds: Holds,
    pub(super) deletions: Deletions,
}

impl Keeping {
    /// Puts a hold on something.
    pub(super) async fn set(
        &self,
        caller: &Caller,
        request: v1::SetLegalHoldRequest,
    ) -> Result<v1::SetLegalHoldResponse, CallError> {
        let scope = scope(request.scope.map(scope_of_set))?;
        self.is_there(caller, &scope).await?;
        let hold = LegalHold {
            scope,
            reason: reason(request.reason)?,
            set_by: doer(caller, &request.requested_by),
            set_at: self.calls.now().await?,
        };
        if !self.holds.set(&caller.tenant, &hold).await? {
            return Err(CallError::Precondition("the tenant has as many holds as there may be".to_owned()));
        }
        // One that was there before stays as it is.
        let all = self.holds.of(&caller.tenant).await?;
        let kept = all.into_iter().find(|known| known.scope == hold.scope).unwrap_or(hold.clone());
        // Whoever cleared it for the reason they know would let go of what somebody else relies on.
        if kept.reason != hold.reason {
            let which = format!("since {}{}: {}", kept.set_at, by(&kept.set_by), kept.reason);
            return Err(CallError::HeldOtherwise(which));
        }
        Ok(v1::SetLegalHoldResponse { hold: Some(message(&kept)) })
    }

    /// A hold on a call that is gone, or that never was, would be taken for the call being kept. A damaged one is held.
    async fn is_there(&self, caller: &Caller, scope: &HoldScope) -> Result<(), CallError> {
        let HoldScope::Invocation(id) = scope else { return Ok(()) };
        let key = InvocationKey::new(&caller.tenant, id);
        match self.calls.records().get(&key).await {
            Err(RecordError::NotFound) => Err(self.gone(&key).await?),
            _ => Ok(()),
        }
    }

    /// What became of a call that is not there.
    async fn gone(&self, key: &InvocationKey) -> Result<CallError, CallError> {
        Ok(match self.deletions.tombstone(key).await? {
            Some(left) => CallError::Precondition(format!(
                "it was deleted at {}{}: {}",
                left.deleted_at,
                by(&left.deleted_by),
                left.reason
            )),
            None => CallError::NotFound { kind: "invocation", id: key.id.to_string() },
        })
    }

    /// Takes a hold away.
    pub(super) async fn clear(
        &self,
        caller: &Caller,
        request: v1::ClearLegalHoldRequest,
    ) -> Result<v1::ClearLegalHoldResponse, CallError> {
        let scope = scope(request.scope.map(scope_of_clear))?;
        match self.holds.clear(&caller.tenant, &scope).await? {
            true => {
                let by = doer(caller, &request.requested_by);
                tracing::info!(tenant = %caller.tenant, by, scope = ?scope, "a hold was cleared");
                Ok(v1::ClearLegalHoldResponse {})
            }
            false => Err(CallError::NotFound { kind: "hold", id: shown(&scope) }),
        }
    }

    /// All holds of the caller's tenant.
    pub(super) async fn list(&self, caller: &Caller) -> Result<v1::ListLegalHoldsResponse, CallError> {
        let holds = self.holds.of(&caller.tenant).await?;
        Ok(v1::ListLegalHoldsResponse { holds: holds.iter().map(message).collect() })
    }

    /// Deletes a call, or the calls of a session that have ended.
    pub(super) async fn delete(
        &self,
        caller: &Caller,
        request: v1::DeleteInvocationsRequest,
    ) -> Result<v1::DeleteInvocationsResponse, CallError> {
        let reason = reason(request.reason)?;
        let by = doer(caller, &request.requested_by);
        let asked = DeletionRequest { by: &by, reason: &reason };
        let mut answer = v1::DeleteInvocationsResponse::default();
        if let Some(v1::delete_invocations_request::What::InvocationId(id)) = &request.what {
            let parsed =
                InvocationId::parse(id).map_err(|rule| CallError::invalid("invocation_id", rule.to_string()))?;
            match self.deletions.delete(&InvocationKey::new(&caller.tenant, &parsed), asked).await {
                Ok(_) => answer.deleted = 1,
                Err(Undeleted::NotFound) => {
                    return Err(self.gone(&InvocationKey::new(&caller.tenant, &parsed)).await?);
                }
                Err(Undeleted::Held) => return Err(CallError::Held { id: id.clone() }),
                Err(refused @ Undeleted::Living(_)) => return Err(CallError::Precondition(refused.to_string())),
                Err(Undeleted::Record(error)) => return Err(error.into()),
            }
            return Ok(answer);
        }
        let Some(v1::delete_invocations_request::What::SessionRef(session)) = &request.what else {
            return Err(CallError::invalid("what", "must name a call or a session"));
        };
        if session.is_empty() {
            return Err(CallError::invalid("session_ref", "must not be empty"));
        }
        self.delete_session(caller, session, asked, &mut answer).await?;
        Ok(answer)
    }

    async fn delete_session(
        &self,
        caller: &Caller,
        session: &str,
        asked: DeletionRequest<'_>,
        answer: &mut v1::DeleteInvocationsResponse,
    ) -> Result<(), CallError> {
        let filter = CallFilter { session_ref: Some(SmolStr::from(session)), ..CallFilter::default() };
        let mut after = None;
        loop {
            let found = self.calls.records().list(&caller.tenant, &filter, after, PAGE).await?;
            for record in &found.records {
                match self.deletions.delete(&record.key(), asked).await {
                    Ok(_) => answer.deleted += 1,
                    Err(Undeleted::NotFound) => {}
                    Err(Undeleted::Held) => answer.held += 1,
                    Err(Undeleted::Living(_)) => answer.living += 1,
                    Err(Undeleted::Record(error)) => return Err(error.into()),
                }
            }
            after = found.next;
            answer.more = after.is_some();
            if after.is_none() || usize::try_from(answer.deleted).is_ok_and(|deleted| deleted >= MOST) {
                return Ok(());
            }
        }
    }
}

/// Who asks, as records name them.
fn doer(caller: &Caller, said: &str) -> String {
    caller.doer(said).chars().take(256).collect()
}

/// Who did it, where that is known.
fn by(who: &str) -> String {
    if who.is_empty() { String::new() } else { format!(" by {who}") }
}

fn reason(reason: String) -> Result<String, CallError> {
    match reason.trim() {
        "" => Err(CallError::invalid("reason", "must be given")),
        _ if reason.len() > MAX_REASON => {
            Err(CallError::invalid("reason", format!("must be at most {MAX_REASON} bytes")))
        }
        _ => Ok(reason),
    }
}

fn scope_of_set(scope: v1::set_legal_hold_request::Scope) -> Scope {
    match scope {
        v1::set_legal_hold_request::Scope::Tenant(all) => Scope::Tenant(all),
        v1::set_legal_hold_request::Scope::SessionRef(session) => Scope::SessionRef(session),
        v1::set_legal_hold_request::Scope::InvocationId(id) => Scope::InvocationId(id),
    }
}

fn scope_of_clear(scope: v1::clear_legal_hold_request::Scope) -> Scope {
    match scope {
        v1::clear_legal_hold_request::Scope::Tenant(all) => Scope::Tenant(all),
        v1::clear_legal_hold_request::Scope::SessionRef(session) => Scope::SessionRef(session),
        v1::clear_legal_hold_request::Scope::InvocationId(id) => Scope::InvocationId(id),
    }
}

fn scope(scope: Option<Scope>) -> Result<HoldScope, CallError> {
    match scope {
        Some(Scope::Tenant(true)) => Ok(HoldScope::Tenant),
        Some(Scope::SessionRef(session)) if (1..=256).contains(&session.len()) => {
            Ok(HoldScope::Session(session.into()))
        }
        Some(Scope::InvocationId(id)) => InvocationId::parse(&id)
            .map(HoldScope::Invocation)
            .map_err(|rule| CallError::invalid("invocation_id", rule.to_string())),
        _ => Err(CallError::invalid("scope", "must be the tenant, a session or a call")),
    }
}

fn shown(scope: &HoldScope) -> String {
    match scope {
        HoldScope::Tenant => "tenant".to_owned(),
        HoldScope::Session(session) => session.to_string(),
        HoldScope::Invocation(id) => id.to_string(),
    }
}

fn message(hold: &LegalHold) -> v1::LegalHold {
    let scope = match &hold.scope {
        HoldScope::Tenant => Scope::Tenant(true),
        HoldScope::Session(session) => Scope::SessionRef(session.to_string()),
        HoldScope::Invocation(id) => Scope::InvocationId(id.to_string()),
    };
    v1::LegalHold {
        scope: Some(scope),
        reason: hold.reason.clone(),
        set_by: hold.set_by.clone(),
        set_at: instant(hold.set_at),
    }
}
