//! What a question offers as answers, and the rules an `always` brings.

use serde::Deserialize;
use toolplane_records::approval::{Approval, ApprovalOption};
use toolplane_records::decision::PermissionDecision;
use toolplane_records::payload::{Digest, JsonPayload};
use toolplane_records::rule::{PermissionRule, RulePin};
use toolplane_records::time::Timestamp;
use toolplane_records::vocabulary::{Behavior, PermissionOption, RiskLevel, RuleSource};

use super::{Answer, BookError};
use crate::rules::stored;

/// Largest registration that is kept with a rule, in bytes. Without it a change is still noticed, and cannot be shown.
const MAX_KEPT_REGISTRATION: u64 = 16 * 1024;

/// The part of a suggested update that is read again when it is accepted.
#[derive(Debug, Deserialize)]
struct Suggestion {
    #[serde(default)]
    suggestion_id: String,
    #[serde(default)]
    destination: String,
    #[serde(default)]
    rules: Vec<PermissionRule>,
}

/// The answers a question offers, in the order to offer them. `always` needs a suggested update that says how far it
/// reaches, and nothing may always be allowed whose risk is critical.
pub(crate) fn options(
    request: &PermissionDecision,
    session: Option<&str>,
    actor: &str,
    risk: Option<RiskLevel>,
) -> Vec<ApprovalOption> {
    let suggestion = suggestions(request, session, actor).into_iter().next();
    let option = |kind: PermissionOption, name: &str, suggestion_id: &str| ApprovalOption {
        option_id: kind.as_str().to_owned(),
        name: name.to_owned(),
        kind,
        suggestion_id: suggestion_id.to_owned(),
    };
    let mut offered = vec![option(PermissionOption::AllowOnce, "Allow once", "")];
    let narrowest = suggestion.as_ref().map(|suggestion| suggestion.suggestion_id.as_str());
    if let Some(id) = narrowest.filter(|_| risk != Some(RiskLevel::Critical)) {
        offered.push(option(PermissionOption::AllowAlways, "Allow always", id));
    }
    offered.push(option(PermissionOption::RejectOnce, "Reject once", ""));
    if let Some(id) = narrowest {
        offered.push(option(PermissionOption::RejectAlways, "Reject always", id));
    }
    offered
}

/// The suggested updates that can be accepted. One for a session or an actor needs one: without it, it would be for
/// every caller.
fn suggestions(request: &PermissionDecision, session: Option<&str>, actor: &str) -> Vec<Suggestion> {
    let read = request.suggested_updates.iter().filter_map(|update| update.parse::<Suggestion>().ok());
    let of_no_session = |suggestion: &Suggestion| session.is_none() && suggestion.source() == Some(RuleSource::Session);
    let of_nobody = |suggestion: &Suggestion| actor.is_empty() && suggestion.source() == Some(RuleSource::UserSettings);
    read.filter(|suggestion| !suggestion.rules.is_empty() && !of_no_session(suggestion) && !of_nobody(suggestion))
        .collect()
}

impl Suggestion {
    fn source(&self) -> Option<RuleSource> {
        self.destination.parse().ok().or_else(|| self.rules.first().map(|rule| rule.source))
    }
}

/// The rules that come into force with an answer: none unless it is an `always`.
///
/// They are those of the suggested update, bound to the tenant of the call, to its session where the update is for the session
/// only, to its actor where it is for that, and, when they allow, to the declaration of the tool. An update that was suggested as an allow is turned round to be rejected always.
pub(crate) fn accepted_rules(
    approval: &Approval,
    answer: &Answer,
    now: Timestamp,
) -> Result<Vec<PermissionRule>, BookError> {
    if !approval.options.iter().any(|offered| offered.kind == answer.option) && answer.option.is_always() {
        return Err(refused("option", format!("`{}` is not offered by this approval", answer.option.as_str())));
    }
    if !answer.option.is_always() {
        let rule = "goes only with an `always` option".to_owned();
        return if answer.suggestion_id.is_empty() { Ok(Vec::new()) } else { Err(refused("suggestion_id", rule)) };
    }
    let wanted =
        |suggestion: &Suggestion| answer.suggestion_id.is_empty() || suggestion.suggestion_id == answer.suggestion_id;
    let suggestion =
        suggestions(&approval.request, approval.session_ref.as_deref(), &approval.actor_ref).into_iter().find(wanted);
    let suggestion =
        suggestion.ok_or_else(|| refused("suggestion_id", "names no suggestion of this approval".to_owned()))?;
    let source = suggestion.source();
    Ok(suggestion.rules.into_iter().map(|rule| accepted(approval, answer, source, rule, now)).collect())
}

fn accepted(
    approval: &Approval,
    answer: &Answer,
    destination: Option<RuleSource>,
    mut rule: PermissionRule,
    now: Timestamp,
) -> PermissionRule {
    rule.rule_id.clear();
    rule.source = destination.unwrap_or(rule.source);
    if answer.option.allows() {
        rule.behavior = Behavior::Allow;
    } else {
        rule.behavior = Behavior::Deny;
        // They said how far the allow reaches; a deny reaches whatever may be meant.
        rule.not_matches.clear();
    }
    rule.pin = answer.option.allows().then(|| pin(approval));
    rule.scope.tenant = approval.tenant.to_string();
    if rule.source == RuleSource::UserSettings {
        rule.scope.actor.clone_from(&approval.actor_ref);
    }
    if rule.source == RuleSource::Session {
        rule.scope.session = approval.session_ref.clone().unwrap_or_default();
    }
    // Named by what it says, so that two answers with different rules are told apart.
    let said = Digest::of(JsonPayload::of(&rule).bytes()).hex();
    rule.rule_id = stored::rule_id(&approval.tenant, &format!("{}.{}", approval.approval_id, &said[..8]));
    if rule.reason.is_empty() {
        rule.reason = format!("accepted with the answer to approval {}", approval.approval_id);
    }
    rule.author.clone_from(&answer.by.name);
    rule.created_at = Some(now);
    rule.origin = stored::ORIGIN.to_owned();
    rule
}

/// The tool as the person saw it. A yes is about that, and not about what the tool is made into later.
fn pin(approval: &Approval) -> RulePin {
    RulePin {
        declaration_digest: approval.declaration_digest,
        registration: approval.tool_registration.clone().filter(|json| json.size() <= MAX_KEPT_REGISTRATION),
    }
}

fn refused(field: &'static str, rule: String) -> BookError {
    BookError::NotOffered { field, rule }
}
