/** What a caller says of a call, and the request that is made of it. */

import { randomBytes } from "node:crypto";

import { InvocationSpec, type BatchCall } from "./gen/toolplane/v1/invocation_service.js";
import { LockMode } from "./gen/toolplane/v1/vocabulary.js";
import { toPayload } from "./payload.js";

/** What may be said of a single call. */
export interface CallFacts {
  /** The session it belongs to. A tool that is not safe beside others is alone in it while it runs. */
  session?: string;
  /** What it belongs to beside the session: `task:ID`, `turn:ID`, ..., `role:NAME`; the connection's own when absent. A surface that is for one
   * wants it named. */
  refs?: readonly string[];
  /** Another surface than the connection's; its tools must have been loaded there. */
  surface?: string;
  /** Who calls, for the record. */
  actor?: string;
  /** The provider's id of the call, e.g. the `call_id` of a model. */
  nativeCallId?: string;
  /** `interactive`, `normal` or `background`. */
  priority?: string;
  /** Permission mode: `default`, `accept_edits`, `plan`, `dont_ask` or `bypass`. */
  mode?: string;
  /** Nobody can approve: what needs an approval is denied at once. */
  noApprover?: boolean;
  /** Nobody waits for it: in a batch no other result does, and each stage is told as progress. Use it with `submit`. Refused for a tool that
   * does not declare it. */
  background?: boolean;
  /** Locks it needs before it may run, at most 16; exclusive unless said otherwise. */
  locks?: readonly (string | { key: string; shared?: boolean })[];
  /** How sure the agent is, from 0 to 1. It can only make the decision stricter. */
  confidence?: number;
  /** Digest of the schema the arguments were made for (`tools.load`). Another one by now ends the call with what changed. */
  declarationDigest?: string;
  /** The moment of the surface the agent goes by (`tools.surfaceMoment()`, or `moment` of a change): when the tool is another thing by now, or has another
   * name, the call ends with what it is. */
  surfaceMoment?: string;
}

/** A name for a call, made up here so that it can be canceled before its first answer. @internal */
export function newId(kind: string): string {
  return `${kind}_${randomBytes(16).toString("hex")}`;
}

/** The request of a call. @internal */
export function toSpec(name: string, args: unknown, facts: CallFacts, surface: string): InvocationSpec {
  // A call that was to be guarded goes not without.
  if (facts.surfaceMoment === "") throw new TypeError("`surfaceMoment` is empty: leave it out, or give a moment");
  return InvocationSpec.fromPartial({
    surfaceId: facts.surface ?? surface,
    toolName: name,
    modelInput: toPayload(args ?? {}),
    nativeCallId: facts.nativeCallId ?? "",
    actorRef: facts.actor ?? "",
    priority: facts.priority ?? "",
    permissionMode: facts.mode ?? "",
    noApprover: facts.noApprover ?? false,
    background: facts.background ?? false,
    sessionRef: facts.session ?? "",
    runtimeRefs: [...(facts.refs ?? [])],
    declarationDigest: facts.declarationDigest ?? "",
    surfaceMoment: facts.surfaceMoment ?? "",
    resourceLocks: (facts.locks ?? []).map((lock) => {
      const { key, shared } = typeof lock === "string" ? { key: lock, shared: false } : lock;
      return { key, modeCode: shared ? LockMode.LOCK_MODE_SHARED : LockMode.LOCK_MODE_EXCLUSIVE };
    }),
    ...(facts.confidence === undefined ? {} : { assurance: { confidence: facts.confidence } }),
  });
}

/** One call of a batch. */
export interface BatchItemSpec extends CallFacts {
  /** Name, alias or id of the tool. */
  name: string;
  /** Its arguments; an empty object when absent. */
  args?: unknown;
  /** Positions of earlier calls that must succeed first, from 0. */
  dependsOn?: readonly number[];
}

/** @internal */
export function toBatchCall(item: BatchItemSpec, surface: string): BatchCall {
  const { name, args, dependsOn, ...facts } = item;
  return { spec: toSpec(name, args, facts, surface), dependsOn: [...(dependsOn ?? [])], siblingFailurePolicy: 0 };
}
