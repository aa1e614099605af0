//! What this role knows, as messages.

use toolplane_catalog::catalog::CatalogEntry;
use toolplane_catalog::{ScopeRules, Shortage, Unloaded};
use toolplane_proto::convert::field;
use toolplane_proto::convert::word::{self, Word as _};
use toolplane_proto::v1;
use toolplane_records::ids::SurfaceId;
use toolplane_records::payload::JsonPayload;
use toolplane_records::surface::LoadedTool;

use crate::surfaces::{Refusal, RefusalKind};

pub(super) fn summary(entry: &CatalogEntry) -> v1::ToolSummary {
    let registration = entry.tool.registration();
    let declaration = &registration.declaration;
    let execution = registration.execution_profile.as_ref().map(|profile| profile.execution_kind);
    let risk = registration.permission_profile.as_ref().map(|profile| profile.risk_level);
    v1::ToolSummary {
        tool_id: declaration.tool_id.to_string(),
        full_name: entry.tool.full_name().to_owned(),
        aliases: registration.aliases().into_iter().map(str::to_owned).collect(),
        title: declaration.title.clone(),
        search_hint: registration.search_hint().to_owned(),
        description: declaration.description.clone(),
        lifecycle: declaration.lifecycle.number(),
        tool_kind: declaration.tool_kind.as_str().to_owned(),
        tool_kind_code: declaration.tool_kind.number(),
        execution_kind: word::optional_text(execution),
        execution_kind_code: word::optional_number(execution),
        risk_level: word::optional_number(risk),
        digest: entry.tool.digest().to_string(),
        revision: entry.revision,
    }
}

pub(super) fn loaded(entry: &CatalogEntry, loaded: &LoadedTool) -> v1::LoadedSchema {
    let registration = entry.tool.registration();
    // A tool without a schema takes no arguments, and a model has to be told so.
    let none = || JsonPayload::from_checked(r#"{"type":"object","properties":{},"additionalProperties":false}"#);
    let mut schema: v1::JsonPayload = match registration.model_schema() {
        Some(schema) => schema.into(),
        None => (&none()).into(),
    };
    "application/schema+json".clone_into(&mut schema.media_type);
    v1::LoadedSchema {
        tool: Some(loaded.into()),
        model_input_schema: Some(schema),
        description: registration.declaration.description.clone(),
        digest: entry.tool.digest().to_string(),
        alias: registration.alias(),
    }
}

pub(super) fn not_callable(refusal: Refusal) -> v1::NotCallable {
    let kind = match refusal.kind {
        RefusalKind::Unknown => v1::NotCallableKind::Unknown,
        RefusalKind::NotLoaded => v1::NotCallableKind::NotLoaded,
        RefusalKind::Blocked => v1::NotCallableKind::Blocked,
        RefusalKind::Excluded => v1::NotCallableKind::Excluded,
        RefusalKind::Retired => v1::NotCallableKind::Retired,
        RefusalKind::Changed => v1::NotCallableKind::Changed,
        RefusalKind::Renamed => v1::NotCallableKind::Renamed,
        RefusalKind::Later => v1::NotCallableKind::Later,
        RefusalKind::NoCalls => v1::NotCallableKind::NoCalls,
        RefusalKind::NotChosen => v1::NotCallableKind::NotChosen,
        RefusalKind::NoMoment => v1::NotCallableKind::NoMoment,
        RefusalKind::Provider => v1::NotCallableKind::Provider,
    };
    let (reason, reason_code) = match refusal.shortage {
        Some(_) => ("budget".to_owned(), 0),
        None => (word::optional_text(refusal.reason), word::optional_number(refusal.reason)),
    };
    v1::NotCallable {
        kind: kind.into(),
        reason,
        reason_code,
        message: refusal.message,
        tool_id: field::text(&refusal.tool_id),
        similar_names: refusal.similar,
        error: field::out(&refusal.error),
        shortage: refusal.shortage.map(|Shortage { field, need, free, budget }| v1::BudgetShortage {
            field: field.to_owned(),
            need,
            free,
            budget,
        }),
    }
}

pub(super) fn unloaded(tool: Unloaded) -> v1::UnloadedTool {
    v1::UnloadedTool {
        tool_id: tool.tool_id.to_string(),
        name: tool.name,
        reason: "budget".to_owned(),
        schema_tokens: tool.amount.tokens,
        schema_bytes: tool.amount.bytes,
    }
}

/// A surface that another one is within.
pub(super) fn above((id, scope): (SurfaceId, ScopeRules)) -> v1::SurfaceAbove {
    v1::SurfaceAbove {
        surface_id: id.to_string(),
        scope_refs: scope.refs().to_vec(),
        scope_role: scope.role().to_owned(),
    }
}
