//! Providers and differences as messages.

use std::collections::HashMap;

use toolplane_proto::convert::word::{self, Word as _};
use toolplane_proto::v1;
use toolplane_providers::{Difference, health};
use toolplane_records::ids::ToolId;
use toolplane_records::payload::Digest;
use toolplane_records::provider::ProvidedTool;
use toolplane_records::time::Timestamp;
use toolplane_records::visible::excerpt;
use toolplane_records::vocabulary::ReviewState;

use super::number;
use crate::providers::{Held, Taken};

/// Most tools in each list of a difference.
const LISTED: usize = 500;
/// Most lines about what has changed of one tool.
const LINES: usize = 20;
/// Most tools whose changes are told in words: each is a comparison of two definitions.
const TOLD: usize = 50;

pub(super) fn provider(held: &Held, now: Timestamp) -> v1::GetProviderResponse {
    v1::GetProviderResponse {
        provider: Some((&held.provider).into()),
        status: Some((&held.status).into()),
        line: health::line(&held.status, now),
    }
}

pub(super) fn taken(taken: &Taken, now: Timestamp) -> v1::RefreshProviderResponse {
    let mut status = taken.held.status.clone();
    if taken.fault.is_some() {
        status.fault.clone_from(&taken.fault);
    }
    let difference = taken.difference.as_ref();
    v1::RefreshProviderResponse {
        status: Some((&status).into()),
        difference: difference.map(|difference| self::difference(difference, &taken.records)),
        line: health::line(&status, now),
    }
}

fn difference(difference: &Difference, records: &[ProvidedTool]) -> v1::ToolDifference {
    let states: HashMap<&ToolId, ReviewState> = records.iter().map(|record| (&record.tool_id, record.state)).collect();
    let one = |tool_id: &ToolId, native_id: &str, digest: Digest, changes| v1::DifferentTool {
        tool_id: tool_id.to_string(),
        native_id: excerpt(native_id, 120),
        digest: digest.to_string(),
        state: word::optional_number(states.get(tool_id).copied()),
        changes,
    };
    let added = difference.added.iter().take(LISTED);
    let changed = difference.changed.iter().take(LISTED).enumerate();
    let refused = difference.refused.iter().take(LISTED);
    v1::ToolDifference {
        added: added.map(|added| one(&added.tool_id, &added.native_id, added.definition.digest, Vec::new())).collect(),
        added_count: number(difference.added.len()),
        changed: changed
            .map(|(at, changed)| {
                let words = if at < TOLD { changed.words() } else { None };
                let lines = words.map(|words| words.lines().into_iter().take(LINES).collect()).unwrap_or_default();
                one(&changed.tool_id, &changed.native_id, changed.definition.digest, lines)
            })
            .collect(),
        changed_count: number(difference.changed.len()),
        withdrawn: difference.withdrawn.iter().take(LISTED).map(ToString::to_string).collect(),
        withdrawn_count: number(difference.withdrawn.len()),
        refused: refused
            .map(|refused| v1::RefusedTool {
                tool_id: refused.tool_id.as_ref().map(ToString::to_string).unwrap_or_default(),
                native_id: excerpt(&refused.native_id, 120),
                refusal: Some(v1::ToolRefusal {
                    code: refused.refusal.code.number(),
                    reason: excerpt(&refused.refusal.reason, 300),
                }),
            })
            .collect(),
        refused_count: number(difference.refused.len()),
        unchanged_count: number(difference.unchanged.len()),
    }
}
