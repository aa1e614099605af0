/** Requests as promises: deadlines, cancellation, and retries while the cluster is away. */

import { Metadata, type CallOptions, type ClientReadableStream, type ClientUnaryCall, type ServiceError } from "@grpc/grpc-js";

import type { Connection } from "./connection.js";
import { RequestError } from "./errors.js";
import { isAway, requestError } from "./status.js";

/** How long one request may take that is answered at once, in milliseconds. */
const PATIENCE_MS = 30_000;

/** How a request is made. @internal */
export interface Asking {
  /** Longest time for one try, in milliseconds. */
  timeoutMs?: number;
  /** Ends the request. */
  signal?: AbortSignal | undefined;
  /** Until when it is tried again while the cluster is away, by `Date.now()`; not at all when absent. */
  retryUntil?: number;
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
        if (error) reject(asking.signal?.aborted ? asking.signal.reason : requestError(error));
        else resolve(answer);
      });
      const stop = (): void => call.cancel();
      asking.signal?.addEventListener("abort", stop, { once: true });
    });
  return await retrying(once, asking);
}

/** Tries `once` again while the cluster is away, with waits that grow. @internal */
export async function retrying<T>(once: () => Promise<T>, asking: Asking): Promise<T> {
  for (let tries = 0; ; tries += 1) {
    try {
      return await once();
    } catch (error) {
      if (!isAway(error) || asking.retryUntil === undefined) throw error;
      const wait = backoff(tries, error.retryAfterMs);
      if (Date.now() + wait >= asking.retryUntil) throw error;
      await pause(wait, asking.signal);
    }
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
export async function* messages<T>(open: () => ClientReadableStream<T>, signal?: AbortSignal): AsyncGenerator<T, void, void> {
  if (signal?.aborted) throw signal.reason;
  const stream = open();
  const stop = (): void => stream.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    for await (const message of stream) yield message as T;
  } catch (error) {
    throw signal?.aborted ? signal.reason : requestError(error);
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
