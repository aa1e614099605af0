/** Requests as promises: deadlines, cancellation, and retries while the cluster is away. */

import { Metadata, type CallOptions, type ClientReadableStream, type ClientUnaryCall, type ServiceError } from "@grpc/grpc-js";

import type { Connection } from "./connection.js";
import { RequestError, UnreachableError } from "./errors.js";
import { isAway } from "./status.js";

/** How long one request may take that is answered at once, in milliseconds. */
const PATIENCE_MS = 30_000;

/** How a request is made. @internal */
export interface Asking {
  /** Longest time for one try, in milliseconds. */
  timeoutMs?: number;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
  /** How long it is tried again while the cluster is away, in milliseconds; not at all when this and `deadline` are absent. */
  awayMs?: number;
  /** Until when, by `Date.now()`, when the caller has said so. */
  deadline?: number | undefined;
}

type Method<Q, A> = (
  request: Q,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, answer: A) => void,
) => ClientUnaryCall;

/** One request and its answer. `method` is called as a method of `client`. @internal */
export async function ask<C, Q, A>(
  connection: Connection,
  client: C,
  method: (client: C) => Method<Q, A>,
  request: Q,
  asking: Asking = {},
): Promise<A> {
  const once = (): Promise<A> =>
    new Promise((resolve, reject) => {
      const deadline = Date.now() + (asking.timeoutMs ?? PATIENCE_MS);
      if (asking.signal?.aborted) return reject(asking.signal.reason as Error);
      const metadata = connection.metadata();
      const call = method(client).call(client, request, metadata, { deadline }, (error, answer) => {
        asking.signal?.removeEventListener("abort", stop);
        if (error) return reject(asking.signal?.aborted ? asking.signal.reason : connection.reach.failed(error));
        connection.reach.answered();
        resolve(answer);
      });
      const stop = (): void => call.cancel();
      asking.signal?.addEventListener("abort", stop, { once: true });
    });
  const patience = new Patience(connection, asking);
  for (;;) {
    try {
      return await once();
    } catch (error) {
      await patience.failed(error, asking.signal);
    }
  }
}

/** Waits before a request is made again while the cluster is away, and says when enough is enough. @internal */
export class Patience {
  #failures = 0;
  #began = Date.now();
  #since: number | undefined;

  constructor(
    readonly connection: Connection,
    readonly bounds: Pick<Asking, "awayMs" | "deadline">,
  ) {}

  /** There was an answer. */
  answered(): void {
    [this.#failures, this.#since] = [0, undefined];
  }

  /** Returns when the request is to be made again; throws `error` when it is not. */
  async failed(error: unknown, signal?: AbortSignal): Promise<void> {
    this.#since ??= Date.now();
    if (!isAway(error)) throw error;
    const wait = backoff(this.#failures, error.retryAfterMs);
    this.#failures += 1;
    if (Date.now() + wait >= this.#until(error)) throw error;
    this.connection.reach.waits(error);
    await pause(wait, signal);
  }

  #until(error: RequestError): number {
    const { awayMs, deadline } = this.bounds;
    if (awayMs === undefined && deadline === undefined) return 0;
    if (error instanceof UnreachableError) return Math.min(this.#began + this.connection.reach.connectMs, deadline ?? Infinity);
    return deadline ?? (this.#since ?? 0) + (awayMs ?? 0);
  }
}

/** How long to wait after so many failures, in milliseconds: doubled each time up to 2 s, and spread by chance. @internal */
export function backoff(failures: number, atLeastMs = 0): number {
  const most = Math.min(2_000, 100 * 2 ** Math.min(failures, 10));
  return Math.max(atLeastMs, most / 2 + (Math.random() * most) / 2);
}

/** Waits, unless the signal ends it. @internal */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason as Error);
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    signal?.addEventListener("abort", stop, { once: true });
  });
}

/** The messages of a stream, in order. Ends the stream when its reader leaves, and fails with a {@link RequestError}. @internal */
export async function* messages<T>(
  connection: Connection,
  open: () => ClientReadableStream<T>,
  signal?: AbortSignal,
): AsyncGenerator<T, void, void> {
  if (signal?.aborted) throw signal.reason;
  const stream = open();
  const stop = (): void => stream.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for await (const message of stream) {
      connection.reach.answered();
      yield message as T;
    }
  } catch (error) {
    throw signal?.aborted ? signal.reason : connection.reach.failed(error);
  } finally {
    signal?.removeEventListener("abort", stop);
    // What is left of it is not wanted; without a listener its end would be an error nobody hears.
    stream.on("error", () => {});
    stream.cancel();
  }
}

/** That a deadline of the caller's own passed while the cluster did not answer. @internal */
export function deadlinePassed(what: string): RequestError {
  return new RequestError(`${what} within the time the caller gave`, "DEADLINE_EXCEEDED", "verify_before_retry", "DEADLINE_EXCEEDED");
}
