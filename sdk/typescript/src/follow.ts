/** One call from its request to its result, over broken streams and restarts of the cluster. */

import type { Connection } from "./connection.js";
import { CanceledError, RequestError } from "./errors.js";
import type { Event } from "./gen/toolplane/v1/event.js";
import type { InvocationSpec, InvokeResponse, WatchInvocationResponse } from "./gen/toolplane/v1/invocation_service.js";
import type { ToolResult } from "./gen/toolplane/v1/result.js";
import { cutShort } from "./read.js";
import { ask, backoff, deadlinePassed, messages, Patience, pause } from "./rpc.js";

/** How long the cluster may be away before a call fails, in milliseconds, when the caller gives no deadline. */
const AWAY_MS = 60_000;
/** How long one request waits for an end, in milliseconds; then the same is asked again. */
const WAIT_MS = 30_000;
/** What the cluster may take to say that a deadline passed, in milliseconds. */
const SLACK_MS = 5_000;

/** How a call is followed. @internal */
export interface Following {
  /** The caller's deadline for the whole call, in milliseconds. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** One call of a caller. @internal */
export class Call {
  readonly #connection: Connection;
  /** Until when a cluster that is away is tried again: the caller's deadline, when there is one. */
  readonly #deadline: number | undefined;
  /** Which call it is: the id of ours, or that of the earlier call with the same key. */
  invocationId: string;

  constructor(
    connection: Connection,
    readonly spec: InvocationSpec,
    readonly following: Following,
  ) {
    this.#connection = connection;
    this.invocationId = spec.invocationId;
    const { timeoutMs } = following;
    this.#deadline = timeoutMs === undefined ? undefined : Date.now() + timeoutMs;
  }

  /** The result, by the cheapest way: one request, and more only while the call goes on. */
  async result(): Promise<ToolResult> {
    return await this.#cancelable(async (signal) => {
      const first = await this.#call(signal);
      if (first.accepted) this.invocationId = first.accepted.invocationId;
      return first.result ?? (await waited(this.#connection, this.invocationId, this.following, signal));
    });
  }

  async #call(signal: AbortSignal | undefined) {
    const wait = this.#wait();
    const request = { spec: this.spec, waitMs: wait, form: undefined };
    const asking = { timeoutMs: wait + SLACK_MS, signal, deadline: this.#deadline, awayMs: AWAY_MS };
    return await ask(this.#connection, this.#connection.invocations, (client) => client.call, request, asking);
  }

  #wait(): number {
    return Math.max(1, Math.min(WAIT_MS, this.following.timeoutMs ?? WAIT_MS));
  }

  /** Its events in order, and then its result. A broken stream is taken up where it broke. */
  async *events(): AsyncGenerator<Event | ToolResult, void, void> {
    const { signal } = this.following;
    let [last, accepted] = [0n, false];
    const patience = new Patience(this.#connection, { deadline: this.#deadline, awayMs: AWAY_MS });
    this.#mayBegin();
    for (;;) {
      try {
        const stream = accepted ? this.#watch(last + 1n) : this.#invoke();
        for await (const message of stream) {
          patience.answered();
          if ("accepted" in message && message.accepted) {
            accepted = true;
            this.invocationId = message.accepted.invocationId;
          }
          for (const event of message.events) {
            if (event.sequence <= last) continue;
            last = event.sequence;
            yield event;
          }
          if (message.result) return yield message.result;
        }
        throw cutShort(`the call ${this.invocationId}`);
      } catch (error) {
        if (signal?.aborted) throw await this.cancel(signal.reason);
        await patience.failed(error);
      }
    }
  }

  #invoke(): AsyncGenerator<InvokeResponse> {
    const { invocations } = this.#connection;
    const open = () => invocations.invoke({ spec: this.spec, form: undefined }, this.#connection.metadata());
    return messages(this.#connection, open, this.following.signal);
  }

  #watch(fromSeq: bigint): AsyncGenerator<WatchInvocationResponse> {
    const { invocations } = this.#connection;
    const request = { invocationId: this.invocationId, fromSeq, form: undefined };
    const open = () => invocations.watchInvocation(request, this.#connection.metadata());
    return messages(this.#connection, open, this.following.signal);
  }

  /** Ends `work` when the caller's signal fires, and cancels the call. */
  async #cancelable<T>(work: (signal: AbortSignal | undefined) => Promise<T>): Promise<T> {
    const { signal } = this.following;
    this.#mayBegin();
    try {
      return await work(signal);
    } catch (error) {
      if (!signal?.aborted) throw error;
      throw await this.cancel(signal.reason);
    }
  }

  /** A call that is canceled before it was made is not made. */
  #mayBegin(): void {
    const { signal } = this.following;
    if (signal?.aborted) throw new CanceledError(undefined, true, signal.reason);
  }

  /** Asks to cancel the call; what to throw then. */
  async cancel(reason: unknown): Promise<CanceledError> {
    const accepted = await this.#askToCancel().catch(() => false);
    return new CanceledError(this.invocationId, accepted, reason);
  }

  /** The request may be on its way still, and then there is no such call yet: it is asked for a little while. */
  async #askToCancel(): Promise<boolean> {
    for (let tries = 0; ; tries += 1) {
      try {
        return await canceled(this.#connection, this.invocationId, "the caller's signal");
      } catch (error) {
        if (!(error instanceof RequestError) || error.status !== "NOT_FOUND" || tries >= 4) throw error;
        this.invocationId = (await this.#byKey()) ?? this.invocationId;
        await pause(backoff(tries));
      }
    }
  }

  /** An earlier call with the same key has an id of its own. */
  async #byKey(): Promise<string | undefined> {
    const { invocations } = this.#connection;
    const request = { ...NO_FILTER, idempotencyKey: this.spec.idempotencyKey, pageSize: 1 };
    const found = await ask(this.#connection, invocations, (client) => client.listInvocations, request);
    return found.invocations[0]?.invocationId;
  }
}

const NO_FILTER = {
  status: "",
  statusCode: 0,
  toolId: "",
  surfaceId: "",
  createdAfter: undefined,
  createdBefore: undefined,
  pageToken: "",
  batchId: "",
  sessionRef: "",
  queueState: 0,
};

/** Waits for the end of a call. @internal */
export async function waited(
  connection: Connection,
  invocationId: string,
  following: Following,
  signal?: AbortSignal,
): Promise<ToolResult> {
  const giveUpAt = following.timeoutMs === undefined ? undefined : Date.now() + following.timeoutMs + SLACK_MS;
  for (;;) {
    const left = giveUpAt === undefined ? WAIT_MS : Math.min(WAIT_MS, giveUpAt - Date.now());
    if (left <= 0) throw deadlinePassed(`the call ${invocationId} did not end`);
    const asking = { timeoutMs: left + SLACK_MS, signal, deadline: giveUpAt, awayMs: AWAY_MS };
    const request = { invocationId, timeoutMs: left, form: undefined };
    const answer = await ask(connection, connection.invocations, (client) => client.waitInvocation, request, asking);
    if (answer.result) return answer.result;
    // The process that waited stops; the call goes on, and another one is there in a moment.
    if (answer.cutShort) await pause(answer.cutShort.retryAfterMs, signal);
  }
}

/** Asks to cancel a call; whether the cluster took it. @internal */
export async function canceled(connection: Connection, invocationId: string, reason: string, abortReason = ""): Promise<boolean> {
  const request = { invocationId, reason, requestedBy: "", requestId: crypto.randomUUID(), abortReason };
  const asking = { awayMs: 10_000 };
  const answer = await ask(connection, connection.invocations, (client) => client.cancelInvocation, request, asking);
  return answer.cancel !== undefined && answer.cancel.failed === undefined;
}
