//! What a person says about tools, made durable: what is approved is entered into the catalogue.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use toolplane_catalog::Registration;
use toolplane_providers::review::{Answer, Wanted, answer_all};
use toolplane_providers::{ReviewRefusal, counts};
use toolplane_records::codes::{self, Code};
use toolplane_records::ids::{ProviderId, TenantId, ToolId};
use toolplane_records::provider::ProvidedTool;
use toolplane_records::vocabulary::{EventClass, ReviewState};
use toolplane_runtime::ApiError;

use super::Providers;
use super::change::{Change, PutTool, ToolChange};
use super::held::Held;
use super::turn::there;
use crate::events::facts;

/// What came of an answer about one tool.
#[derive(Clone, Debug)]
pub(crate) enum Reviewed {
    /// It counts.
    Counts(Box<ProvidedTool>),
    /// It does not.
    Refused { code: Code, message: String },
}

impl Providers {
    /// Takes in an answer about tools of a provider, each judged alone, in the order given. Answered when schedulers know.
    pub(crate) async fn review(
        &self,
        tenant: &TenantId,
        id: &ProviderId,
        wanted: Vec<Wanted>,
        answer: Answer,
    ) -> Result<Vec<Reviewed>, ApiError> {
        let (providers, own, asked) = (self.clone(), id.clone(), Arc::new((wanted, answer)));
        self.in_turn(tenant, id, move |held| {
            let (providers, held, asked) = (providers.clone(), there(held, &own), Arc::clone(&asked));
            Box::pin(async move { providers.reviewed(&held?, &asked.0, &asked.1).await })
        })
        .await
    }

    async fn reviewed(
        &self,
        held: &Arc<Held>,
        wanted: &[Wanted],
        answer: &Answer,
    ) -> Result<Option<Vec<Reviewed>>, ApiError> {
        let tenant = &held.provider.tenant;
        let owner = self.owner(held);
        let (answered, definitions) = {
            let catalog = owner.catalog.read();
            let answered = answer_all(&held.known(&catalog), wanted, answer);
            let definition =
                |wanted: &Wanted| Some((wanted.tool_id.clone(), held.definition(&wanted.tool_id, &catalog)?));
            let definitions: BTreeMap<ToolId, Arc<Registration>> = wanted.iter().filter_map(definition).collect();
            (answered, definitions)
        };
        let approved = answered.iter().flatten().filter(|record| record.state == ReviewState::Approved);
        let entering = approved.filter_map(|record| definitions.get(&record.tool_id).cloned()).collect();
        let entered = self.enter(tenant, entering).await?;
        let mut reviewed = Vec::with_capacity(answered.len());
        let mut changes: BTreeMap<ToolId, ToolChange> = BTreeMap::new();
        for (wanted, outcome) in wanted.iter().zip(answered) {
            let tool_id = &wanted.tool_id;
            let record = match outcome {
                Ok(record) => record,
                Err(refusal) => {
                    reviewed.push(refused(&refusal));
                    continue;
                }
            };
            let known = held.tools.get(tool_id);
            let is_approved = record.state == ReviewState::Approved;
            let registered = entered.registered.get(tool_id).copied();
            if is_approved && registered.is_none() {
                let why = entered.refused.get(tool_id).cloned();
                let message =
                    why.unwrap_or_else(|| "its definition is not known any more: refresh the provider".to_owned());
                reviewed.push(Reviewed::Refused { code: codes::INVALID_ARGUMENT, message });
                continue;
            }
            reviewed.push(Reviewed::Counts(Box::new(record.clone())));
            if known.and_then(|known| known.record.read()) == Some(&record) {
                continue;
            }
            let registered = registered.or(known.and_then(|known| known.registered));
            let definition = definitions.get(tool_id).filter(|_| !is_approved).cloned();
            let put = PutTool { tool: record, registered, definition };
            changes.insert(tool_id.clone(), ToolChange::Put(Box::new(put)));
        }
        if changes.is_empty() {
            return Ok(Some(reviewed));
        }
        let made = self.change(Some(held), of_review(held, changes, answer), answer.at).await?;
        Ok(made.map(|_| reviewed))
    }
}

fn of_review(held: &Held, changes: BTreeMap<ToolId, ToolChange>, answer: &Answer) -> Change {
    let tools = changes.values().filter_map(|change| match change {
        ToolChange::Put(put) => {
            Some(json!({ "tool_id": put.tool.tool_id, "digest": put.tool.digest, "state": put.tool.state }))
        }
        ToolChange::Forget(_) => None,
    });
    let tools: Vec<_> = tools.collect();
    let data = json!({ "approves": answer.approves, "by": answer.by, "comment": answer.comment, "tools": tools });
    let mut records: BTreeMap<&ToolId, toolplane_providers::Record> =
        held.tools.iter().map(|(tool_id, tool)| (tool_id, tool.record.clone())).collect();
    for change in changes.values() {
        if let ToolChange::Put(put) = change {
            records.insert(&put.tool.tool_id, put.tool.clone().into());
        }
    }
    let mut status = held.status.clone();
    status.tools = counts(records.values(), held.provider.trust);
    Change {
        provider: held.provider.clone(),
        status,
        tools: changes.into_values().collect(),
        facts: vec![(EventClass::ExtProviderReviewed, facts(&data))],
        is_told: true,
    }
}

fn refused(refusal: &ReviewRefusal) -> Reviewed {
    Reviewed::Refused { code: refusal.code(), message: refusal.to_string() }
}
