/** Everything that can go wrong, each with the stable code, the class and the advice the cluster gave. */

import type { ToolError as ToolErrorRecord } from "./gen/toolplane/v1/error.js";
import type { Result } from "./result.js";

/** One wrong field: where it is, and the rule it breaks. */
export interface FieldViolation {
  /** JSON pointer or path of the field. */
  readonly field: string;
  /** The rule it breaks. */
  readonly rule: string;
}

/** What all errors of this package have in common. */
export class ToolplaneError extends Error {
  override name = "ToolplaneError";

  constructor(
    message: string,
    /** Stable code, e.g. `exec.timeout` or `NOT_FOUND`; `docs/errors.md` has its cause and its cure. */
    readonly code: string,
    /** What has to change before a retry can help, in one word, e.g. `retry_safe`, `after_change` or `never`. */
    readonly retry: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Settings that cannot be used: an address, a file, a token. Nothing was sent. */
export class SettingsError extends ToolplaneError {
  override name = "SettingsError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, "SETTINGS", "after_change", options);
  }
}

/**
 * A value that JSON cannot say, so that it would arrive as another one. Nothing was sent. A date, a class with `toJSON` and `undefined` as
 * a property are no such values.
 */
export class JsonError extends ToolplaneError {
  override name = "JsonError";

  constructor(
    /** Where it is, e.g. `$.items[2]`; `$` is the whole. */
    readonly path: string,
    /** What JSON cannot say about it. */
    readonly rule: string,
  ) {
    super(`\`${path}\`: ${rule}`, "NOT_JSON", "change_arguments");
  }
}

/** A request that the cluster refused, or that did not reach it. */
export class RequestError extends ToolplaneError {
  override name = "RequestError";

  constructor(
    message: string,
    code: string,
    retry: string,
    /** The status of gRPC, e.g. `UNAVAILABLE` or `PERMISSION_DENIED`. */
    readonly status: string,
    /** Fields that were wrong. */
    readonly fieldViolations: readonly FieldViolation[] = [],
    /** How long to wait before a retry, in milliseconds, when the cluster says so. */
    readonly retryAfterMs?: number,
    options?: ErrorOptions,
  ) {
    super(message, code, retry, options);
  }
}

/**
 * There is no cluster: no connection to it could be made, now or before. Nothing was sent. The message names the address and says what to
 * do. One that was there and went away is a {@link RequestError}.
 */
export class UnreachableError extends RequestError {
  override name = "UnreachableError";

  constructor(message: string, options?: ErrorOptions) {
    super(message, "UNAVAILABLE", "retry_later", "UNAVAILABLE", [], undefined, options);
  }
}

/**
 * What `onApproval` or `onInput` answered does not fit its question, or may not be answered with this credential. The call is canceled, as
 * for everything a callback throws.
 */
export class AnswerRefusedError extends ToolplaneError {
  override name = "AnswerRefusedError";
  /** What is wrong with the answer. */
  readonly fieldViolations: readonly FieldViolation[];

  constructor(
    /** The call. */
    readonly invocationId: string,
    refused: RequestError,
  ) {
    super(`the answer to a question of ${invocationId} was refused: ${refused.message}`, refused.code, refused.retry, { cause: refused });
    this.fieldViolations = refused.fieldViolations;
  }
}

/** A call that was accepted and ended in an error. */
export class ToolError extends ToolplaneError {
  override name = "ToolError";
  /** Class of the standard, e.g. `permission_denied` or `timeout`. */
  readonly errorClass: string;
  /** Fields of the arguments that were wrong. */
  readonly fieldViolations: readonly FieldViolation[];
  /** How long to wait before a retry, in milliseconds, when the cluster says so. */
  readonly retryAfterMs: number | undefined;
  /** `none` when nothing can have happened, `unknown` when something may have; undefined when it is not said. */
  readonly sideEffects: string | undefined;
  /** Whether the same call may be made again as it is, now or after `retryAfterMs`. */
  readonly canRetry: boolean;
  /** What to do about it, in a sentence. */
  readonly suggestion: string;
  /** Tools of the surface that may help. */
  readonly nextSteps: readonly string[];
  /** The call. */
  readonly invocationId: string;

  constructor(
    /** How the call ended, with what the tool gave before it failed. */
    readonly result: Result,
    record: ToolErrorRecord | undefined,
  ) {
    const code = record?.errorCode || "unspecified";
    const message = record?.message || result.summary || result.status;
    super(`${message} [${code}]`, code, record?.recoverability || "not_retryable");
    this.errorClass = record?.errorClass ?? "";
    this.fieldViolations = (record?.fieldViolations ?? []).map(({ field, description }) => ({ field, rule: description }));
    this.retryAfterMs = record?.retryAfterMs === undefined ? undefined : Number(record.retryAfterMs);
    this.sideEffects = record?.sideEffects;
    this.canRetry = record?.canRetry ?? false;
    this.suggestion = record?.recoverySuggestion ?? "";
    this.nextSteps = [...(record?.nextSteps ?? [])];
    this.invocationId = result.invocationId;
  }
}

/**
 * The caller's `AbortSignal` fired, and the cluster was asked to cancel the call. What came of it says `tools.wait(id)`: a tool that
 * cannot be stopped goes on to its own end. Its `name` is `AbortError`, as platform functions have it; its cause is the signal's reason.
 */
export class CanceledError extends ToolplaneError {
  override name = "AbortError";

  constructor(
    /** The call; undefined when it was not made. */
    readonly invocationId: string | undefined,
    /** Whether the cluster took the request; false when it could not be reached, or the call had ended. */
    readonly accepted: boolean,
    reason: unknown,
  ) {
    super("the caller canceled the call", "cancel.requested", "verify_before_retry", { cause: reason });
  }
}

/** Bytes that came back are not those that were kept. */
export class DigestError extends ToolplaneError {
  override name = "DigestError";

  constructor(uri: string) {
    super(`the bytes of ${uri} do not have the digest of its reference`, "PAYLOAD_DIGEST", "retry_later");
  }
}
