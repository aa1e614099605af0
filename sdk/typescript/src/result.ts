/** How a call ended. */

import { ToolError } from "./errors.js";
import { type ContentBlock, type ToolResult } from "./gen/toolplane/v1/result.js";
import type { PayloadRef } from "./gen/toolplane/v1/payload.js";
import { parseExact } from "./json.js";
import { payloadText, payloadValue } from "./payload.js";
import type { Kept, PayloadSource } from "./read.js";

/** One block of a result, e.g. `{ $case: "text", value: { text } }`. */
export type Content = NonNullable<ContentBlock["block"]>;

/** The one result of a call. */
export class Result {
  readonly #source: PayloadSource | undefined;
  readonly #bigints: boolean;
  #value: { is: unknown } | undefined;

  /** @internal */
  constructor(
    /** The whole record, as the contract has it. */
    readonly record: ToolResult,
    source?: PayloadSource,
    bigints = false,
  ) {
    this.#source = source;
    this.#bigints = bigints;
  }

  /** The call. */
  get invocationId(): string {
    return this.record.invocationId;
  }

  /** The result. */
  get resultId(): string {
    return this.record.resultId;
  }

  /** How it ended, e.g. `succeeded`; open vocabulary. */
  get status(): string {
    return this.record.status;
  }

  /** Whether it is a failure. `tools.call` throws these. */
  get isError(): boolean {
    return this.record.isError;
  }

  /** The failure, when it is one. */
  get error(): ToolError | undefined {
    return this.isError ? new ToolError(this, this.record.error) : undefined;
  }

  /** Why the answer of a tool that succeeded is not all there, e.g. `result.too_large`; undefined when it is. A preview may be left. */
  get incomplete(): ToolError | undefined {
    return !this.isError && this.record.error ? new ToolError(this, this.record.error) : undefined;
  }

  /** One line for logs. */
  get summary(): string {
    return this.record.summary;
  }

  /** Content blocks, in order. */
  get content(): Content[] {
    return blocks(this.record.content);
  }

  /** What a model is to be given. */
  get modelContent(): Content[] {
    return blocks(this.record.modelFacingContent.length > 0 ? this.record.modelFacingContent : this.record.content);
  }

  /** The texts of the content, one after another; without logs. Empty when there is none. */
  get text(): string {
    return texts(this.content);
  }

  /** The exact text of the structured content: every digit as the tool wrote it. Undefined when there is none, or it is kept elsewhere. */
  get json(): string | undefined {
    return payloadText(this.record.structuredContent);
  }

  /**
   * The structured content, else the text, else `null`. Integers beyond 2^53 lose digits here, as with any `JSON.parse`, unless the
   * connection was made with `bigints`: see {@link exact} and {@link json}.
   */
  get value(): unknown {
    this.#value ??= { is: payloadValue(this.record.structuredContent, this.#bigints) ?? this.#plain() };
    return this.#value.is;
  }

  /** As {@link value}, with integers beyond 2^53 as `bigint`. */
  get exact(): unknown {
    return this.json === undefined ? this.#plain() : parseExact(this.json);
  }

  #plain(): unknown {
    // A value that is `null` was given, and is no reason to look further.
    if (this.json !== undefined) return null;
    return this.content.some((block) => block.$case === "text") ? this.text : null;
  }

  /** As {@link value}, and reads it from where it is kept when it was too large to come along. */
  async whole(): Promise<unknown> {
    if (this.json !== undefined) return this.value;
    const last = this.kept.filter((kept) => kept.name === "").at(-1);
    if (last === undefined) return this.value;
    const text = await last.text();
    if (last.mediaType !== "application/json") return text;
    return this.#bigints ? parseExact(text) : JSON.parse(text);
  }

  /** Changes the tool asks to make to the context of the conversation, in order. */
  get contextModifiers(): unknown[] {
    return this.record.contextModifiers.map((payload) => payloadValue(payload, this.#bigints));
  }

  /** What is kept elsewhere because it is large, a file or an artifact (which has a `name`), in order. Each can be read whole or in part. */
  get kept(): Kept[] {
    const source = this.#source;
    if (source === undefined) return [];
    return this.content.flatMap((block) => keptBy(block).map((ref) => source.kept(this.invocationId, ref, nameOf(block))));
  }

  /** The record, with the bytes of values as text. */
  toJSON(): object {
    const { invocationId, resultId, status, isError, summary, text, json } = this;
    return { invocationId, resultId, status, isError, summary, text, json };
  }
}

/** What a block refers to. */
function keptBy(block: Content): PayloadRef[] {
  switch (block.$case) {
    case "persistedOutputRef":
    case "file":
      return [block.value];
    case "image":
    case "audio":
    case "video":
    case "embeddedResource":
    case "artifactRef":
      return block.value.payload === undefined ? [] : [block.value.payload];
    default:
      return [];
  }
}

/** What an artifact is called. */
function nameOf(block: Content): string {
  return block.$case === "artifactRef" ? block.value.artifactId : "";
}

function blocks(content: ContentBlock[]): Content[] {
  return content.flatMap(({ block }) => (block === undefined ? [] : [block]));
}

/** The texts among blocks. @internal */
export function texts(content: Content[]): string {
  return content.flatMap((block) => (block.$case === "text" ? [block.value.text] : [])).join("\n");
}
