//! Execution and permission profiles.

use toolplane_records::profile as records;

use crate::convert::word::Word as _;
use crate::convert::{ConvertError, field, word};
use crate::v1;
use crate::v1::execution_binding::Binding;

impl From<&records::ExecutionProfile> for v1::ExecutionProfile {
    fn from(record: &records::ExecutionProfile) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            execution_profile_id: record.execution_profile_id.to_string(),
            execution_kind: record.execution_kind.as_str().to_owned(),
            execution_kind_code: record.execution_kind.number(),
            supports_progress: record.supports_progress,
            supports_cancel: record.supports_cancel,
            supports_resume: record.supports_resume,
            supports_retries: record.supports_retries,
            supports_partial_results: record.supports_partial_results,
            supports_background: record.supports_background,
            supports_artifacts: record.supports_artifacts,
            supports_context_modifiers: record.supports_context_modifiers,
            sandboxed: record.sandboxed,
            sandbox_profile: record.sandbox_profile.clone(),
            timeout_ms: record.timeout_ms,
            external_mappings: field::outs(&record.external_mappings),
            binding: field::out(&record.binding),
            start_guard: record.start_guard.number(),
            retry_on_timeout: record.retry_on_timeout,
        }
    }
}

impl TryFrom<v1::ExecutionProfile> for records::ExecutionProfile {
    type Error = ConvertError;

    fn try_from(message: v1::ExecutionProfile) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            execution_profile_id: field::id("execution_profile_id", &message.execution_profile_id)?,
            execution_kind: word::open("execution_kind", &message.execution_kind, message.execution_kind_code)?,
            supports_progress: message.supports_progress,
            supports_cancel: message.supports_cancel,
            supports_resume: message.supports_resume,
            supports_retries: message.supports_retries,
            supports_partial_results: message.supports_partial_results,
            supports_background: message.supports_background,
            supports_artifacts: message.supports_artifacts,
            supports_context_modifiers: message.supports_context_modifiers,
            sandboxed: message.sandboxed,
            sandbox_profile: message.sandbox_profile,
            timeout_ms: message.timeout_ms,
            external_mappings: field::list("external_mappings", message.external_mappings)?,
            binding: field::optional("binding", message.binding)?,
            start_guard: word::optional_closed("start_guard", message.start_guard)?.unwrap_or_default(),
            retry_on_timeout: message.retry_on_timeout,
        })
    }
}

impl From<&records::ProcessBinding> for v1::ProcessBinding {
    fn from(record: &records::ProcessBinding) -> Self {
        Self {
            argv: record.argv.clone(),
            stdin: stdin_number(record.stdin),
            env: record.env.clone(),
            success_exit_codes: record.success_exit_codes.clone(),
            json_output: record.json_output,
            credentials: field::outs(&record.credentials),
        }
    }
}

impl TryFrom<v1::ProcessBinding> for records::ProcessBinding {
    type Error = ConvertError;

    fn try_from(message: v1::ProcessBinding) -> Result<Self, ConvertError> {
        Ok(Self {
            argv: message.argv,
            stdin: stdin(message.stdin)?,
            env: message.env,
            success_exit_codes: message.success_exit_codes,
            json_output: message.json_output,
            credentials: field::list("credentials", message.credentials)?,
        })
    }
}

impl From<&records::HttpBinding> for v1::HttpBinding {
    fn from(record: &records::HttpBinding) -> Self {
        Self {
            allowed_hosts: record.allowed_hosts.clone(),
            allowed_ports: record.allowed_ports.iter().copied().map(u32::from).collect(),
            allowed_methods: record.allowed_methods.clone(),
            max_response_bytes: record.max_response_bytes,
            credentials: field::outs(&record.credentials),
        }
    }
}

impl TryFrom<v1::HttpBinding> for records::HttpBinding {
    type Error = ConvertError;

    fn try_from(message: v1::HttpBinding) -> Result<Self, ConvertError> {
        Ok(Self {
            allowed_hosts: message.allowed_hosts,
            allowed_ports: field::ports("allowed_ports", &message.allowed_ports)?,
            allowed_methods: message.allowed_methods,
            max_response_bytes: message.max_response_bytes,
            credentials: field::list("credentials", message.credentials)?,
        })
    }
}

impl From<&records::PermissionProfile> for v1::PermissionProfile {
    fn from(record: &records::PermissionProfile) -> Self {
        Self {
            schema_version: record.schema_version.to_string(),
            permission_profile_id: record.permission_profile_id.to_string(),
            risk_level: record.risk_level.number(),
            access_kinds: word::texts(&record.access_kinds),
            access_kind_codes: word::numbers(&record.access_kinds),
            write_effects: word::texts(&record.write_effects),
            write_effect_codes: word::numbers(&record.write_effects),
            network_scope: record.network_scope.clone(),
            tenant_scope: record.tenant_scope.clone(),
            credential_refs: record.credential_refs.clone(),
            sandbox_profile: record.sandbox_profile.clone(),
            approval_required: record.approval_required,
            approval_reason: record.approval_reason.clone(),
            permission_channel: record.permission_channel.clone(),
            rule_matching_fields: record.rule_matching_fields.clone(),
            data_sensitivity: record.data_sensitivity.clone(),
            retention_hint: record.retention_hint.clone(),
            redaction_required: record.redaction_required,
            policy_refs: record.policy_refs.clone(),
            sensitive_sink: record.sensitive_sink,
        }
    }
}

impl TryFrom<v1::PermissionProfile> for records::PermissionProfile {
    type Error = ConvertError;

    fn try_from(message: v1::PermissionProfile) -> Result<Self, ConvertError> {
        Ok(Self {
            schema_version: field::version(&message.schema_version),
            permission_profile_id: field::id("permission_profile_id", &message.permission_profile_id)?,
            risk_level: word::closed("risk_level", message.risk_level)?,
            access_kinds: word::open_list("access_kinds", &message.access_kinds, &message.access_kind_codes)?,
            write_effects: word::open_list("write_effects", &message.write_effects, &message.write_effect_codes)?,
            network_scope: message.network_scope,
            tenant_scope: message.tenant_scope,
            credential_refs: message.credential_refs,
            sandbox_profile: message.sandbox_profile,
            approval_required: message.approval_required,
            approval_reason: message.approval_reason,
            permission_channel: message.permission_channel,
            rule_matching_fields: message.rule_matching_fields,
            data_sensitivity: message.data_sensitivity,
            retention_hint: message.retention_hint,
            redaction_required: message.redaction_required,
            policy_refs: message.policy_refs,
            sensitive_sink: message.sensitive_sink,
        })
    }
}

impl From<&records::ExecutionBinding> for v1::ExecutionBinding {
    fn from(record: &records::ExecutionBinding) -> Self {
        let binding = match record {
            records::ExecutionBinding::Native { name } => Binding::Native(v1::NativeBinding { name: name.clone() }),
            records::ExecutionBinding::Shell { shell } => Binding::Shell(v1::ShellBinding { shell: shell.clone() }),
            records::ExecutionBinding::Process(process) => Binding::Process(process.into()),
            records::ExecutionBinding::Http(http) => Binding::Http(http.into()),
            records::ExecutionBinding::Mcp(mcp) => Binding::Mcp(mcp.into()),
            records::ExecutionBinding::Operation(operation) => Binding::Operation(operation.into()),
        };
        Self { binding: Some(binding) }
    }
}

impl TryFrom<v1::ExecutionBinding> for records::ExecutionBinding {
    type Error = ConvertError;

    fn try_from(message: v1::ExecutionBinding) -> Result<Self, ConvertError> {
        Ok(
            match message
                .binding
                .ok_or_else(|| ConvertError::missing("native, shell, process, http, mcp or operation"))?
            {
                Binding::Native(native) => Self::Native { name: native.name },
                Binding::Shell(shell) => Self::Shell { shell: shell.shell },
                Binding::Process(process) => Self::Process(field::required("process", Some(process))?),
                Binding::Http(http) => Self::Http(field::required("http", Some(http))?),
                Binding::Mcp(mcp) => Self::Mcp(field::required("mcp", Some(mcp))?),
                Binding::Operation(operation) => Self::Operation(field::required("operation", Some(operation))?),
            },
        )
    }
}

fn stdin_number(stdin: records::ProcessStdin) -> i32 {
    match stdin {
        records::ProcessStdin::None => v1::ProcessStdin::None.into(),
        records::ProcessStdin::Json => v1::ProcessStdin::Json.into(),
    }
}

fn stdin(number: i32) -> Result<records::ProcessStdin, ConvertError> {
    match v1::ProcessStdin::try_from(number) {
        Ok(v1::ProcessStdin::Unspecified | v1::ProcessStdin::None) => Ok(records::ProcessStdin::None),
        Ok(v1::ProcessStdin::Json) => Ok(records::ProcessStdin::Json),
        Err(_) => Err(ConvertError::new("stdin", format!("has the unknown value {number}"))),
    }
}
