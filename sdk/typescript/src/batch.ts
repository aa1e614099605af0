/** Several calls that are accepted as a whole, or not at all. */

import type { Connection } from "./connection.js";
import { CanceledError } from "./errors.js";
import type { Batch } from "./gen/toolplane/v1/batch.js";
import type { Event } from "./gen/toolplane/v1/event.js";
import { BatchSpec, WatchBatchRequest, type BatchItem, type InvokeBatchResponse } from "./gen/toolplane/v1/invocation_service.js";
import type { ToolResult } from "./gen/toolplane/v1/result.js";
import { OrderingPolicy, SiblingFailurePolicy } from "./gen/toolplane/v1/vocabulary.js";
import { cutShort } from "./read.js";
import { ask, messages, Patience } from "./rpc.js";
import { newId, toBatchCall, type BatchItemSpec } from "./spec.js";

/** How a batch is run. */
export interface BatchOptions {
  /** The same key and the same batch within a day is accepted once; made up when absent. */
  idempotencyKey?: string;
  /** The session its calls belong to. */
  session?: string;
  /** Most calls at a time. */
  maxParallel?: number;
  /** `preserve` gives results in the declared order (the default), `unordered` as they come, `serial` runs one after another. */
  order?: "preserve" | "unordered" | "serial";
  /** What a failure does to the others: nothing (the default), or it cancels those that depend on it, or all. */
  onFailure?: "ignore" | "cancel_dependent" | "cancel_siblings";
  /** Cancels every call of the batch that has not ended. */
  signal?: AbortSignal;
}

/** News of one call of a batch: an event, or its result. */
export type BatchNews = { index: number; event: Event } | { index: number; result: ToolResult };

const ORDER = {
  preserve: OrderingPolicy.ORDERING_POLICY_PRESERVE_TERMINAL_ORDER,
  unordered: OrderingPolicy.ORDERING_POLICY_ALLOW_UNORDERED,
  serial: OrderingPolicy.ORDERING_POLICY_SERIAL,
};
const ON_FAILURE = {
  ignore: SiblingFailurePolicy.SIBLING_FAILURE_POLICY_IGNORE,
  cancel_dependent: SiblingFailurePolicy.SIBLING_FAILURE_POLICY_CANCEL_DEPENDENT,
  cancel_siblings: SiblingFailurePolicy.SIBLING_FAILURE_POLICY_CANCEL_SIBLINGS,
};
/** How long the cluster may be away before the batch fails here, in milliseconds. The batch itself goes on. */
const AWAY_MS = 60_000;

function toBatch(calls: readonly BatchItemSpec[], options: BatchOptions, surface: string): BatchSpec {
  return BatchSpec.fromPartial({
    calls: calls.map((call) => toBatchCall(call, surface)),
    batchId: newId("batch"),
    idempotencyKey: options.idempotencyKey ?? newId("key"),
    sessionRef: options.session ?? "",
    policy: {
      ...(options.maxParallel === undefined ? {} : { maxParallel: options.maxParallel }),
      orderingPolicy: options.order ? ORDER[options.order] : 0,
      siblingFailurePolicy: options.onFailure ? ON_FAILURE[options.onFailure] : 0,
    },
  });
}

/** Makes a batch and gives its news, over broken streams; returns the batch as it ended. @internal */
export async function* batchNews(
  connection: Connection,
  calls: readonly BatchItemSpec[],
  options: BatchOptions,
  surface: string,
): AsyncGenerator<BatchNews, Batch, void> {
  const { invocations } = connection;
  const spec = toBatch(calls, options, surface);
  const seen = new Seen(spec.batchId);
  const patience = new Patience(connection, { awayMs: AWAY_MS });
  for (;;) {
    const open = () =>
      seen.accepted
        ? invocations.watchBatch(seen.request(), connection.metadata())
        : invocations.invokeBatch({ spec, form: undefined }, connection.metadata());
    try {
      for await (const message of messages<Message>(connection, open as () => never, options.signal)) {
        patience.answered();
        yield* seen.take(message);
        if (message.batch) return message.batch;
      }
      throw cutShort(`the batch ${seen.batchId}`);
    } catch (error) {
      if (options.signal?.aborted) throw await stopped(connection, seen.batchId, options.signal.reason);
      await patience.failed(error);
    }
  }
}

type Message = Pick<InvokeBatchResponse, "items" | "batch"> & Partial<Pick<InvokeBatchResponse, "accepted">>;

/** How far a batch was seen, so that a new stream goes on there. */
class Seen {
  accepted = false;
  readonly #events = new Map<number, bigint>();
  #yields = 0n;

  constructor(public batchId: string) {}

  *take(message: Message): Generator<BatchNews> {
    if (message.accepted) [this.accepted, this.batchId] = [true, message.accepted.batchId];
    for (const item of message.items) yield* this.#item(item);
  }

  *#item({ index, events, result, yieldSeq }: BatchItem): Generator<BatchNews> {
    for (const event of events) {
      if (event.sequence <= (this.#events.get(index) ?? 0n)) continue;
      this.#events.set(index, event.sequence);
      yield { index, event };
    }
    if (result && yieldSeq > this.#yields) {
      this.#yields = yieldSeq;
      yield { index, result };
    }
  }

  request(): WatchBatchRequest {
    const from = [...this.#events].map(([index, seq]) => ({ index, fromSeq: seq + 1n }));
    return { batchId: this.batchId, from, afterYieldSeq: this.#yields, form: undefined };
  }
}

async function stopped(connection: Connection, batchId: string, reason: unknown): Promise<CanceledError> {
  const request = { batchId, reason: "the caller's signal", requestedBy: "", requestId: crypto.randomUUID() };
  const asking = { awayMs: 10_000 };
  const taken = ask(connection, connection.invocations, (client) => client.cancelBatch, request, asking);
  const accepted = await taken.then(() => true).catch(() => false);
  return new CanceledError(undefined, accepted, reason);
}
