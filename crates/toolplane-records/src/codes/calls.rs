//! Codes of calls that ended in an error: `ToolError.error_code`.

use super::code::Kind::Call;
use super::code::{Code, CodeEntry, codes};
use crate::vocabulary::ErrorClass::*;
use crate::vocabulary::Recoverability::*;

codes! {
    /// Codes of calls.
    CALLS:
    INPUT_SCHEMA = "input.schema_violation", Call(SchemaValidationFailed, ChangeArguments),
        "how many fields do not fit the schema; each with its rule in `field_violations`",
        "The arguments do not fit the input schema of the tool.",
        "Change the fields that are named in `field_violations`; `toolplane load` shows the schema.";
    INPUT_RUNTIME_SCHEMA = "input.runtime_schema", Call(InvalidArguments, CompleteSetup),
        "the input does not fit what the tool needs beside the caller's arguments",
        "The final input lacks a value that callers cannot give, or such a value breaks the tool's runtime schema.",
        "The operator configures a hook that adds the value, or a person adds it when approving; other arguments do not help.";
    INPUT_INVALID = "input.invalid", Call(InvalidArguments, ChangeArguments),
        "`<field>` <rule>",
        "An argument fits the schema but breaks a further rule of the tool.",
        "Change the field that is named.";
    BINDING_INVALID = "exec.binding_invalid", Call(SetupRequired, CompleteSetup),
        "what in the tool's declaration cannot be run",
        "The tool's execution profile describes something a worker cannot run.",
        "The tool's author corrects `execution_profile` and registers the tool again (`toolplane tools register`).";
    NO_EXECUTION_BINDING = "setup.no_execution_binding", Call(SetupRequired, CompleteSetup),
        "the tool `<tool>` has no execution profile with a binding",
        "The tool's declaration does not say how to run it.",
        "The tool's author adds `execution_profile.binding` and registers the tool again (`toolplane tools register`).";
    BACKGROUND_UNSUPPORTED = "exec.background_unsupported", Call(InvalidArguments, ChangeArguments),
        "`spec.background` is set, and the tool does not declare `supports_background`",
        "The call was to go on in the background, and its tool does not declare that it may.",
        "Make the call without `background`; the tool's author declares `supports_background` where nobody has to wait for it.";
    SURFACE_UNKNOWN_TOOL = "surface.unknown_tool", Call(UnknownTool, DiscoverToolFirst),
        "there is no tool `<name>` in this surface; similar: ...",
        "The surface has no tool of that name.",
        "Use one of the similar names, or search the surface (`toolplane search`).";
    SURFACE_NOT_LOADED = "surface.schema_not_loaded", Call(SchemaNotLoaded, DiscoverToolFirst),
        "the schema of `<tool>` is not loaded; load the tool first",
        "The surface defers this tool, and the caller called it before loading it.",
        "Load the tool (`LoadTools`, `toolplane load`), then call it.";
    SURFACE_CHANGED = "surface.schema_changed", Call(SchemaNotLoaded, DiscoverToolFirst),
        "the schema of `<tool>` changed; load the tool again",
        "The tool's author registered another schema after the caller had loaded the tool.",
        "Load the tool again (`LoadTools`, `toolplane load`) and make the call for the new schema.";
    SURFACE_RENAMED = "surface.renamed", Call(UnknownTool, DiscoverToolFirst),
        "`<name>` is called `<name>` since the moment `<moment>`",
        "The call names the moment of the surface it goes by (`surface_moment`), and the tool that had the name then has another one now.",
        "Call the tool by the name that is told (`next_steps`), and read the surface again: it may have changed otherwise too.";
    SURFACE_LATER = "surface.came_later", Call(SchemaNotLoaded, DiscoverToolFirst),
        "`<tool>` was not there at the moment `<moment>`",
        "The call names the moment of the surface it goes by (`surface_moment`), and the surface did not show the tool then, so its caller cannot know its schema.",
        "Read the surface again, load the tool if it is deferred, and name the moment of what was read.";
    SURFACE_NO_CALLS = "surface.no_calls", Call(PolicyBlocked, NotRetryable),
        "no tool is called in this surface: its `default_tool_choice` is `none`",
        "The surface was made with the `default_tool_choice` `none`, so no call is accepted in it.",
        "Answer without a tool, or call in another surface.";
    SURFACE_NOT_CHOSEN = "surface.not_chosen", Call(PolicyBlocked, NotRetryable),
        "which of `default_tool_choice` and `selection_policy` leaves `<tool>` out",
        "The surface shows the tool, and what it says about choosing does not let it be called: another tool is the only choice, or the tool is denied or not among those allowed.",
        "Call a tool that the surface lets be called, or call in a surface made without that choice (`toolplane surface create`).";
    SURFACE_NO_MOMENT = "surface.moment_required", Call(PolicyBlocked, ChangeArguments),
        "this surface wants each call to name the moment it goes by (`surface_moment`)",
        "The surface was made with `selection_policy.require_moment`, and the call names no moment.",
        "Read the surface, and name the moment it was read at (`surface_moment`, `toolplane invoke --moment`).";
    SURFACE_PARALLEL = "surface.parallel_calls", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "send the batch with `max_parallel` 1, or the ordering policy `serial`: this surface takes calls, like that of `<tool>`, one after the other",
        "The surface was made with `selection_policy.parallel_calls` false, and the batch may run its calls beside each other.",
        "Send the batch with `max_parallel` 1 or the ordering policy `serial`, or make the calls one by one.";
    SURFACE_OUTSIDE = "surface.out_of_scope", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "this surface is for another <session, task, ...> than the call names, or the call names none",
        "The surface is for one session, task, turn, request to a model, workspace, agent or role (`scope` and `runtime_refs`), and the call belongs to another one or does not say to which.",
        "Name what the surface is for in the field that is told (`toolplane invoke --session`, `--actor` or `--ref`), or call in a surface of your own. An agent, where callers are authenticated, and a role of Toolplane are those of the credential.";
    SURFACE_PARENT_GONE = "surface.parent_gone", Call(CapabilityGap, NotRetryable),
        "the surface `<id>` is within the surface `<id>`, which is not there any more",
        "The surface was made within another one (`parent_surface_id`), which was deleted since, or which nobody used for long. Nobody can say any more what it may show.",
        "Make a surface within one that is there (`toolplane surface create --parent`), and delete this one (`toolplane surface rm`).";
    SURFACE_RETIRED = "surface.retired", Call(UnknownTool, DiscoverToolFirst),
        "`<tool>` was retired",
        "An operator retired the tool.",
        "Search for the tool that replaces it (`toolplane search`).";
    SURFACE_HIDDEN = "surface.*", Call(CapabilityGap, NotRetryable),
        "`<tool>` may not be used here: <reason>",
        "The surface hides the tool; the word after the dot says why (`policy_blocked`, `credential_missing`, `setup_required`, `not_selected` ...). Class and recoverability follow that word.",
        "Follow the word: complete the setup or the credential, use a surface that has the tool (`toolplane surface show` lists it), or do without it.";
    PERMISSION_DENIED_BY_RULE = "permission.denied", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "which rule, mode or safety check denies the call",
        "A deny rule, the permission mode or a safety check denies the call.",
        "Change the call or the rule; `toolplane rules explain` names what denied it.";
    PERMISSION_POLICY = "permission.policy", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "what the organisation's policy says",
        "A policy of the organisation (Cedar, or the policy settings) denies the call.",
        "Change the call, or have the organisation's policy changed (`permission.cedar_policies`); `toolplane rules explain` names it.";
    PERMISSION_NOBODY_TO_ASK = "permission.nobody_to_ask", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "a person would have to decide, but the call has no approver (<question>)",
        "A person would have to approve the call, but the surface or the call has no approver, or the permission mode never asks.",
        "Call with an approver (without `--no-approver`, in a surface made without `--unattended`), or add an allow rule (`toolplane rules add`).";
    PERMISSION_REVOKED = "permission.revoked", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "why the call may no longer run",
        "The rules or the policy changed while the call waited and now deny it, or its surface was removed (advice `not_retryable`). The class follows what denies it.",
        "Ask `toolplane rules explain` what denies the call now; if its surface was removed, call in another surface.";
    PERMISSION_TOOL_CHANGED = "permission.tool_changed", Call(PolicyBlocked, RetrySafe),
        "`<tool>` was declared anew while the call waited",
        "The tool's author registered the tool again while the call waited, and the call no longer fits it.",
        "Make the call again; the tool did not run.";
    APPROVAL_REJECTED = "approval.rejected", Call(ApprovalRejected, RequestApprovalAgain),
        "who rejected the call, and why",
        "A person rejected the call.",
        "Go on without this call, or make another call that answers the reason.";
    APPROVAL_EXPIRED = "approval.expired", Call(ApprovalRejected, RequestApprovalAgain),
        "no person answered the approval request in time",
        "No person answered the approval request before it expired.",
        "Make the call again when a person can answer (`toolplane approvals`), or raise `permission.approval_ttl_ms`.";
    APPROVAL_EDIT = "approval.edit_invalid", Call(SchemaValidationFailed, RequestApprovalAgain),
        "the edited input does not fit the tool; the fields are in `field_violations`",
        "A person approved the call with an edited input that does not fit the tool.",
        "Make the call again; the person edits the input within the tool's schema.";
    HOOKS_DENIED = "hooks.denied", Call(HookBlocked, ChangeArgumentsOrPolicy),
        "the hook `<hook>` denies: <reason>",
        "A hook that runs before the call denied it.",
        "Change what the hook names; `toolplane hooks ls` lists what each hook said about the call.";
    HOOKS_STOPPED = "hooks.stopped", Call(HookBlocked, NotRetryable),
        "hook `<hook>` ended the call: <reason>",
        "A hook that runs before the call stopped it.",
        "Follow the reason in the message; `toolplane hooks ls` lists what each hook said about the call.";
    HOOKS_INVALID_INPUT = "hooks.invalid_input", Call(HookBlocked, NotRetryable),
        "a hook replaced the input by one the tool cannot take",
        "A hook replaced the input with one that the tool cannot take.",
        "The operator corrects the hook; `toolplane hooks ls` lists every run of a hook about the call.";
    HOOKS_MUTATION_FORBIDDEN = "hooks.mutation_forbidden", Call(HookBlocked, NotRetryable),
        "hook `<hook>` may not change the input of this tool",
        "A hook replaced the input of a tool whose declaration forbids hooks to do so.",
        "The operator corrects the hook, or the tool's author permits it with `mutation_policy`.";
    HOOKS_TOO_MANY_REWRITES = "hooks.too_many_rewrites", Call(HookBlocked, NotRetryable),
        "hooks changed the input more than <n> times without agreeing on one",
        "Two or more hooks kept changing the input after each other.",
        "The operator corrects the hooks: a hook must leave an input that it changed before as it is.";
    HOOKS_FAILED = "hooks.failed", Call(HookBlocked, VerifyBeforeRetry),
        "which hook failed, and that the call is denied or its output withheld",
        "A hook failed or did not answer in time: before the call, the call is denied (advice `change_arguments_or_policy`); after it, the tool has run and Toolplane withholds its output.",
        "The operator repairs the hook; `toolplane hooks ls` shows how it failed. If the tool ran, look for its effect before the call is made again.";
    CREDENTIAL_MISSING = "credential.missing", Call(CredentialMissing, CompleteSetup),
        "this worker has no credential `<name>`, or its source has nothing: <why>",
        "The tool needs a credential that the worker does not have: it is not configured there, its file is gone, or its variable is not set.",
        "The operator adds it to `[[credentials]]` of the worker, or puts the secret back. A file or a variable is looked at before every use, so nothing is restarted.";
    CREDENTIAL_OUT_OF_SCOPE = "credential.out_of_scope", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "the credential `<name>` is not for this <provider, tool, tenant or actor>",
        "The credential is there, but its scope does not take in the provider, the tool, the tenant or the actor of the call.",
        "Use a tool or a caller it is for, or the operator widens `providers`, `tools`, `tenants` or `actors` of the credential.";
    CREDENTIAL_UNREADABLE = "credential.unreadable", Call(CredentialMissing, CompleteSetup),
        "the credential `<name>` cannot be used: <why>",
        "The source of the credential is there, but what it gives cannot be used: others may read the file, it is too short, too long or not of its kind, or its command failed.",
        "The operator corrects what the message names; nothing is restarted.";
    CREDENTIAL_REFUSED = "credential.refused", Call(CredentialMissing, CompleteSetup),
        "the credential `<name>` is refused: <what the token server answered>",
        "The token server does not take the client id or secret, or the provider refuses every token it gives.",
        "The operator checks client id, secret and scopes with the provider's administrator; a changed secret is taken up without a restart.";
    CREDENTIAL_UNAVAILABLE = "credential.unavailable", Call(DependencyUnavailable, RetryLater),
        "the credential `<name>` cannot be had now: <why>",
        "The token server did not answer, or the command of the credential was late, and no earlier value may be used any more.",
        "Try again later; the operator checks the token server or the command.";
    CREDENTIAL_UNFIT = "credential.unfit", Call(SetupRequired, CompleteSetup),
        "the credential `<name>` cannot be put there: <rule>",
        "The tool's declaration wants the credential in a place it does not fit: a header with a line break, a field it does not have.",
        "The tool's author corrects where the credential goes, or the operator gives a credential of the right kind.";
    SANDBOX_UNAVAILABLE = "sandbox.unavailable", Call(CapabilityGap, CompleteSetup),
        "this worker cannot run sandboxed tools: <reason>",
        "The worker's machine lacks something the sandbox needs.",
        "The operator installs what the message names (bubblewrap, user namespaces), or runs the worker on another machine.";
    SANDBOX_SETUP_FAILED = "sandbox.setup_failed", Call(DependencyUnavailable, RetryLater),
        "which step of the sandbox failed, and the error",
        "The worker could not set up the sandbox of this run, so the tool did not run.",
        "Try again later; if it fails again, the operator corrects what the message names on the worker's machine.";
    SANDBOX_LOST = "sandbox.lost", Call(DependencyUnavailable, VerifyBeforeRetry),
        "the sandbox ended without saying how the tool ended",
        "The sandbox was killed from outside while the tool ran.",
        "Look whether the effect has happened before the call is made again; the operator looks in the system log for what killed it.";
    SANDBOX_VIOLATION = "sandbox.violation", Call(SandboxViolation, ChangeArgumentsOrPolicy),
        "what the tool tried",
        "The tool tried something its sandbox denies, and failed.",
        "Change the arguments so that the tool does not need it, or the tool's author changes `sandbox_profile`.";
    NO_SANDBOX_FOR_KIND = "exec.no_sandbox_for_kind", Call(CapabilityGap, CompleteSetup),
        "tools of this kind cannot run in a sandbox",
        "The tool's declaration asks for a sandbox, but tools of this kind never run in one.",
        "The tool's author changes `execution_profile.sandboxed` or the kind of the binding.";
    NATIVE_UNKNOWN = "exec.native_unknown", Call(CapabilityGap, CompleteSetup),
        "this worker has no native tool `<name>`",
        "The binding names a native tool that the worker does not have.",
        "The tool's author corrects the name, or the operator runs a worker that has the tool.";
    DISPATCH_UNREADABLE = "exec.dispatch_unreadable", Call(CapabilityGap, NotRetryable),
        "what in the call the worker cannot read",
        "The worker cannot read the call that the scheduler sent; usually their versions differ.",
        "The operator brings workers and schedulers to the same version (`toolplane workers` lists the workers).";
    PLACEMENT_NO_WORKER = "placement.no_worker", Call(CapabilityGap, RetryLater),
        "no connected worker serves pool `<pool>`",
        "No connected worker runs tools of this kind.",
        "The operator starts a worker that does (`executor.pools`); a worker for a native tool names it in `native_tools`. `toolplane workers` lists the connected ones.";
    PLACEMENT_DECLINED = "placement.*", Call(CapabilityGap, CompleteSetup),
        "no worker can run calls of pool `<pool>`: <message of the worker>",
        "Every connected worker refuses such calls; the word after the dot is the reason (`sandbox_unavailable`, `egress_not_configured` ...).",
        "The operator does what the message says on the workers' machines; `toolplane workers` lists them.";
    EXIT_CODE = "exec.exit_code", Call(ExecutionFailed, ChangeArguments),
        "exit code <n>",
        "The program ended with an exit code that does not count as success.",
        "Read its output and change the arguments; the tool's author lists further codes of success in `success_exit_codes`.";
    SIGNAL = "exec.signal", Call(ExecutionFailed, ChangeArguments),
        "ended by signal <n>",
        "A signal ended the program; often the program crashed.",
        "Read its output and change the arguments, or the tool's author corrects the program.";
    RESOURCE_LIMIT = "exec.resource_limit", Call(ExecutionFailed, ChangeArguments),
        "which limit was reached",
        "The program reached a limit of its sandbox, e.g. for memory, processes or files.",
        "Ask for less at a time, or the operator raises the limit that is named (`executor.sandbox`).";
    OUTPUT_LIMIT = "exec.output_limit", Call(ResultTooLarge, ChangeArguments),
        "which limit the output or the search reached",
        "The tool wrote, or a search would have read, more than its limit.",
        "Ask for less: a narrower pattern, a smaller range, fewer files.";
    OUTPUT_INVALID = "exec.output_invalid", Call(ExecutionFailed, ChangeArguments),
        "what in the output differs from the declaration",
        "The program's output does not have the form that its declaration promises.",
        "The tool's author corrects the tool or its declaration.";
    EXEC_TIMEOUT = "exec.timeout", Call(Timeout, VerifyBeforeRetry),
        "the tool's time was up and it was stopped",
        "The tool ran longer than its timeout, and the worker stopped it.",
        "Look whether the effect has happened; then ask for less, or the tool's author raises `timeout_ms` of its execution profile.";
    TIMEOUT_UNACKNOWLEDGED = "exec.timeout_unacked", Call(Timeout, VerifyBeforeRetry),
        "the tool's time was up; its worker did not confirm that it stopped",
        "The tool's timeout passed, and the worker could not confirm that the tool stopped.",
        "Look whether the effect has happened; it may still happen. Then ask for less, or the tool's author raises `timeout_ms` of its execution profile.";
    DEADLINE = "lifecycle.deadline_exceeded", Call(Timeout, RetrySafe),
        "the call's deadline passed before it completed",
        "The caller's deadline passed before the call ended.",
        "Call again with a later deadline (`--timeout-ms`); where the tool had started and is not idempotent, look for its effect first.";
    EXEC_CANCELED = "exec.canceled", Call(Canceled, VerifyBeforeRetry),
        "canceled while the tool ran",
        "A caller, an operator or a batch canceled the call while the tool ran.",
        "Look whether the effect has happened before the call is made again.";
    CANCELED = "cancel.requested", Call(Canceled, RetrySafe),
        "when the call was canceled",
        "A caller, an operator or a batch canceled the call before the tool had an effect.",
        "Make the call again if it is still wanted; where the tool had started, look for its effect first.";
    CANCEL_WORKER_LOST = "cancel.worker_lost", Call(Canceled, VerifyBeforeRetry),
        "canceled; the worker was lost before it confirmed that it stopped",
        "The call was canceled, and its worker was lost before it confirmed that the tool stopped.",
        "Look whether the effect has happened before the call is made again.";
    CANCEL_UNACKNOWLEDGED = "cancel.unacknowledged", Call(Canceled, VerifyBeforeRetry),
        "canceled; the worker never confirmed that it stopped",
        "The call was canceled, and its worker did not confirm in time that the tool stopped.",
        "Look whether the effect has happened; it may still happen.";
    SIBLING_CANCELED = "sibling.canceled", Call(SiblingCanceled, RetrySafe),
        "not executed: <why the sibling did not succeed>",
        "Another call of the batch did not succeed, and the batch cancels its other calls in that case.",
        "Read why the sibling failed (`toolplane batches get`), then submit the calls that are still wanted.";
    OUTCOME_UNKNOWN = "exec.outcome_unknown", Call(ExecutionFailed, VerifyBeforeRetry),
        "the worker was lost while the tool ran; its effect may or may not have happened",
        "The worker was lost or shut down while the tool ran; the effect may or may not have happened.",
        "Look whether the effect has happened before the call is made again; where the advice is `retry_safe`, because the tool only reads or may run twice, just make it again.";
    ATTEMPTS_EXHAUSTED = "exec.attempts_exhausted", Call(DependencyUnavailable, RetryLater),
        "gave up after <n> attempts",
        "The scheduler gave the call to a worker as often as its retry limit permits, and no attempt completed.",
        "The operator finds out why attempts fail (`toolplane watch` shows each one; the workers' logs); then make the call again.";
    POISON = "exec.poison_quarantined", Call(ExecutionFailed, NotRetryable),
        "<n> workers were lost while they ran this call; it is under quarantine",
        "Several workers were lost while they ran this call, so the scheduler runs neither it nor a call with the same input for a while. Such a later call has class `policy_blocked` and advice `retry_later`.",
        "Change the input, or wait until the quarantine ends; the operator finds out why the tool ends its workers.";
    START_GUARD_UNAVAILABLE = "exec.start_guard_unavailable", Call(DependencyUnavailable, RetryLater),
        "the call was not started: the object store that guards its start does not answer",
        "The tool's `start_guard` is `object`, and the object store did not answer, so the tool did not run.",
        "Try again when the object store answers (the operator checks `objects`), or the tool's author sets `start_guard` to `store`.";
    WORKER_FAULT = "exec.worker_fault", Call(ExecutionFailed, VerifyBeforeRetry),
        "the worker failed while it ran the tool",
        "The worker itself failed while it ran the tool.",
        "Look whether the effect has happened before the call is made again; the operator reads the worker's log.";
    UNSPECIFIED = "exec.unspecified", Call(ExecutionFailed, NotRetryable),
        "the executor reported a failure without saying why",
        "A worker reported a failure without an error.",
        "The author of the worker makes it report an error.";
    WORKSPACE_FULL = "workspace.full", Call(ExecutionFailed, CompleteSetup),
        "which part of the workspace is full",
        "The workspace, or the room of its tenant or worker, is full.",
        "Remove files from the workspace, or the operator raises `executor.quota`.";
    WORKSPACE_UNAVAILABLE = "workspace.unavailable", Call(DependencyUnavailable, CompleteSetup),
        "why the workspace cannot be opened",
        "The worker cannot open the workspace of the tenant.",
        "The operator checks the directory that is named (`executor.workspace`): it must exist and the worker must own it.";
    PATH_OUTSIDE = "path.outside_workspace", Call(SandboxViolation, ChangeArguments),
        "`<path>` leads out of the workspace",
        "The path leads out of the workspace.",
        "Give a path inside the workspace.";
    PATH_PROTECTED = "path.protected_path", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "`<path>` decides what other programs do here later, and no tool writes it",
        "Other programs later execute or obey what the file holds (e.g. `.git`), so no tool may write it, even with an approval.",
        "Write to another path; a person changes this file by hand.";
    PATH_LINKED = "path.linked", Call(PermissionDenied, ChangeArguments),
        "`<path>` leads to `<target>` through a link; name that path instead",
        "A link in the path leads to another file; file tools do not follow links, because permission was decided for the path as given.",
        "Use the path that is named; permission is then decided for that path.";
    PATHS_NOT_HIDDEN = "path.denied_not_hidden", Call(PermissionDenied, ChangeArgumentsOrPolicy),
        "rules deny paths that cannot be kept from this tool: <why>",
        "A deny rule covers files that the sandbox cannot hide from this tool, so the tool did not run.",
        "Remove what the message names from the workspace, or the operator narrows the deny rule (`toolplane rules ls`).";
    PATH_NOT_FOUND = "path.not_found", Call(ExecutionFailed, ChangeArguments),
        "there is no `<path>` in the workspace",
        "The workspace has no file at the path.",
        "List the directory and use a path that exists.";
    PATH_UNREADABLE = "path.unreadable", Call(ExecutionFailed, ChangeArguments),
        "why `<path>` cannot be read",
        "The file is not a text file, or the worker may not read it.",
        "Use another file or another tool.";
    PATH_UNWRITABLE = "path.unwritable", Call(ExecutionFailed, ChangeArguments),
        "why `<path>` cannot be written",
        "The worker may not write the file or its directory, or the file cannot be edited (too long, or not UTF-8).",
        "Use another path.";
    PATH_EXISTS = "path.exists", Call(ExecutionFailed, ChangeArguments),
        "`<path>` is there already",
        "The file exists, and the call did not say that the tool may replace it.",
        "Set `overwrite`, edit the file instead, or use another path.";
    PATH_CHANGED = "path.changed", Call(ExecutionFailed, ChangeArguments),
        "`<path>` was changed meanwhile",
        "Another program changed the file between the tool's read and its write.",
        "Read the file again and make the change for its new content.";
    EDIT_NOT_FOUND = "edit.text_not_found", Call(ExecutionFailed, ChangeArguments),
        "`old_string` is not in the file",
        "`old_string` is not in the file.",
        "Read the file and copy the text exactly.";
    EDIT_NOT_UNIQUE = "edit.text_not_unique", Call(ExecutionFailed, ChangeArguments),
        "`old_string` is in the file <n> times",
        "`old_string` is in the file more than once.",
        "Give more of the lines around it, or set `replace_all`.";
    EGRESS_DENIED = "http.egress_denied", Call(SandboxViolation, ChangeArgumentsOrPolicy),
        "<rule>: `<host, port, scheme or method>`",
        "The tool may not send this request: its host, port, scheme, method or redirect is not allowed.",
        "Use an allowed host; or the tool's author adds the host to `allowed_hosts`, and the operator to `executor.http.allow`.";
    HTTP_STATUS = "http.status", Call(ExecutionFailed, ChangeArguments),
        "the server answered with status <status>",
        "The server answered with status 400 or above. Class and advice follow the status.",
        "Follow the status: correct the request after 4xx; after 429 and 5xx wait (`retry_after_ms`, if the server named a time).";
    HTTP_UNREACHABLE = "http.unreachable", Call(DependencyUnavailable, RetryLater),
        "why the server could not be reached, or where its answer broke off",
        "The tool could not connect to the server, or the connection broke before the answer was complete (then `execution_failed`).",
        "Check host and port, then try again later; for a request that changes something, first look whether the server did it.";
    MCP_NOT_STARTED = "mcp.not_started", Call(DependencyUnavailable, RetryLater),
        "why the tool's MCP server could not be asked; nothing was sent",
        "The MCP server of the tool was not started, no session with it began, or the request could not be sent to it. The tool did not run.",
        "Try again later; whoever runs the server looks at what the message names.";
    MCP_NO_ANSWER = "mcp.no_answer", Call(DependencyUnavailable, VerifyBeforeRetry),
        "sent, and no answer came: <why>",
        "The MCP server ended, broke off or was closed for what it sent before it answered. The tool may have run.",
        "Look whether the effect has happened before making the call again.";
    MCP_REFUSED = "mcp.refused", Call(ExecutionFailed, ChangeArguments),
        "the server refused: error <code>: <message>",
        "The MCP server answered with an error of the protocol: a tool it does not have, arguments it does not take, or a tool that ended so.",
        "Change the arguments as the message says; for a tool the server has no longer, look for another one.";
    MCP_ANSWER = "mcp.unreadable_answer", Call(ExecutionFailed, VerifyBeforeRetry),
        "the answer cannot be read: <why>",
        "The MCP server answered something that is not a result of a tool. The tool has run, or may have.",
        "Look whether the effect has happened; whoever runs the server brings it to what the protocol says.";
    MCP_TOOL_FAILED = "mcp.tool_failed", Call(ExecutionFailed, ChangeArguments),
        "the tool says that it failed: <the beginning of what it says>",
        "The MCP server answered that its tool failed. The content of the result says why.",
        "Follow what the content says; look whether an effect has happened before making the call again.";
    MCP_NOT_ALLOWED = "mcp.not_allowed", Call(PolicyBlocked, ChangeArgumentsOrPolicy),
        "this worker's operator does not allow MCP servers <what>; see `<key>`",
        "The binding of the tool asks for a variable of the worker's environment or for a directory that the operator did not allow.",
        "The operator adds it to `executor.mcp.env_names` or `executor.mcp.read_paths` of the worker, or the tool's author does without it.";
    MCP_NOT_GIVEN = "mcp.input_not_given", Call(CapabilityGap, NotRetryable),
        "the server wants what it is not given: <what>",
        "The MCP server asked for something beside answers of a person: a model, roots, or more questions than one call may ask.",
        "Use another tool; servers are given neither a model nor roots.";
    PROVIDER_AWAY = "provider.away", Call(DependencyUnavailable, RetryLater),
        "the provider `<id>` is away (<what happened>); it is tried again <when>",
        "The provider of the tool does not answer, or answers with something else than it should, so its tools are not called for a while.",
        "Wait for `retry_after_ms` and try again, or use another tool; the operator looks at `toolplane providers ls`.";
    PROVIDER_RETIRED = "provider.retired", Call(CapabilityGap, NotRetryable),
        "the provider `<id>` is retired",
        "Somebody took the provider of the tool out of use.",
        "Use another tool.";
    PROVIDED_TOOL_WAITS = "provider.tool_waits", Call(SetupRequired, CompleteSetup),
        "`<tool>` is new | has changed: it cannot be called until somebody has looked at it",
        "Nobody has approved the tool as its provider defines it now.",
        "A person looks at the definition and approves it (`toolplane providers review`).";
    PROVIDED_TOOL_REJECTED = "provider.tool_rejected", Call(PolicyBlocked, NotRetryable),
        "somebody looked at `<tool>` and does not want it to be called",
        "A person rejected the tool as its provider defines it now.",
        "Use another tool.";
    PROVIDED_TOOL_WITHDRAWN = "provider.tool_withdrawn", Call(UnknownTool, DiscoverToolFirst),
        "the provider has no tool `<tool>` any more",
        "The provider no longer lists the tool.",
        "Search for another tool.";
    PROVIDED_TOOL_REFUSED = "provider.tool_refused", Call(CapabilityGap, NotRetryable),
        "`<tool>` cannot be called as its provider defines it now",
        "The provider changed the tool to something that cannot be a tool here (`toolplane providers tools` says why).",
        "Use another tool; the provider's author corrects the definition.";
    OPENAPI_DOCUMENT = "openapi.document_refused", Call(ExecutionFailed, CompleteSetup),
        "`<place in the document>` <rule>",
        "The bytes are no OpenAPI document, are of a version that is not known, or break a bound on size, nesting or number of operations.",
        "Correct the place that is named, or name another document; known are OpenAPI 3.0, 3.1, 3.2 and Swagger 2.0.";
    OPENAPI_OPERATION = "openapi.operation_refused", Call(ExecutionFailed, CompleteSetup),
        "`<operation>` is not imported: `<place in the document>` <rule>",
        "One operation of an OpenAPI document cannot be a tool; the others are imported all the same.",
        "Correct the place that is named, name a server where the document has none, or do without the operation.";
    OPENAPI_SELECTION = "openapi.selection_unknown", Call(InvalidArguments, ChangeArguments),
        "the document has no <tag, path, operation or method> `<word>`",
        "The selection asks for something the OpenAPI document does not have, so nothing was imported.",
        "Use a word of the document; without a selection all of its operations are imported.";
    RESULT_TOO_LARGE = "result.too_large", Call(ResultTooLarge, NotRetryable),
        "the tool succeeded, but its <output> is larger than may be kept",
        "The tool succeeded, but its result is larger than `objects.max_bytes`; only a preview is kept.",
        "Use the preview, or make another call that returns less; the operator may raise `objects.max_bytes`.";
    RESULT_NOT_KEPT = "result.not_kept", Call(PartialFailure, NotRetryable),
        "the tool succeeded, but its <output> could not be kept in whole",
        "The tool succeeded, but the object store did not take its result; only a preview is kept.",
        "Use the preview; the operator checks the object store (`objects` in the configuration).";
    RESULT_WITHHELD = "result.withheld", Call(ResultRedacted, NotRetryable),
        "the tool succeeded, but its output is withheld: <reason>",
        "The tool succeeded, and a hook that runs after the call withheld its output.",
        "Do without the output, or have the operator change the hook (`toolplane hooks ls` names it).";
    RESULT_NOT_CLEANED = "result.not_cleaned", Call(ResultRedacted, NotRetryable),
        "the tool ended and its effect is done, but its output is withheld: <why>",
        "Its tool declares that what it gives is redacted (`redaction_required`, `redaction_rules`), and an output cannot be looked through.",
        "Have the tool give a text, or smaller outputs; or its author takes the declaration back.";
    RESULT_MAPPING = "result.mapping_failed", Call(ExecutionFailed, VerifyBeforeRetry),
        "the tool ran, but its worker's report cannot be read: <why>",
        "The tool ran, but the scheduler cannot read its worker's report; usually their versions differ.",
        "Look whether the effect has happened; the operator brings workers and schedulers to the same version.";
    RESULT_CONTENT = "result.content_undeclared", Call(PartialFailure, NotRetryable),
        "the tool gave content of a class it does not declare, which is left out: <classes>",
        "The tool ended well, and part of its content is of a class that its `output_contract.content_types` does not list.",
        "Use what is there; the tool's author lists the class, or gives other content.";
    RESULT_ARTIFACT = "result.artifact_missing", Call(PartialFailure, NotRetryable),
        "the tool ended, and left no artifact as it was expected to: <patterns>",
        "The tool ended well and did not leave an artifact that its `output_contract.artifact_expectations` asks for.",
        "Look at what the tool says of it; the effect of the call is done, so it is not made again blindly.";
    RESULT_SCHEMA = "result.output_schema_mismatch", Call(ExecutionFailed, VerifyBeforeRetry),
        "the structured output does not fit the schema the tool declares; the fields are in `field_violations`",
        "The tool ran, but its structured output does not fit the `output_schema` it declares.",
        "Look whether the effect has happened; the tool's author corrects the tool or its `output_schema`.";
}
