/** What a tool gives, as the report of its ending. */

import type { JsonError } from "../errors.js";
import { ToolError as ErrorRecord } from "../gen/toolplane/v1/error.js";
import { ContentBlock } from "../gen/toolplane/v1/result.js";
import type { PayloadRef } from "../gen/toolplane/v1/payload.js";
import { AbortReason, PersistenceStrategy, ResultStatus } from "../gen/toolplane/v1/vocabulary.js";
import { ExecutionOutcome, type PersistedOutput } from "../gen/toolplane/v1/worker.js";
import { stringify, wholeText } from "../json.js";
import { textPayload, toPayload } from "../payload.js";

/** A deliverable with an identity of its own, owned by another system. */
export interface Artifact {
  id: string;
  /** Where it can be fetched. */
  uri: string;
  mediaType?: string;
  version?: string;
}

/** A file among the results: bytes, or a stream of them. They are kept by the cluster and read by range. */
export interface File {
  data: Uint8Array | AsyncIterable<Uint8Array>;
  /** `application/octet-stream` when absent. */
  mediaType?: string;
}

/** Everything a result may have. A tool returns `new Reply({...})`, or a plain value. */
export interface ReplyParts {
  /** Text for models and people. */
  text?: string;
  /** Structured content; what programs get as `value`. */
  value?: unknown;
  /** A change, in unified format. */
  diff?: string;
  /** What is apart from the answer, e.g. a program's standard error. */
  log?: string;
  /** Files, e.g. an image. */
  files?: readonly File[];
  artifacts?: readonly Artifact[];
  /** Changes to the context of the conversation, objects; only of tools with `contextModifiers: true`. */
  contextModifiers?: readonly object[];
  /** One line for people. */
  summary?: string;
}

/** A result with more than a value. */
export class Reply {
  constructor(readonly parts: ReplyParts) {}
}

/** What a {@link Failure} says. */
export interface FailureOptions extends ErrorOptions {
  /** Class of the standard; `execution_failed` when absent. */
  errorClass?: string;
  /** What has to change before a retry can help; `verify_before_retry` when absent. */
  retry?: string;
  /** `none` when nothing can have happened; else `unknown`. */
  sideEffects?: "none" | "unknown";
  retryAfterMs?: number;
  /** What to do about it, in a sentence. */
  suggestion?: string;
  /** Tools that may help; the caller is told those its surface has. */
  nextSteps?: readonly string[];
}

/** A failure that a tool tells its caller of, with a code that programs can go by. */
export class Failure extends Error {
  override name = "Failure";

  constructor(
    /** Stable code, e.g. `acme.no_such_order`. */
    readonly code: string,
    /** For people and models; no secrets. */
    message: string,
    readonly options: FailureOptions = {},
  ) {
    super(message, options);
  }
}

/** Thrown where bytes are kept: they are more than the cluster takes. @internal */
export class TooLarge extends Failure {
  constructor(message: string) {
    super("exec.output_limit", message, { errorClass: "result_too_large", retry: "change_arguments" });
  }
}

/** Keeps bytes of a call in the cluster. @internal */
export type Upload = (name: string, mediaType: string, data: File["data"]) => Promise<PayloadRef>;

/** Characters that a model is shown of a text that is kept elsewhere, of its beginning and of its end. */
const PREVIEW = 2_000;

/** Gathers the parts of one ending; what is too large for a report is kept first. */
class Outputs {
  readonly content: ContentBlock[] = [];
  readonly persisted: PersistedOutput[] = [];
  bytes = 0;
  /** The first output that may not be kept. */
  loss: TooLarge | undefined;

  constructor(
    readonly upload: Upload,
    readonly inlineBytes: number,
  ) {}

  add(block: NonNullable<ContentBlock["block"]>): void {
    this.content.push({ block });
  }

  async text(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.bytes += bytes.length;
    if (bytes.length <= this.inlineBytes) return this.add({ $case: "text", value: { text } });
    const payload = await this.#upload("result", "text/plain; charset=utf-8", bytes);
    const preview = previewOf(text);
    this.add({ $case: "text", value: { text: preview } });
    if (payload) this.#keep("result", payload, Buffer.byteLength(preview));
  }

  async #upload(name: string, mediaType: string, data: File["data"]): Promise<PayloadRef | undefined> {
    try {
      return await this.upload(name, mediaType, data);
    } catch (error) {
      if (!(error instanceof TooLarge)) throw error;
      this.loss ??= error;
      return undefined;
    }
  }

  async structured(json: string) {
    const bytes = Buffer.from(json);
    this.bytes += bytes.length;
    if (bytes.length <= this.inlineBytes) return textPayload(json);
    const payload = await this.#upload("structured_content", "application/json", bytes);
    if (payload) this.#keep("structured_content", payload);
    else this.add({ $case: "text", value: { text: previewOf(json) } });
    return undefined;
  }

  async file({ data, mediaType }: File, at: number): Promise<void> {
    const payload = await this.#upload(`file-${at}`, mediaType ?? "application/octet-stream", data);
    if (payload === undefined) return;
    this.bytes += Number(payload.sizeBytes);
    this.#keep(`file-${at}`, payload, undefined, "file");
  }

  #keep(name: string, payload: PayloadRef, preview?: number, block: "file" | "persistedOutputRef" = "persistedOutputRef"): void {
    const kept = preview === undefined;
    this.add({ $case: block, value: payload });
    this.persisted.push({
      name,
      strategy: kept ? PersistenceStrategy.PERSISTENCE_STRATEGY_REF_ONLY : PersistenceStrategy.PERSISTENCE_STRATEGY_PREVIEW_AND_PERSIST,
      threshold: { maxInlineBytes: BigInt(this.inlineBytes), maxInlineChars: undefined },
      originalSizeBytes: payload.sizeBytes,
      previewSizeBytes: preview === undefined ? undefined : BigInt(preview),
      payload,
      redactionState: 0,
      reason: block === "file" ? "result_is_a_file" : "result_exceeded_inline_limit",
    });
  }
}

function previewOf(text: string): string {
  const [begin, end] = [text.slice(0, PREVIEW), text.slice(-PREVIEW)];
  return `${begin}\n[... ${text.length - 2 * PREVIEW} characters left out ...]\n${end}`;
}

function isBytes(value: unknown): value is File["data"] {
  return value instanceof Uint8Array || (typeof value === "object" && value !== null && Symbol.asyncIterator in value);
}

/** The parts behind a plain value: bytes are a file, texts are text, all else is structured content. */
function partsOf(returned: unknown): ReplyParts {
  if (returned instanceof Reply) return returned.parts;
  if (isBytes(returned)) return { files: [{ data: returned }] };
  if (typeof returned === "string") return { text: returned };
  return returned === undefined || returned === null ? {} : { value: returned };
}

/** The report of a success. `declared`: the tool has an output schema, so its texts are structured content as well. @internal */
export async function succeeded(returned: unknown, declared: boolean, upload: Upload, inlineBytes: number): Promise<ExecutionOutcome> {
  let parts = partsOf(returned);
  if (declared && parts.value === undefined && !(returned instanceof Reply)) parts = { ...parts, value: returned ?? null };
  const outputs = new Outputs(upload, inlineBytes);
  // What cannot be said is known before anything is kept.
  const json = parts.value === undefined ? undefined : stringify(parts.value);
  const contextModifiers = (parts.contextModifiers ?? []).map((modifier) => toPayload(modifier));
  if (parts.text !== undefined) await outputs.text(wholeText(parts.text, "text"));
  if (parts.diff !== undefined) {
    const text = wholeText(parts.diff, "diff");
    outputs.add({ $case: "diff", value: { text, path: "", lines: [], oldText: undefined, newText: undefined } });
  }
  if (parts.log !== undefined) outputs.add({ $case: "log", value: { text: wholeText(parts.log, "log"), stream: "log" } });
  for (const [at, file] of (parts.files ?? []).entries()) await outputs.file(file, at + 1);
  const structuredContent = json === undefined ? undefined : await outputs.structured(json);
  if (outputs.content.length === 0 && structuredContent === undefined) outputs.add({ $case: "empty", value: {} });
  const artifactRefs = (parts.artifacts ?? []).map((artifact) => ({
    artifactId: artifact.id,
    uri: artifact.uri,
    mediaType: artifact.mediaType ?? "",
    version: artifact.version ?? "",
    digest: "",
    relation: "produced_by",
  }));
  return ExecutionOutcome.fromPartial({
    status: "succeeded",
    statusCode: ResultStatus.RESULT_STATUS_SUCCEEDED,
    content: outputs.content,
    ...(structuredContent ? { structuredContent } : {}),
    persisted: outputs.persisted,
    outputBytes: BigInt(outputs.bytes),
    artifactRefs,
    contextModifiers,
    summary: parts.summary ?? "",
    uiFacingSummary: parts.summary ?? "",
    ...(outputs.loss ? lost(outputs.loss) : {}),
  });
}

/** The tool's effect is done, and what it gave may not be kept in whole. */
function lost(loss: TooLarge) {
  const message = `the tool succeeded, but its output ${loss.message}`;
  return {
    status: "too_large",
    statusCode: ResultStatus.RESULT_STATUS_TOO_LARGE,
    isError: true,
    summary: message,
    error: {
      errorCode: "result.too_large",
      errorClass: "result_too_large",
      message,
      recoverability: "not_retryable",
      sideEffects: "completed",
    },
  };
}

function ended(status: string, statusCode: ResultStatus, error: Parameters<typeof ErrorRecord.fromPartial>[0]): ExecutionOutcome {
  return ExecutionOutcome.fromPartial({ status, statusCode, isError: true, error, summary: error.message ?? "" });
}

/** The report of what a tool threw. Its stack stays here: it is for the worker's own log. @internal */
export function failed(thrown: unknown): ExecutionOutcome {
  const { code, options } = thrown instanceof Failure ? thrown : { code: "exec.unspecified", options: {} as FailureOptions };
  return ended("failed", ResultStatus.RESULT_STATUS_FAILED, {
    errorCode: code,
    errorClass: options.errorClass ?? "execution_failed",
    message: (thrown instanceof Error ? thrown.message : String(thrown)) || "the tool failed without a word",
    recoverability: options.retry ?? "verify_before_retry",
    sideEffects: options.sideEffects ?? "unknown",
    recoverySuggestion: options.suggestion,
    nextSteps: [...(options.nextSteps ?? [])],
    ...(options.retryAfterMs === undefined ? {} : { retryAfterMs: BigInt(options.retryAfterMs) }),
  });
}

/** The report of a value that JSON cannot say. @internal */
export function notJson(error: JsonError): ExecutionOutcome {
  const words = { errorClass: "execution_failed", recoverability: "change_arguments", sideEffects: "completed" };
  const message = `the output of the tool has no form in JSON: ${error.message}`;
  return ended("failed", ResultStatus.RESULT_STATUS_FAILED, { errorCode: "exec.output_invalid", message, ...words });
}

/** The report of arguments that do not fit. Nothing has happened. @internal */
export function refused(rule: string): ExecutionOutcome {
  const words = { errorClass: "invalid_arguments", recoverability: "change_arguments", sideEffects: "none" };
  return ended("failed", ResultStatus.RESULT_STATUS_FAILED, { errorCode: "input.invalid", message: rule, ...words });
}

/** The report of a tool that this worker does not have. @internal */
export function unknownTool(name: string): ExecutionOutcome {
  const words = { errorClass: "capability_gap", recoverability: "complete_setup", sideEffects: "none" };
  const message = `this worker has no native tool \`${name}\``;
  return ended("failed", ResultStatus.RESULT_STATUS_FAILED, { errorCode: "exec.native_unknown", message, ...words });
}

/** The report of a time that was up; `stopped` says whether the tool ended then. @internal */
export function timedOut(stopped: boolean): ExecutionOutcome {
  return ended("timed_out", ResultStatus.RESULT_STATUS_TIMED_OUT, {
    errorCode: stopped ? "exec.timeout" : "exec.timeout_unacked",
    errorClass: "timeout",
    message: stopped ? "the tool's time was up and it was stopped" : "the tool's time was up; it did not stop when asked",
    recoverability: "verify_before_retry",
    abortReason: "timeout",
    abortReasonCode: AbortReason.ABORT_REASON_TIMEOUT,
    sideEffects: "unknown",
  });
}

/** The report of a call that was canceled. @internal */
export function canceled(reason: string, code: AbortReason, begun: boolean, stopped: boolean, repeatable: boolean): ExecutionOutcome {
  const asked = stopped ? "canceled while the tool ran" : "canceled while the tool ran; it did not stop when asked";
  return ended("canceled", ResultStatus.RESULT_STATUS_CANCELED, {
    errorCode: "exec.canceled",
    errorClass: "canceled",
    message: begun ? asked : "canceled before the tool began",
    recoverability: repeatable || !begun ? "retry_safe" : "verify_before_retry",
    abortReason: reason,
    abortReasonCode: code,
    sideEffects: begun ? "unknown" : "none",
  });
}

/** The report of a tool that its worker left behind: what it did is not known. @internal */
export function outcomeUnknown(why: string): ExecutionOutcome {
  return ended("synthetic_error", ResultStatus.RESULT_STATUS_SYNTHETIC_ERROR, {
    errorCode: "exec.outcome_unknown",
    errorClass: "execution_failed",
    message: `${why}; its effect may or may not have happened`,
    recoverability: "verify_before_retry",
    abortReason: "runtime_shutdown",
    abortReasonCode: AbortReason.ABORT_REASON_RUNTIME_SHUTDOWN,
    sideEffects: "unknown",
  });
}
