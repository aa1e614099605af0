//! Showing, adding, revoking and reloading rules.

use prost::Message as _;
use tonic::Request;
use toolplane_proto::convert::field;
use toolplane_proto::v1;
use toolplane_records::rule::PermissionRule;
use toolplane_records::vocabulary::RuleSource;
use toolplane_runtime::{ApiError, Caller, page};
use uuid::Uuid;

use super::api::{MAX_NAME_CHARS, MAX_TEXT_CHARS, PermissionApi, bounded};
use crate::error::of_field;
use crate::rules::Addition;
use crate::rules::change::is_visible;

/// Most rules of one request, before they are read.
const MAX_RULES: usize = 10_000;

pub(super) async fn list(
    api: &PermissionApi,
    request: Request<v1::ListRulesRequest>,
) -> Result<v1::ListRulesResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    let tenant = caller.tenant_named(&request.tenant)?;
    let size = page::size(request.page_size)?;
    let source = match request.source.as_str() {
        "" => None,
        text => {
            Some(text.parse::<RuleSource>().map_err(|_| ApiError::invalid_argument("source", "is no rule source"))?)
        }
    };
    let active = api.rules.current().await?;
    let ended = if request.include_ended { api.rules.ended_rules(&tenant).await? } else { Vec::new() };
    // Bound to the number of ended rules too: a place in one list is no place in another.
    let filter = (source, &request.tenant, request.include_ended.then_some(ended.len()));
    let scope = ("ListRules", active.digest(), &tenant, filter);
    let start = page::position(&scope, &request.page_token)?.and_then(|place| place.parse().ok()).unwrap_or(0_usize);
    let wanted = |rule: &&PermissionRule| {
        let own = request.tenant.is_empty() || rule.scope.tenant == request.tenant;
        own && is_visible(rule, &tenant) && source.is_none_or(|source| rule.source == source)
    };
    let rules: Vec<&PermissionRule> = active.rules().iter().chain(&ended).filter(wanted).collect();
    let shown = rules.get(start..).unwrap_or_default().iter().map(|rule| listed(rule));
    let shown = page::fill(shown, size, v1::PermissionRule::encoded_len);
    let end = start.saturating_add(shown.len());
    Ok(v1::ListRulesResponse {
        rules: shown,
        next_page_token: if end < rules.len() { page::token(&scope, &end.to_string()) } else { String::new() },
        policy_digest: active.digest().to_owned(),
        faults: api.rules.fault().iter().flat_map(|faults| &faults.0).map(ToString::to_string).collect(),
    })
}

/// A rule in a list: without the registration it is bound to, which may be as large as all the rest.
fn listed(rule: &PermissionRule) -> v1::PermissionRule {
    let mut shown = v1::PermissionRule::from(rule);
    if let Some(pin) = &mut shown.pin {
        pin.registration = None;
    }
    shown
}

pub(super) async fn add(
    api: &PermissionApi,
    request: Request<v1::AddRulesRequest>,
) -> Result<v1::AddRulesResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    if request.rules.len() > MAX_RULES {
        return Err(ApiError::invalid_argument("rules", format!("may be at most {MAX_RULES}")));
    }
    let request_id = match request.request_id.as_str() {
        "" => None,
        text => Some(Uuid::parse_str(text).map_err(|_| ApiError::invalid_argument("request_id", "must be a UUID"))?),
    };
    let rules = field::list("rules", request.rules).map_err(of_field)?;
    let author = caller.authenticated.then(|| name_of(&caller));
    let addition = Addition { tenant: caller.tenant.clone(), author, rules, request_id };
    let (rules, policy_digest) = api.rules.add(addition, request.validate_only).await?;
    Ok(v1::AddRulesResponse { rules: rules.iter().map(Into::into).collect(), policy_digest })
}

pub(super) async fn revoke(
    api: &PermissionApi,
    request: Request<v1::RevokeRuleRequest>,
) -> Result<v1::RevokeRuleResponse, ApiError> {
    let caller = Caller::of(&request);
    let request = request.into_inner();
    bounded("rule_id", &request.rule_id, MAX_NAME_CHARS)?;
    bounded("reason", &request.reason, MAX_TEXT_CHARS)?;
    if request.rule_id.is_empty() {
        return Err(ApiError::invalid_argument("rule_id", "is required"));
    }
    let (rule, policy_digest) =
        api.rules.revoke(&caller.tenant, &request.rule_id, &name_of(&caller), &request.reason).await?;
    Ok(v1::RevokeRuleResponse { rule: Some((&rule).into()), policy_digest })
}

pub(super) async fn reload(
    api: &PermissionApi,
    request: Request<v1::ReloadRulesRequest>,
) -> Result<v1::ReloadRulesResponse, ApiError> {
    let active = api.rules.reload(request.get_ref().validate_only).await?;
    Ok(v1::ReloadRulesResponse {
        policy_digest: active.digest().to_owned(),
        rules: u32::try_from(active.rules().len()).unwrap_or(u32::MAX),
    })
}

/// Who a caller is, for the record.
fn name_of(caller: &Caller) -> String {
    caller.actor.clone().unwrap_or_else(|| caller.caller_ref.clone())
}
