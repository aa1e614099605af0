/** Where a call needs a person: approvals and questions, answered by callbacks of the caller. */

import type { Connection } from "./connection.js";
import { AnswerRefusedError, RequestError } from "./errors.js";
import type { Approval } from "./gen/toolplane/v1/approval.js";
import { ProvideInputRequest } from "./gen/toolplane/v1/invocation_service.js";
import { ResolveApprovalRequest } from "./gen/toolplane/v1/permission_service.js";
import { ApprovalState, Behavior } from "./gen/toolplane/v1/vocabulary.js";
import { payloadValue, toPayload } from "./payload.js";
import { ask } from "./rpc.js";
import { isAway } from "./status.js";

/** How long the cluster may be away before an answer fails, in milliseconds. */
const AWAY_MS = 60_000;

/** Given as an answer to a question: the tool is told that nobody wants to answer. */
export const DECLINED: unique symbol = Symbol("declined");

/** A question that a running tool asks. */
export interface Question {
  /** The call. */
  readonly invocationId: string;
  /** The question, unique within its call. */
  readonly inputId: string;
  /** The question, for people. */
  readonly prompt: string;
  /** JSON Schema the answer has to fit, when there is one. */
  readonly schema: unknown;
  /** When the tool is told that nobody answered. */
  readonly expiresAt: Date | undefined;
}

/** `approve` or `deny` answers at once; undefined leaves the question to people, and the call waits on. */
export type ApprovalAnswer = "approve" | "deny" | undefined | void;

/** What a caller does where its call needs a person. */
export interface People {
  /** Answers an approval. The caller's credential needs the role `approver`, and may be kept from approving its own calls. */
  onApproval?: (approval: Approval) => ApprovalAnswer | Promise<ApprovalAnswer>;
  /** Answers a question of the tool: a value that fits its schema, {@link DECLINED}, or undefined to leave it to others. */
  onInput?: (question: Question) => unknown;
}

/** Lets `onApproval` answer the open question of a call. @internal */
export async function approve(connection: Connection, invocationId: string, people: People): Promise<void> {
  const approvalId = (await record(connection, invocationId))?.approvalRequestRef;
  if (!approvalId || !people.onApproval) return;
  const { permissions } = connection;
  const request = { approvalId, view: 0, form: undefined };
  const { approval } = await ask(connection, permissions, (client) => client.getApproval, request, { awayMs: AWAY_MS });
  if (approval?.state !== ApprovalState.APPROVAL_STATE_PENDING) return;
  const answer = await people.onApproval(approval);
  if (answer === undefined) return;
  // Taken for nothing, it would leave a call waiting for nobody.
  if (answer !== "approve" && answer !== "deny") throw new TypeError('`onApproval` gives "approve", "deny", or nothing');
  await resolveApproval(connection, approvalId, answer).catch((error: unknown) => notTaken(invocationId, error));
}

/** Answers an approval. @internal */
export async function resolveApproval(connection: Connection, approvalId: string, answer: "approve" | "deny", feedback = "") {
  const behavior = answer === "approve" ? Behavior.BEHAVIOR_ALLOW : Behavior.BEHAVIOR_DENY;
  const request = ResolveApprovalRequest.fromPartial({ approvalId, behavior, feedback, requestId: crypto.randomUUID() });
  const asking = { awayMs: AWAY_MS };
  return await ask(connection, connection.permissions, (client) => client.resolveApproval, request, asking);
}

/** Lets `onInput` answer the open question of a running tool. @internal */
export async function answerInput(connection: Connection, invocationId: string, people: People): Promise<void> {
  const pending = (await record(connection, invocationId))?.pendingInput;
  if (!pending || pending.answer || !people.onInput) return;
  const { inputId, prompt, expiresAt } = pending;
  const answer = await people.onInput({ invocationId, inputId, prompt, schema: payloadValue(pending.schema), expiresAt });
  if (answer === undefined) return;
  await provideInput(connection, invocationId, answer, inputId).catch((error: unknown) => notTaken(invocationId, error));
}

/** An answer was not taken. Somebody else's was first, or the call has ended: then it is nobody's any more. Else it is the callback's mistake. */
function notTaken(invocationId: string, error: unknown): void {
  if (!(error instanceof RequestError)) throw error;
  if (error.status === "FAILED_PRECONDITION") return;
  throw isAway(error) ? error : new AnswerRefusedError(invocationId, error);
}

/** Answers a question of a running tool. @internal */
export async function provideInput(connection: Connection, invocationId: string, answer: unknown, inputId = "") {
  const given = answer === DECLINED ? { declined: true } : { input: toPayload(answer) };
  const request = ProvideInputRequest.fromPartial({ invocationId, inputId, ...given });
  return await ask(connection, connection.invocations, (client) => client.provideInput, request, { awayMs: AWAY_MS });
}

async function record(connection: Connection, invocationId: string) {
  const request = { invocationId, view: 0, includeInputs: false, form: undefined, includeTrail: false };
  const asking = { awayMs: AWAY_MS };
  const answer = await ask(connection, connection.invocations, (client) => client.getInvocation, request, asking);
  return answer.invocation;
}
