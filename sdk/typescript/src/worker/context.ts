/** What a running tool knows of its call, and what it can do besides returning. */

import type { Dispatch } from "../gen/toolplane/v1/worker.js";
import type { PayloadRef } from "../gen/toolplane/v1/payload.js";
import type { File } from "./output.js";

/** How far a tool is. */
export interface ProgressParts {
  message?: string;
  /** 0 to 100. */
  percent?: number;
  step?: string;
  totalSteps?: number;
}

/** How a partial result is shown. */
export interface PartialOptions {
  /** It goes on where the one before it ended; else it takes its place. True when absent. */
  append?: boolean;
  /** How a later execution of the call may go on from here, at most 4 KiB; for tools with `resume`. */
  resume?: string;
}

/** How a question is asked. */
export interface AskOptions {
  /** JSON Schema the answer has to fit. */
  schema?: object;
  /** How long to wait for an answer, in milliseconds; the cluster's own when absent. */
  ttlMs?: number;
}

/** What the system that runs a tool calls one execution of it. */
export interface CalledElsewhere {
  jsonRpcId?: string;
  mcpSessionId?: string;
  a2aTaskId?: string;
  a2aContextId?: string;
  a2aMessageId?: string;
  httpRequestId?: string;
}

/** Nobody answered a question: a person declined, or its time was up. */
export class NotAnswered extends Error {
  override name = "NotAnswered";

  constructor(readonly reason: "declined" | "expired") {
    super(reason === "declined" ? "nobody wants to answer the question" : "nobody answered the question in time");
  }
}

/** What the rest of the worker does for a tool. @internal */
export interface Services {
  progress(parts: ProgressParts): void;
  partial(text: string, options: PartialOptions): void;
  ask(prompt: string, options: AskOptions): Promise<unknown>;
  keep(name: string, mediaType: string, data: File["data"]): Promise<PayloadRef>;
}

/** One execution of one call, as its tool sees it. */
export class ToolContext {
  readonly #dispatch: Dispatch;
  readonly #services: Services;
  #called: CalledElsewhere = {};

  /** @internal */
  constructor(
    dispatch: Dispatch,
    /**
     * Fires when the tool is to stop: the call was canceled, its time is up, its lease is lost, or the worker ends. Its reason says which.
     * A tool that goes on all the same is not waited for, and goes on taking one slot.
     */
    readonly signal: AbortSignal,
    services: Services,
  ) {
    this.#dispatch = dispatch;
    this.#services = services;
  }

  /** The call. */
  get invocationId(): string {
    return this.#dispatch.invocationId;
  }

  /** Whose call it is. */
  get tenant(): string {
    return this.#dispatch.tenant;
  }

  /** Who called, as the caller says; empty when it does not. */
  get actor(): string {
    return this.#dispatch.actorRef;
  }

  /** The session it belongs to; empty without one. */
  get session(): string {
    return this.#dispatch.sessionRef;
  }

  /** The full name of the tool. */
  get toolName(): string {
    return this.#dispatch.toolName;
  }

  /** Which execution of the call this is, from 1. */
  get attempt(): number {
    return this.#dispatch.attempt;
  }

  /** The same for every execution of this call: hand it on to whatever has an effect, so that it happens once. */
  get idempotencyKey(): string {
    return this.#dispatch.idempotencyKey;
  }

  /** Larger than that of every earlier execution of any call: who remembers the largest can refuse what comes late. */
  get fence(): bigint {
    return this.#dispatch.fence;
  }

  /** Larger than that of every earlier holder of the call's locks; 0 without locks. */
  get lockFence(): bigint {
    return this.#dispatch.lockFence;
  }

  /** W3C trace context the call belongs to. It is the current one of OpenTelemetry, too, where its API is installed. */
  get traceparent(): string {
    return this.#dispatch.traceparent;
  }

  /** W3C trace state. */
  get tracestate(): string {
    return this.#dispatch.tracestate;
  }

  /** What an earlier execution of this call said last of how to go on from there (`partial`); nothing when there is none. */
  get resumeToken(): string | undefined {
    return this.#dispatch.resumeToken;
  }

  /**
   * Shows what there is so far: it is in the log of the call at once, and is never its result. At most 256 a call, of at most 64 KiB each;
   * what is more is left out.
   */
  partial(text: string, options: PartialOptions = {}): void {
    this.#services.partial(text, options);
  }

  /** Says how far the tool is. Not every update arrives: the newest counts. */
  progress(message: string | ProgressParts, percent?: number): void {
    const parts = typeof message === "string" ? { message, ...(percent === undefined ? {} : { percent }) } : message;
    this.#services.progress(parts);
  }

  /**
   * Says what the system that runs the tool calls it: kept with the execution (`native_ids`), however it ends. At most 256 printed ASCII
   * characters each; what is said later counts.
   */
  calledElsewhere(ids: CalledElsewhere): void {
    const said = Object.entries(ids).filter(([, id]) => id !== undefined && id !== "");
    this.#called = { ...this.#called, ...Object.fromEntries(said) };
  }

  /** What was said so far. @internal */
  get called(): CalledElsewhere {
    return this.#called;
  }

  /**
   * Asks the caller, or a person, a question, and waits for the answer. The tool's time does not run meanwhile.
   *
   * @throws NotAnswered when it was declined, or expired.
   */
  async ask(prompt: string, schema?: object, options: Omit<AskOptions, "schema"> = {}): Promise<unknown> {
    return await this.#services.ask(prompt, { ...options, ...(schema ? { schema } : {}) });
  }

  /** Keeps bytes in the cluster, and gives the reference under which the caller reads them. For results that are files, return them instead. */
  async keep(data: File["data"], mediaType = "application/octet-stream", name = "artifact"): Promise<PayloadRef> {
    return await this.#services.keep(name, mediaType, data);
  }
}
