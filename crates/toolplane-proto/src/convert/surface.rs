//! Surfaces and deferred tools.

use toolplane_records::surface as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;

impl From<&records::LoadedTool> for v1::LoadedTool {
    fn from(record: &records::LoadedTool) -> Self {
        Self {
            tool_id: record.tool_id.to_string(),
            name: record.name.clone(),
            loaded_at: record.loaded_at.and_then(field::instant),
            digest: field::text(&record.digest),
            changed: record.changed.clone().unwrap_or_default(),
            uncallable: record.uncallable.clone().unwrap_or_default(),
            message: record.message.clone().unwrap_or_default(),
        }
    }
}

impl TryFrom<v1::LoadedTool> for records::LoadedTool {
    type Error = ConvertError;

    fn try_from(message: v1::LoadedTool) -> Result<Self, ConvertError> {
        Ok(Self {
            tool_id: field::id("tool_id", &message.tool_id)?,
            name: message.name,
            loaded_at: field::optional_time("loaded_at", message.loaded_at)?,
            digest: field::optional_id("digest", &message.digest)?,
            changed: given(message.changed),
            uncallable: given(message.uncallable),
            message: given(message.message),
        })
    }
}

fn given(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty())
}

impl From<&records::DeferredToolRef> for v1::DeferredToolRef {
    fn from(record: &records::DeferredToolRef) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            tool_id: record.tool_id.to_string(),
            name: record.name.clone(),
            namespace: record.namespace.clone(),
            search_hint: record.search_hint.clone(),
            source: record.source.clone(),
            schema_visibility: word::optional_number(record.schema_visibility),
            loading_state: record.loading_state.number(),
            reason: record.reason.clone(),
            pending_provider_or_server: record.pending_provider_or_server.clone(),
            selection_ref: record.selection_ref.clone(),
            native_ref: field::out(&record.native_ref),
        }
    }
}

impl TryFrom<v1::DeferredToolRef> for records::DeferredToolRef {
    type Error = ConvertError;

    fn try_from(message: v1::DeferredToolRef) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            tool_id: field::id("tool_id", &message.tool_id)?,
            name: message.name,
            namespace: message.namespace,
            search_hint: message.search_hint,
            source: message.source,
            schema_visibility: word::optional_closed("schema_visibility", message.schema_visibility)?,
            loading_state: word::closed("loading_state", message.loading_state)?,
            reason: message.reason,
            pending_provider_or_server: message.pending_provider_or_server,
            selection_ref: message.selection_ref,
            native_ref: field::optional("native_ref", message.native_ref)?,
        })
    }
}

impl From<&records::HiddenTool> for v1::HiddenTool {
    fn from(record: &records::HiddenTool) -> Self {
        Self {
            tool_id: record.tool_id.to_string(),
            name: record.name.clone(),
            reason: record.reason.as_str().to_owned(),
            reason_code: record.reason.number(),
            message: record.message.clone(),
        }
    }
}

impl TryFrom<v1::HiddenTool> for records::HiddenTool {
    type Error = ConvertError;

    fn try_from(message: v1::HiddenTool) -> Result<Self, ConvertError> {
        Ok(Self {
            tool_id: field::id("tool_id", &message.tool_id)?,
            name: message.name,
            reason: word::open("reason", &message.reason, message.reason_code)?,
            message: message.message,
        })
    }
}

impl From<&records::ToolSurface> for v1::ToolSurface {
    fn from(record: &records::ToolSurface) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            surface_id: record.surface_id.to_string(),
            scope: record.scope.as_str().to_owned(),
            scope_code: record.scope.number(),
            created_at: field::instant(record.created_at),
            producer: record.producer.clone(),
            tool_refs: record.tool_refs.clone(),
            loaded_tools: field::outs(&record.loaded_tools),
            deferred_tools: field::outs(&record.deferred_tools),
            blocked_tools: field::outs(&record.blocked_tools),
            excluded_tools: field::outs(&record.excluded_tools),
            selection_policy: field::out(&record.selection_policy),
            default_tool_choice: field::out(&record.default_tool_choice),
            capability_requirements: record.capability_requirements.clone(),
            model_capabilities: field::out(&record.model_capabilities),
            role_constraints: field::out(&record.role_constraints),
            surface_reason: record.surface_reason.clone(),
            policy_refs: record.policy_refs.clone(),
            runtime_refs: record.runtime_refs.clone(),
            tenant: record.tenant.to_string(),
            revision: record.revision,
            counts: Some(counts(record)),
            next_tools_token: String::new(),
            moment: record.moment.clone(),
            pinned: record.pinned,
            parent_surface_id: record.parent_surface_id.as_ref().map(ToString::to_string).unwrap_or_default(),
            outdated: field::out(&record.outdated),
            budget: field::out(&record.budget),
        }
    }
}

fn counts(record: &records::ToolSurface) -> v1::SurfaceCounts {
    let count = |tools: usize| u32::try_from(tools).unwrap_or(u32::MAX);
    v1::SurfaceCounts {
        loaded: count(record.loaded_tools.len()),
        deferred: count(record.deferred_tools.len()),
        blocked: count(record.blocked_tools.len()),
        excluded: count(record.excluded_tools.len()),
    }
}

impl TryFrom<v1::ToolSurface> for records::ToolSurface {
    type Error = ConvertError;

    fn try_from(message: v1::ToolSurface) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            surface_id: field::id("surface_id", &message.surface_id)?,
            scope: word::open("scope", &message.scope, message.scope_code)?,
            created_at: field::optional_time("created_at", message.created_at)?.unwrap_or_default(),
            producer: message.producer,
            tool_refs: message.tool_refs,
            loaded_tools: field::list("loaded_tools", message.loaded_tools)?,
            deferred_tools: field::list("deferred_tools", message.deferred_tools)?,
            blocked_tools: field::list("blocked_tools", message.blocked_tools)?,
            excluded_tools: field::list("excluded_tools", message.excluded_tools)?,
            selection_policy: field::optional("selection_policy", message.selection_policy)?,
            default_tool_choice: field::optional("default_tool_choice", message.default_tool_choice)?,
            capability_requirements: message.capability_requirements,
            model_capabilities: field::optional("model_capabilities", message.model_capabilities)?,
            role_constraints: field::optional("role_constraints", message.role_constraints)?,
            surface_reason: message.surface_reason,
            policy_refs: message.policy_refs,
            runtime_refs: message.runtime_refs,
            tenant: field::id("tenant", &message.tenant)?,
            revision: message.revision,
            moment: message.moment,
            pinned: message.pinned,
            parent_surface_id: field::optional_id("parent_surface_id", &message.parent_surface_id)?,
            outdated: field::optional("outdated", message.outdated)?,
            budget: field::optional("budget", message.budget)?,
        })
    }
}

impl From<&records::SurfaceBudget> for v1::SurfaceBudgetUse {
    fn from(record: &records::SurfaceBudget) -> Self {
        let records::SurfaceBudget { max_tools, max_schema_tokens, max_schema_bytes, .. } = *record;
        let tools = record.deferred_tools.iter();
        let tools = tools.map(|tool| v1::BudgetTool { tool_id: tool.tool_id.to_string(), name: tool.name.clone() });
        Self {
            budget: Some(v1::SurfaceBudget { max_tools, max_schema_tokens, max_schema_bytes }),
            tools: record.tools,
            schema_tokens: record.schema_tokens,
            schema_bytes: record.schema_bytes,
            deferred: record.deferred,
            deferred_tools: tools.collect(),
        }
    }
}

impl TryFrom<v1::SurfaceBudgetUse> for records::SurfaceBudget {
    type Error = ConvertError;

    fn try_from(message: v1::SurfaceBudgetUse) -> Result<Self, ConvertError> {
        let v1::SurfaceBudget { max_tools, max_schema_tokens, max_schema_bytes } = message.budget.unwrap_or_default();
        let v1::SurfaceBudgetUse { tools, schema_tokens, schema_bytes, deferred, deferred_tools, .. } = message;
        Ok(Self {
            max_tools,
            max_schema_tokens,
            max_schema_bytes,
            tools,
            schema_tokens,
            schema_bytes,
            deferred,
            deferred_tools: field::list("deferred_tools", deferred_tools)?,
        })
    }
}

impl TryFrom<v1::BudgetTool> for records::BudgetTool {
    type Error = ConvertError;

    fn try_from(message: v1::BudgetTool) -> Result<Self, ConvertError> {
        let v1::BudgetTool { tool_id, name } = message;
        Ok(Self { tool_id: field::id("tool_id", &tool_id)?, name })
    }
}

impl From<&records::SurfaceOutdated> for v1::SurfaceOutdated {
    fn from(record: &records::SurfaceOutdated) -> Self {
        let tools = record.tools.iter().map(|tool| v1::OutdatedTool {
            tool_id: tool.tool_id.to_string(),
            name: tool.name.clone(),
            change: tool.change.clone(),
        });
        Self {
            added: record.added,
            removed: record.removed,
            changed: record.changed,
            more: record.more,
            tools: tools.collect(),
        }
    }
}

impl TryFrom<v1::SurfaceOutdated> for records::SurfaceOutdated {
    type Error = ConvertError;

    fn try_from(message: v1::SurfaceOutdated) -> Result<Self, ConvertError> {
        let v1::SurfaceOutdated { added, removed, changed, more, tools } = message;
        Ok(Self { added, removed, changed, more, tools: field::list("tools", tools)? })
    }
}

impl TryFrom<v1::OutdatedTool> for records::OutdatedTool {
    type Error = ConvertError;

    fn try_from(message: v1::OutdatedTool) -> Result<Self, ConvertError> {
        let v1::OutdatedTool { tool_id, name, change } = message;
        Ok(Self { tool_id: field::id("tool_id", &tool_id)?, name, change })
    }
}
