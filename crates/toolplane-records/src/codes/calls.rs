//! Codes of calls that ended in an error: `ToolError.error_code`.

use super::Kind::Call;
use super::{Code, CodeEntry, codes};
use crate::vocabulary::ErrorClass::*;
use crate::vocabulary::Recoverability::*;

codes! {
    /// Codes of calls.
    CALLS:
    INPUT_SCHEMA = "input.schema_violation", Call(SchemaValidationFailed, ChangeArguments),
        "how many fields do not fit the schema; each with its rule in `field_violations`",
        "The arguments do not fit the input schema of the tool.",
        "Change the fields that are named, or load the tool again if its schema is new.";
    INPUT_RUNTIME_SCHEMA = "input.runtime_schema", Call(InvalidArguments, CompleteSetup),
        "the input does not fit what the tool needs beside the caller's arguments",
        "Values the cluster adds to the arguments are missing or do not fit the tool's runtime schema.",
        "The tool's author or the operator supplies them; other arguments do not help.";
    INPUT_INVALID = "input.invalid", Call(InvalidArguments, ChangeArguments),
        "`<field>` <rule>",
        "An argument fits the schema and breaks a rule of the tool all the same.",
        "Change the field that is named.";
    BINDING_INVALID = "exec.binding_invalid", Call(SetupRequired, CompleteSetup),
        "what of the declaration cannot be run",
        "The tool is declared in a way that cannot be run.",
        "The tool's author corrects its execution profile and registers it anew.";
    NO_EXECUTION_BINDING = "setup.no_execution_binding", Call(SetupRequired, CompleteSetup),
        "the tool `<tool>` has no execution profile with a binding",
        "The tool is declared, and nothing says how it is run.",
        "Register it with an `execution_profile.binding`.";
    SURFACE_UNKNOWN_TOOL = "surface.unknown_tool", Call(UnknownTool, DiscoverToolFirst),
        "there is no tool `<name>` in this surface; similar: ...",
        "The name leads to no tool of the surface.",
        "Use one of the similar names, or search the surface.";
    SURFACE_NOT_LOADED = "surface.schema_not_loaded", Call(SchemaNotLoaded, DiscoverToolFirst),
        "the schema of `<tool>` is not loaded; load the tool first",
        "The tool is deferred in this surface and was called before it was loaded.",
        "Load it (`LoadTools`), then call it.";
    SURFACE_CHANGED = "surface.schema_changed", Call(SchemaNotLoaded, DiscoverToolFirst),
        "the schema of `<tool>` changed; load the tool again",
        "The tool was declared anew with another schema after it was loaded.",
        "Load it again and make the call for the new schema.";
    SURFACE_RETIRED = "surface.retired", Call(UnknownTool, DiscoverToolFirst),
        "`<tool>` was retired",
        "The tool was taken out of use.",
        "Search for the tool that replaces it.";
    SURFACE_HIDDEN = "surface.*", Call(CapabilityGap, NotRetryable),
        "`<tool>` may not be used here: <reason>",
        "The surface hides the tool; the word behind the dot says why (`policy_blocked`, `credential_missing`, `setup_required`, `not_selected` ...). The class follows the reason.",
        "Depending on the word: complete the setup or the credential, ask for a surface with the tool, or do without it.";
    PERMISSION_DENIED_BY_RULE = "permission.denied", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "what denies: the rule, the mode or the safety check, by name",
        "A deny rule, the permission mode or a safety check is about the call.",
        "`toolplane rules explain` shows who decided; change the call, or the rule.";
    PERMISSION_POLICY = "permission.policy", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "what the organisation's policy says",
        "A policy of the organisation (Cedar, or the policy settings) denies the call.",
        "Change the call, or ask whoever writes these policies.";
    PERMISSION_NOBODY_TO_ASK = "permission.nobody_to_ask", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "a person would have to decide and nobody can be asked (<question>)",
        "The call would be asked about, and there is nobody who can answer, or the mode asks nobody.",
        "Call with somebody to ask, or let a rule allow the call.";
    PERMISSION_REVOKED = "permission.revoked", Call(PolicyBlocked, NotRetryable),
        "why the call may not run any more",
        "What let the call run was taken away while it waited.",
        "Make a new call; it is decided under the rules of now.";
    PERMISSION_TOOL_CHANGED = "permission.tool_changed", Call(PolicyBlocked, RetrySafe),
        "`<tool>` was declared anew while the call waited",
        "The call was decided for another declaration of its tool.",
        "Make the call again; nothing was done.";
    APPROVAL_REJECTED = "approval.rejected", Call(ApprovalRejected, RequestApprovalAgain),
        "who said no, and why",
        "A person answered the question about the call with no.",
        "Do it in another way, or ask again with a better reason.";
    APPROVAL_EXPIRED = "approval.expired", Call(ApprovalRejected, RequestApprovalAgain),
        "the question was not answered in time",
        "Nobody answered the question before its time was up.",
        "Make the call again when somebody is there to answer.";
    APPROVAL_EDIT = "approval.edit_invalid", Call(SchemaValidationFailed, RequestApprovalAgain),
        "the edited input does not fit the tool; the fields in `field_violations`",
        "A person let the call run with an edited input that the tool cannot take.",
        "Make the call again and edit it within the tool's schema.";
    HOOKS_DENIED = "hooks.denied", Call(HookBlocked, ChangeArgumentsOrPolicy),
        "the hook `<hook>` denies: <reason>",
        "A hook before the call refused it.",
        "Change what the hook names; `toolplane hooks ls` shows what it saw.";
    HOOKS_STOPPED = "hooks.stopped", Call(HookBlocked, NotRetryable),
        "hook `<hook>` ended the call: <reason>",
        "A hook said that the work ends here.",
        "Follow the reason it gives.";
    HOOKS_INVALID_INPUT = "hooks.invalid_input", Call(HookBlocked, NotRetryable),
        "a hook replaced the input by one the tool cannot take",
        "A hook rewrote the input, and the result does not fit the tool.",
        "The operator corrects the hook.";
    HOOKS_MUTATION_FORBIDDEN = "hooks.mutation_forbidden", Call(HookBlocked, NotRetryable),
        "hook `<hook>` may not change the input of this tool",
        "A hook rewrote an input that the tool's declaration lets no hook change.",
        "The operator corrects the hook, or the author lets hooks change the input.";
    HOOKS_TOO_MANY_REWRITES = "hooks.too_many_rewrites", Call(HookBlocked, NotRetryable),
        "hooks went on changing the input",
        "Hooks rewrote the input again and again without coming to an end.",
        "The operator sees to it that a hook leaves what it rewrote as it is.";
    HOOKS_FAILED = "hooks.failed", Call(HookBlocked, NotRetryable),
        "the output is withheld: a hook after the call failed",
        "A hook after the call failed or did not answer. The effect of the tool is done; its output is shown to nobody.",
        "The operator repairs the hook. Look for the effect before the call is made again.";
    SANDBOX_UNAVAILABLE = "sandbox.unavailable", Call(CapabilityGap, CompleteSetup),
        "this worker cannot run sandboxed tools: <reason>",
        "The machine of the worker lacks what the sandbox needs.",
        "Install what the message names (bubblewrap, user namespaces), or run the worker elsewhere.";
    SANDBOX_SETUP_FAILED = "sandbox.setup_failed", Call(DependencyUnavailable, RetryLater),
        "which step of the sandbox failed, and the error",
        "The sandbox of one run could not be set up. Nothing was run.",
        "Try again later; if it stays, the operator looks at the worker's machine.";
    SANDBOX_LOST = "sandbox.lost", Call(DependencyUnavailable, VerifyBeforeRetry),
        "the sandbox ended without saying how the program ended",
        "The sandbox went away while the program ran.",
        "Look whether the effect is there before the call is made again.";
    SANDBOX_VIOLATION = "sandbox.violation", Call(SandboxViolation, ChangeArgumentsOrPolicy),
        "what the program tried",
        "The program did what the sandbox does not let it do, and was ended.",
        "Do without it, or run the tool under another sandbox profile.";
    NO_SANDBOX_FOR_KIND = "exec.no_sandbox_for_kind", Call(CapabilityGap, CompleteSetup),
        "tools of this kind cannot run in a sandbox",
        "The tool wants a sandbox, and its kind is run in none.",
        "The author changes `sandboxed` or the kind of the binding.";
    NATIVE_UNKNOWN = "exec.native_unknown", Call(CapabilityGap, CompleteSetup),
        "this worker has no native tool `<name>`",
        "The binding names a native tool that the worker does not have.",
        "Correct the name, or run a worker that has the tool.";
    DISPATCH_UNREADABLE = "exec.dispatch_unreadable", Call(CapabilityGap, NotRetryable),
        "what of the call the worker cannot read",
        "The worker cannot read what the scheduler sent it; usually one of them is older.",
        "Bring workers and schedulers to the same version.";
    PLACEMENT_NO_WORKER = "placement.no_worker", Call(CapabilityGap, RetryLater),
        "no connected worker serves pool `<pool>`",
        "No worker that is connected runs tools of this kind.",
        "Start one that does; for a native tool it names it in `native_tools`.";
    PLACEMENT_DECLINED = "placement.*", Call(CapabilityGap, CompleteSetup),
        "no worker can run calls of pool `<pool>`: <message of the worker>",
        "Every worker that is connected says why it cannot run such calls; the word behind the dot is its reason (`sandbox_unavailable`, `egress_not_configured` ...).",
        "Do what the message says on the workers' machines.";
    EXIT_CODE = "exec.exit_code", Call(ExecutionFailed, ChangeArguments),
        "exit code <n>",
        "The program ran and ended with an exit code that does not count as success.",
        "Its output says more; change the arguments.";
    SIGNAL = "exec.signal", Call(ExecutionFailed, ChangeArguments),
        "ended by signal <n>",
        "The program was ended by a signal.",
        "Its output may say more; often it crashed.";
    RESOURCE_LIMIT = "exec.resource_limit", Call(ExecutionFailed, ChangeArguments),
        "which limit was reached",
        "The program used more memory or processes than the tool may.",
        "Ask for less at a time, or raise the limit of the tool.";
    OUTPUT_LIMIT = "exec.output_limit", Call(ResultTooLarge, ChangeArguments),
        "which bound the output or the search reached",
        "The tool gave, or would have looked at, more than it may.",
        "Narrow what is asked for.";
    OUTPUT_INVALID = "exec.output_invalid", Call(ExecutionFailed, ChangeArguments),
        "what of the output is not as declared",
        "The program's output is not of the form its declaration promises.",
        "The author corrects the tool or its declaration.";
    EXEC_TIMEOUT = "exec.timeout", Call(Timeout, VerifyBeforeRetry),
        "the tool's time was up and it was stopped",
        "The tool took longer than its time.",
        "Look whether the effect is there; then ask for less, or for more time.";
    TIMEOUT_UNACKNOWLEDGED = "exec.timeout_unacked", Call(Timeout, VerifyBeforeRetry),
        "the tool's time was up; nobody said that it stopped",
        "The tool's time was up, and it did not stop when it was asked to, or its worker did not answer.",
        "Look whether the effect is there; it may still come.";
    DEADLINE = "lifecycle.deadline_exceeded", Call(Timeout, RetrySafe),
        "the call was not done by its deadline",
        "The deadline of the caller passed before the call ended.",
        "Call again with more time; where effects are not known, the advice says so.";
    EXEC_CANCELED = "exec.canceled", Call(Canceled, VerifyBeforeRetry),
        "the call was canceled while it ran",
        "Somebody canceled the call while the tool ran.",
        "Look whether the effect is there before the call is made again.";
    CANCELED = "cancel.requested", Call(Canceled, RetrySafe),
        "who canceled, and why",
        "Somebody canceled the call before it ran.",
        "Nothing was done; call again if it is still wanted.";
    CANCEL_WORKER_LOST = "cancel.worker_lost", Call(Canceled, VerifyBeforeRetry),
        "the worker was lost while it was asked to stop",
        "The call was canceled, and its worker went away before it said what became of it.",
        "Look whether the effect is there before the call is made again.";
    CANCEL_UNACKNOWLEDGED = "cancel.unacknowledged", Call(Canceled, VerifyBeforeRetry),
        "the worker did not say that it stopped",
        "The call was canceled, and its worker did not answer in time.",
        "Look whether the effect is there; it may still come.";
    SIBLING_CANCELED = "sibling.canceled", Call(SiblingCanceled, RetrySafe),
        "not executed: <why the sibling did not succeed>",
        "Another call of the batch did not succeed, and the batch ends with it.",
        "See what became of the sibling, then submit what is still wanted.";
    OUTCOME_UNKNOWN = "exec.outcome_unknown", Call(ExecutionFailed, VerifyBeforeRetry),
        "the worker was lost while it ran the call",
        "The worker went away while the tool ran; its effect may have happened.",
        "Look whether the effect is there before the call is made again.";
    ATTEMPTS_EXHAUSTED = "exec.attempts_exhausted", Call(DependencyUnavailable, RetryLater),
        "gave up after <n> attempts",
        "Each worker that was given the call went away.",
        "Try again later; the operator looks why workers are lost.";
    POISON = "exec.poison_quarantined", Call(ExecutionFailed, NotRetryable),
        "<n> workers were lost while they ran this call; it is under quarantine",
        "Workers died of this call, so neither it nor another one like it is run for a while.",
        "Change the input, or wait for the end of the quarantine; the operator looks at the tool.";
    START_GUARD_UNAVAILABLE = "exec.start_guard_unavailable", Call(DependencyUnavailable, RetryLater),
        "the start of the call could not be guarded",
        "The tool wants its one start recorded outside, and this cannot be done now. Nothing was run.",
        "Try again later, or register the tool with another start guard.";
    WORKER_FAULT = "exec.worker_fault", Call(ExecutionFailed, VerifyBeforeRetry),
        "the worker failed while it ran the tool",
        "A fault of the worker itself.",
        "The worker's log says more. Look whether the effect is there before the call is made again.";
    UNSPECIFIED = "exec.unspecified", Call(ExecutionFailed, NotRetryable),
        "the executor reported a failure without saying why",
        "A worker reported a failure and no error.",
        "The author of the worker lets it say why.";
    WORKSPACE_FULL = "workspace.full", Call(ExecutionFailed, CompleteSetup),
        "what of the workspace is used up",
        "The workspace holds as much as it may.",
        "Remove files from it, or raise its bounds.";
    WORKSPACE_UNAVAILABLE = "workspace.unavailable", Call(DependencyUnavailable, CompleteSetup),
        "why the workspace cannot be opened",
        "The worker cannot open the workspace of the tenant.",
        "The operator looks at the directory that is named.";
    PATH_OUTSIDE = "path.outside_workspace", Call(SandboxViolation, ChangeArguments),
        "`<path>` leads out of the workspace",
        "The path leads out of the workspace.",
        "Name a path beneath the workspace.";
    PATH_PROTECTED = "path.protected_path", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "`<path>` decides what other programs do later",
        "No tool writes such a path, whoever says yes: what stands there runs later.",
        "Write another file; a person changes this one.";
    PATH_LINKED = "path.linked", Call(PermissionDenied, ChangeArguments),
        "`<path>` is a link; what it leads to is `<target>`",
        "A link turns the path aside, and links are named instead of followed.",
        "Use the path it leads to; that one is decided about.";
    PATHS_NOT_HIDDEN = "path.denied_not_hidden", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "rules deny paths that cannot be kept from the program: <why>",
        "A deny rule covers files that cannot be hidden from this run, so it does not run.",
        "Remove what the message names, or narrow the rule.";
    PATH_NOT_FOUND = "path.not_found", Call(ExecutionFailed, ChangeArguments),
        "`<path>` does not exist",
        "There is nothing at the path.",
        "List the directory and use a path that is there.";
    PATH_UNREADABLE = "path.unreadable", Call(ExecutionFailed, ChangeArguments),
        "why `<path>` cannot be read",
        "What is at the path is no text file, or the worker may not read it.",
        "Use another file or another tool.";
    PATH_UNWRITABLE = "path.unwritable", Call(ExecutionFailed, ChangeArguments),
        "why `<path>` cannot be written",
        "The file or its directory cannot be written.",
        "Use another path.";
    PATH_EXISTS = "path.exists", Call(ExecutionFailed, ChangeArguments),
        "`<path>` exists",
        "The file is there and the call did not say that it may be replaced.",
        "Say `overwrite`, or use another name.";
    PATH_CHANGED = "path.changed", Call(ExecutionFailed, ChangeArguments),
        "`<path>` was changed meanwhile",
        "Somebody else changed the file between reading and writing it.",
        "Read it again, then make the change for what is there.";
    EDIT_NOT_FOUND = "edit.text_not_found", Call(ExecutionFailed, ChangeArguments),
        "the text is not in `<path>`",
        "The text to be replaced is not in the file.",
        "Read the file and copy the text exactly.";
    EDIT_NOT_UNIQUE = "edit.text_not_unique", Call(ExecutionFailed, ChangeArguments),
        "the text is in `<path>` <n> times",
        "The text to be replaced is in the file more than once.",
        "Take in more of the lines around it, or say that all are meant.";
    EGRESS_DENIED = "http.egress_denied", Call(SandboxViolation, ChangeArgumentsOrPolicy),
        "<rule>: `<host, port, scheme or method>`",
        "The request would go where the tool may not send any: host, port, scheme, method or redirect.",
        "Use an allowed host, or have the author add it to `allowed_hosts`; where the operator forbids it, ask them.";
    HTTP_STATUS = "http.status", Call(ExecutionFailed, ChangeArguments),
        "the server answered with status <status>",
        "The server answered with a status that is no success. The class and the advice follow the status.",
        "Follow the status; after 429 and 503 wait as long as the error says.";
    HTTP_UNREACHABLE = "http.unreachable", Call(DependencyUnavailable, RetryLater),
        "why the server could not be reached or did not finish",
        "No connection to the server, or it broke off.",
        "Try again later; for a request that is not safe, look whether it was taken first.";
    RESULT_TOO_LARGE = "result.too_large", Call(ResultTooLarge, NotRetryable),
        "the tool succeeded, but its <output> is larger than may be kept",
        "The result is larger than the object store may be asked to keep. The effect is done.",
        "Use the preview, or ask for less.";
    RESULT_NOT_KEPT = "result.not_kept", Call(PartialFailure, NotRetryable),
        "the tool succeeded, but its <output> could not be kept in whole",
        "The object store did not take the result. The effect is done.",
        "Use the preview; the operator looks at the object store.";
    RESULT_WITHHELD = "result.withheld", Call(ResultRedacted, NotRetryable),
        "which hook withholds the output",
        "A hook after the call withholds the output. The effect is done.",
        "Do without the output, or ask whoever runs the hook.";
    RESULT_MAPPING = "result.mapping_failed", Call(ExecutionFailed, VerifyBeforeRetry),
        "the tool ran, but its worker's report cannot be read: <why>",
        "The worker reported something the scheduler cannot read.",
        "Bring workers and schedulers to the same version. Look whether the effect is there.";
    RESULT_SCHEMA = "result.output_schema_mismatch", Call(ExecutionFailed, VerifyBeforeRetry),
        "the output does not fit the tool's schema; the fields in `field_violations`",
        "The tool ran, and its structured output is not what it declares.",
        "The author corrects the tool or its output schema.";
}
