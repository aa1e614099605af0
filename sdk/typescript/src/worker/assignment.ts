/** One lease of this worker: what runs under it, and what is still to be said or heard. */

import type { AbortReason } from "../gen/toolplane/v1/vocabulary.js";
import type { Dispatch, ExecutionDone, InputProvided, InputRequested, LeaseRef } from "../gen/toolplane/v1/worker.js";

/** Why an execution is to stop. */
export type Stop =
  | { kind: "canceled"; reason: string; code: AbortReason }
  | { kind: "timeout" }
  | { kind: "fenced" }
  | { kind: "in_doubt" }
  | { kind: "shutdown" };

const WORDS: Record<Stop["kind"], string> = {
  canceled: "the call was canceled",
  timeout: "the tool's time is up",
  fenced: "the call is no longer this worker's",
  in_doubt: "the lease of the call could not be renewed",
  shutdown: "the worker ends",
};

/** One lease, from its offer to the acknowledgement of its end. */
export class Assignment {
  /** `waiting` for the word to start, `running`, `ended` and not acknowledged yet. */
  phase: "waiting" | "running" | "ended" = "waiting";
  /** The ending, once there is one. */
  done: ExecutionDone | undefined;
  /** When the ending, a question or the wish to start was said last. */
  saidAt = 0;
  /** Why it is to stop; the first reason counts. */
  stop: Stop | undefined;
  question: { asked: InputRequested; answer: (answer: InputProvided) => void } | undefined;
  readonly #controller = new AbortController();
  #begin!: (granted: boolean) => void;
  /** Whether the tool may start: false when it must not. */
  readonly granted = new Promise<boolean>((resolve) => (this.#begin = resolve));
  /** The tool's clock stands still while it waits for an answer. */
  onPause: (() => void) | undefined;
  onResume: (() => void) | undefined;

  constructor(
    readonly lease: LeaseRef,
    readonly dispatch: Dispatch,
  ) {}

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Lets it start, or not. */
  grant(granted: boolean): void {
    this.#begin(granted);
  }

  /** Asks the tool to stop. */
  halt(stop: Stop): void {
    if (this.stop !== undefined) return;
    this.stop = stop;
    this.#begin(false);
    const error = new Error(WORDS[stop.kind]);
    error.name = "AbortError";
    this.#controller.abort(error);
  }

  /** Whether running it again is harmless: what must not start twice asks before it starts. */
  get repeatable(): boolean {
    return !this.dispatch.requiresStartGrant;
  }
}
