/** A tool as the cluster registers it: as a message, and as the JSON that a provider of the kind `worker` answers with. */

import { ExecutionKind, RiskLevel, ToolKind, ToolLifecycle } from "../gen/toolplane/v1/vocabulary.js";
import { ToolRegistration } from "../gen/toolplane/v1/registration.js";
import type { SafetyFact } from "../gen/toolplane/v1/interface.js";
import { toPayload } from "../payload.js";
import { searchHint, type Tool } from "./tool.js";

const RISKS = {
  low: RiskLevel.RISK_LEVEL_LOW,
  medium: RiskLevel.RISK_LEVEL_MEDIUM,
  high: RiskLevel.RISK_LEVEL_HIGH,
  critical: RiskLevel.RISK_LEVEL_CRITICAL,
};

function fact(known: boolean | undefined): SafetyFact | undefined {
  return known === undefined ? undefined : { fact: { $case: "known", value: known } };
}

/** The message that registers a tool. */
export function toRegistration(namespace: string, native: string, tool: Tool): ToolRegistration {
  const { options } = tool;
  const key = `${namespace}_${tool.name}`.replace(/[^a-zA-Z0-9_-]/g, "_");
  const toolId = `tool_${key}`;
  return ToolRegistration.fromPartial({
    declaration: {
      toolId,
      namespace,
      name: `${namespace}.${tool.name}`,
      searchHint: searchHint(options),
      title: options.title ?? "",
      description: options.description,
      lifecycle: ToolLifecycle.TOOL_LIFECYCLE_AVAILABLE,
      toolKindCode: ToolKind.TOOL_KIND_FUNCTION,
      inputContract: { modelInputSchema: toPayload(tool.input), sensitiveFields: [...(options.sensitive ?? [])] },
      ...(tool.output ? { outputContract: { structuredSchema: toPayload(tool.output) } } : {}),
    },
    interface: {
      interfaceId: `iface_${key}`,
      toolId,
      ...(tool.output ? { outputSchema: toPayload(tool.output) } : {}),
      isReadOnly: fact(options.readOnly),
      isDestructive: fact(options.destructive),
      isIdempotent: fact(options.idempotent),
      isConcurrencySafe: fact(options.concurrencySafe),
      isOpenWorld: fact(options.openWorld),
      requiresUserInteraction: options.needsPerson,
    },
    executionProfile: {
      executionProfileId: `exec_${key}`,
      executionKindCode: ExecutionKind.EXECUTION_KIND_EMBEDDED_RUNTIME,
      supportsProgress: true,
      supportsCancel: options.cancelable ?? true,
      supportsArtifacts: true,
      supportsPartialResults: true,
      supportsBackground: options.background ?? false,
      supportsResume: options.resume ?? false,
      supportsContextModifiers: options.contextModifiers ?? false,
      timeoutMs: options.timeoutMs === undefined ? undefined : BigInt(Math.ceil(options.timeoutMs)),
      binding: { binding: { $case: "native", value: { name: native } } },
    },
    permissionProfile: {
      permissionProfileId: `perm_${key}`,
      riskLevel: RISKS[options.risk ?? "high"],
      approvalRequired: options.approvalRequired,
    },
  });
}

/** The same as the JSON of a file of registrations; what the platform says anyway is left out. */
export function toListed(native: string, tool: Tool): object {
  const { options } = tool;
  return {
    declaration: {
      name: tool.name,
      description: options.description,
      title: options.title,
      search_hint: searchHint(options),
      input_contract: { model_input_schema: tool.input, sensitive_fields: options.sensitive },
      output_contract: tool.output && { structured_schema: tool.output },
    },
    interface: {
      output_schema: tool.output,
      is_read_only: options.readOnly,
      is_destructive: options.destructive,
      is_idempotent: options.idempotent,
      is_concurrency_safe: options.concurrencySafe,
      is_open_world: options.openWorld,
      requires_user_interaction: options.needsPerson,
    },
    execution_profile: {
      supports_progress: true,
      supports_cancel: options.cancelable ?? true,
      supports_artifacts: true,
      supports_partial_results: true,
      supports_background: options.background ?? false,
      supports_resume: options.resume ?? false,
      supports_context_modifiers: options.contextModifiers ?? false,
      timeout_ms: options.timeoutMs,
      binding: { type: "native", name: native },
    },
    permission_profile: { risk_level: options.risk, approval_required: options.approvalRequired },
  };
}
