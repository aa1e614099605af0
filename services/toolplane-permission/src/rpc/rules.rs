//! Showing the rules in force.

use toolplane_policy::Rule;
use toolplane_proto::convert::word::Word as _;
use toolplane_proto::v1;
use toolplane_runtime::ApiError;

use super::PermissionApi;
use toolplane_runtime::page;

pub(super) fn list(api: &PermissionApi, request: &v1::ListRulesRequest) -> Result<v1::ListRulesResponse, ApiError> {
    let size = page::size(request.page_size)?;
    let scope = ("ListRules", api.decider.policy_digest());
    let start = page::position(&scope, &request.page_token)?.and_then(|place| place.parse().ok()).unwrap_or(0_usize);
    let rules = api.decider.rules().rules();
    let end = start.saturating_add(size).min(rules.len());
    let more = end < rules.len();
    Ok(v1::ListRulesResponse {
        rules: rules.get(start..end).unwrap_or_default().iter().map(shown).collect(),
        next_page_token: if more { page::token(&scope, &end.to_string()) } else { String::new() },
        policy_digest: api.decider.policy_digest().to_owned(),
    })
}

fn shown(rule: &Rule) -> v1::PermissionRule {
    v1::PermissionRule {
        rule_id: rule.id.clone(),
        source: rule.source.as_str().to_owned(),
        source_code: rule.source.number(),
        behavior: rule.behavior.number(),
        matcher: rule.matcher.to_string(),
        reason: rule.reason.clone(),
    }
}
