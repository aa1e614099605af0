/** The agent's side: tools that are called by name. */

import { batchNews, type BatchNews, type BatchOptions } from "./batch.js";
import { surfaceChanges, type SurfaceChange, type WatchSurfaceOptions } from "./changes.js";
import { Connection, readSettings, type ConnectionOptions } from "./connection.js";
import { Call, canceled, waited, type Following } from "./follow.js";
import type { Batch } from "./gen/toolplane/v1/batch.js";
import type { Invocation } from "./gen/toolplane/v1/invocation.js";
import type { InvocationSpec } from "./gen/toolplane/v1/invocation_service.js";
import type { PayloadRef } from "./gen/toolplane/v1/payload.js";
import type { ToolResult } from "./gen/toolplane/v1/result.js";
import type { Log } from "./log.js";
import { Toolbox, type OfferOptions, type ToolboxOptions } from "./loops/toolbox.js";
import { provideInput, resolveApproval, type People } from "./people.js";
import { PayloadSource, type ReadOptions } from "./read.js";
import { Result } from "./result.js";
import { ask } from "./rpc.js";
import { newId, toSpec, type BatchItemSpec, type CallFacts } from "./spec.js";
import { items, type Progress, type StreamItem } from "./stream.js";
import * as surfaces from "./surface.js";

/** How to connect, and what holds for every call. */
export interface ConnectOptions extends ConnectionOptions {
  /** The surface to call in; the tenant's default surface, with every tool it has, when absent. */
  surface?: string;
  /** What calls, searches and loads belong to (`session:ID`, `task:ID`, ..., `role:NAME`), for a surface that is for one. */
  refs?: readonly string[];
  /** `result.value` gives integers beyond 2^53 as `bigint` instead of rounded numbers. */
  bigints?: boolean;
  /** How long a first connection is tried, in milliseconds; 5 s when absent. A cluster that was there and went away is tried for longer. */
  connectMs?: number;
  /** Hears, once, that a cluster that is away is tried again; standard error when absent. */
  log?: Log;
  /** Tools up to which agent loops are given all of them; above it they get a search; 30. */
  toolLimit?: number;
}

/** What may be said of one call, and how it is followed. */
export interface CallOptions extends CallFacts, People {
  /** Deadline for the whole call in milliseconds, waiting for people included. None when absent. */
  timeoutMs?: number;
  /** The same key and the same call within a day is one call. Made up when absent, so that a retry never runs twice. */
  idempotencyKey?: string;
  /** Cancels the call: it then fails with a `CanceledError`. */
  signal?: AbortSignal;
  /** Hears how far the tool is. */
  onProgress?: (progress: Progress) => void;
}

/** A batch that has ended. */
export interface BatchResult {
  /** The batch, as the contract has it. */
  readonly batch: Batch;
  /** One result per call, in the declared order; a failure is told by its `isError`. */
  readonly results: readonly Result[];
}

/** Connects to a cluster, with the settings of the environment where `options` says nothing. */
export async function connect(options: ConnectOptions = {}): Promise<Tools> {
  return new Tools(new Connection(readSettings(options), options), options);
}

/** The tools of a cluster. Made by {@link connect}; safe to use for any number of calls at a time. */
export class Tools {
  readonly #connection: Connection;
  readonly #options: ConnectOptions;
  readonly #source: PayloadSource;
  readonly #toolbox: Toolbox;

  /** @internal */
  constructor(connection: Connection, options: ConnectOptions) {
    this.#connection = connection;
    this.#options = options;
    this.#source = new PayloadSource(connection);
    this.#toolbox = this.toolbox();
  }

  /** The surface calls are made in; empty for the default one. */
  get surfaceId(): string {
    return this.#options.surface ?? "";
  }

  /**
   * Makes a call and waits for its end.
   *
   * While the cluster is away the same request is made again, with the same idempotency key, so that the tool never runs twice.
   *
   * @throws ToolError when the call ended in an error; `CanceledError` when `signal` fired; `RequestError` when it was refused, or the
   *   cluster stayed away; `UnreachableError` when there is no cluster; `JsonError` for arguments that JSON cannot say.
   */
  async call(name: string, args?: unknown, options: CallOptions = {}): Promise<Result> {
    const result = await this.callResult(name, args, options);
    if (result.error) throw result.error;
    return result;
  }

  /** As {@link call}, and gives results that are errors, too, instead of throwing them. */
  async callResult(name: string, args?: unknown, options: CallOptions = {}): Promise<Result> {
    if (options.onApproval || options.onInput || options.onProgress) return await this.#watched(name, args, options);
    return this.#result(await new Call(this.#connection, this.#spec(name, args, options), options).result());
  }

  async #watched(name: string, args: unknown, options: CallOptions): Promise<Result> {
    for await (const item of this.stream(name, args, options)) {
      if (item.kind === "progress") options.onProgress?.(item.progress);
      if (item.kind === "result") return item.result;
    }
    throw new Error("a stream ended without a result");
  }

  /**
   * Makes a call and gives its events and progress as they happen, then its result, which may be an error. A stream that breaks is
   * taken up where it broke. Who leaves the loop early stops watching; the call goes on.
   */
  async *stream(name: string, args?: unknown, options: CallOptions = {}): AsyncGenerator<StreamItem, void, void> {
    const broken = new AbortController();
    const signal = options.signal ? AbortSignal.any([options.signal, broken.signal]) : broken.signal;
    const call = new Call(this.#connection, this.#spec(name, args, options), { ...options, signal });
    try {
      yield* items(this.#connection, call, options, (record) => this.#result(record), (error) => broken.abort(error));
    } catch (error) {
      // A callback that failed, not the caller's signal: what it threw says more.
      throw broken.signal.aborted && !options.signal?.aborted ? broken.signal.reason : error;
    }
  }

  /** Makes a call and does not wait for it; gives its id. */
  async submit(name: string, args?: unknown, options: CallOptions = {}): Promise<string> {
    const spec = this.#spec(name, args, options);
    const deadline = options.timeoutMs === undefined ? undefined : Date.now() + options.timeoutMs;
    const asking = { deadline, awayMs: 60_000, signal: options.signal };
    const { invocations } = this.#connection;
    const answer = await ask(this.#connection, invocations, (client) => client.submitInvocation, { spec }, asking);
    return answer.accepted?.invocationId ?? answer.invocation?.invocationId ?? spec.invocationId;
  }

  /** Reads a call, and its result once it has ended. */
  async get(invocationId: string): Promise<{ invocation: Invocation; result: Result | undefined }> {
    const request = { invocationId, view: 0, includeInputs: false, form: undefined, includeTrail: false };
    const asking = { awayMs: 15_000 };
    const answer = await ask(this.#connection, this.#connection.invocations, (client) => client.getInvocation, request, asking);
    return { invocation: answer.invocation as Invocation, result: answer.result && this.#result(answer.result) };
  }

  /** Waits for the end of a call. Gives results that are errors, too. `signal` ends the waiting, not the call. */
  async wait(invocationId: string, options: Following = {}): Promise<Result> {
    return this.#result(await waited(this.#connection, invocationId, options, options.signal));
  }

  /** Asks to cancel a call; whether it can be. What came of it says {@link wait}. `fallback`: the model stream that made the call is thrown
   * away, so its result is `discarded`. */
  async cancel(
    invocationId: string,
    reason = "canceled by the caller",
    options: { fallback?: boolean } = {},
  ): Promise<boolean> {
    return await canceled(this.#connection, invocationId, reason, options.fallback ? "fallback" : "");
  }

  /** Answers the question of a call that needs input; `DECLINED` declines. */
  async provideInput(invocationId: string, answer: unknown): Promise<void> {
    await provideInput(this.#connection, invocationId, answer);
  }

  /** Answers an approval. Needs the role `approver`. */
  async resolveApproval(approvalId: string, answer: "approve" | "deny", feedback = ""): Promise<void> {
    await resolveApproval(this.#connection, approvalId, answer, feedback);
  }

  /** Makes up to 64 calls as one batch, accepted as a whole or not at all, and waits for all of them. */
  async batch(calls: readonly BatchItemSpec[], options: BatchOptions = {}): Promise<BatchResult> {
    const news = this.batchStream(calls, options);
    const results: Result[] = [];
    for (;;) {
      const { done, value } = await news.next();
      if (done) return { batch: value, results };
      if ("result" in value) results[value.index] = this.#result(value.result);
    }
  }

  /** The same as it happens: events and results with the position of their call. */
  batchStream(calls: readonly BatchItemSpec[], options: BatchOptions = {}): AsyncGenerator<BatchNews, Batch, void> {
    const refs = this.#belongsTo();
    return batchNews(this.#connection, calls.map((call) => ({ refs, ...call })), options, this.surfaceId);
  }

  /** Finds tools: `select:a,b` by name, anything else by words and filters. */
  async search(query: string, options: surfaces.SearchOptions = {}): Promise<surfaces.Search> {
    return await surfaces.searchTools(this.#connection, this.surfaceId, query, options, this.#belongsTo());
  }

  /**
   * Makes the schemas of tools visible, so that they can be called, and gives them. In a surface with a budget the least used tools make room:
   * `unloaded` says which.
   */
  async load(
    names: readonly string[],
  ): Promise<{ loaded: surfaces.LoadedTool[]; failed: surfaces.NotLoaded[]; unloaded: surfaces.UnloadedTool[] }> {
    return await surfaces.loadTools(this.#connection, this.surfaceId, names, this.#belongsTo());
  }

  /** Words that mean the same when tools are searched: every group, or those with `word`. */
  async synonyms(word = ""): Promise<surfaces.Synonyms[]> {
    return await surfaces.listSynonyms(this.#connection, word);
  }

  /** Says that words, or phrases of up to four words, mean the same. Searches of the tenant know it when this is done. */
  async addSynonyms(words: readonly string[]): Promise<void> {
    await surfaces.addSynonyms(this.#connection, words);
  }

  /** Takes words out of every added group that has all of them, if there are any; a group that one word is left of goes. */
  async removeSynonyms(words: readonly string[]): Promise<void> {
    await surfaces.removeSynonyms(this.#connection, words);
  }

  /** Forgets which words of searches led to a tool, or to any, by what use has taught; gives how many words. */
  async forgetUse(of: { tool: string } | { everything: true }): Promise<number> {
    return await surfaces.forgetUse(this.#connection, of);
  }

  /** Makes loaded tools deferred again, in a surface of your own; gives the names for which that could not be done. */
  async unload(names: readonly string[]): Promise<surfaces.NotLoaded[]> {
    return await surfaces.unloadTools(this.#connection, this.surfaceId, names, this.#belongsTo());
  }

  /** Every tool of the surface, with what can be done with it. */
  async list(options: { signal?: AbortSignal } = {}): Promise<surfaces.ToolEntry[]> {
    return await surfaces.listTools(this.#connection, this.surfaceId, options.signal);
  }

  /**
   * The tools as a vendor takes them, with what was lost of each: every loaded one, or those of `names` in their order. Calls of them are
   * for {@link mapCalls}.
   */
  async export(shape: surfaces.Shape, options: surfaces.ExportOptions = {}): Promise<surfaces.Export> {
    return await surfaces.exportTools(this.#connection, this.surfaceId, shape, options);
  }

  /**
   * Which tools a model called, and with what; nothing is run. `said` is one call, a list of calls or the whole answer, in its vendor's
   * shape; `strict` is as it was when the tools were exported.
   */
  async mapCalls(said: unknown, options: { strict?: boolean } = {}): Promise<surfaces.Mapped[]> {
    return await surfaces.mapCalls(this.#connection, this.surfaceId, said, options.strict ?? false);
  }

  /** Tools in one line each, for a prompt: those of `names`, or all, as many as `maxTokens` allow; 2,000 when absent. */
  async cards(options: { names?: readonly string[]; maxTokens?: number } = {}): Promise<surfaces.Card[]> {
    return await surfaces.toolCards(this.#connection, this.surfaceId, options.names ?? [], options.maxTokens ?? 0);
  }

  /** Makes a surface, and gives the same connection with calls made in it. */
  async surface(options: surfaces.SurfaceOptions = {}): Promise<Tools> {
    return this.within(await surfaces.createSurface(this.#connection, options), { refs: options.refs });
  }

  /** The same connection, with calls made in a surface that exists. `refs` go with each call, search and load in it. */
  within(surface: string, { refs = [] }: { refs?: readonly string[] | undefined } = {}): Tools {
    return new Tools(this.#connection, { ...this.#options, surface, refs });
  }

  #belongsTo(): string[] {
    return [...(this.#options.refs ?? [])];
  }

  /** Adds tools and namespaces to the surface that calls are made in. */
  async extendSurface(by: surfaces.SurfaceExtension): Promise<void> {
    await surfaces.extendSurface(this.#connection, this.surfaceId, by);
  }

  /**
   * What changes about the surface that calls are made in, until it is deleted: tools that come, go, are loaded or declared anew. Without
   * `from`, the first change has no tools and says where it begins: of what is read after it, nothing is missed.
   */
  watchSurface(options: WatchSurfaceOptions = {}): AsyncGenerator<SurfaceChange, void, void> {
    return surfaceChanges(this.#connection, this.surfaceId, options);
  }

  /**
   * The moment the surface that calls are made in is at now. Give it with calls (`surfaceMoment`) that are made by what is read after it: a tool
   * that is another thing by then is not called, and says what it is.
   */
  async surfaceMoment(): Promise<string> {
    return await surfaces.surfaceMoment(this.#connection, this.surfaceId);
  }

  /** Deletes the surface that calls are made in, if it is there. Calls that were made in it stay; new ones are refused. */
  async deleteSurface(): Promise<void> {
    await surfaces.deleteSurface(this.#connection, this.surfaceId);
  }

  /** Reads bytes that a call keeps by reference: the whole, proved by its digest, or a range. */
  read(invocationId: string, ref: PayloadRef | string, options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, void> {
    return this.#source.read(invocationId, typeof ref === "string" ? ref : ref.uri, options);
  }

  /** Tool lists for one conversation of an agent loop, which remembers what its model has found. */
  toolbox(options: ToolboxOptions = {}): Toolbox {
    return new Toolbox(this, { limit: this.#options.toolLimit, ...options });
  }

  /** Ends the connection once nothing is under way on it; nothing new can be asked. */
  close(): void {
    this.#connection.close();
  }

  /** As {@link close}, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.close();
  }

  // === Agent loops: one toolbox for programs with one conversation. ===

  /** The tools as OpenAI's Responses API takes them. */
  forOpenAI(options: OfferOptions = {}) {
    return this.#toolbox.forOpenAI(options);
  }

  /** The tools as OpenAI's Chat Completions take them. */
  forOpenAIChat(options: OfferOptions = {}) {
    return this.#toolbox.forOpenAIChat(options);
  }

  /** The tools as Anthropic's Messages API takes them. */
  forAnthropic(options: OfferOptions = {}) {
    return this.#toolbox.forAnthropic(options);
  }

  /** The tools as Gemini's API takes them. */
  forGemini() {
    return this.#toolbox.forGemini();
  }

  /** The tools as an object of Vercel's AI SDK (package `ai`). */
  forAiSdk() {
    return this.#toolbox.forAiSdk();
  }

  /** The tools as LangChain has them (package `@langchain/core`). */
  forLangChain() {
    return this.#toolbox.forLangChain();
  }

  /** Makes the call that a model asks for, and gives what to hand back to it, in its vendor's shape. */
  answer(call: unknown, options: CallOptions = {}) {
    return this.#toolbox.answer(call, options);
  }

  /** Makes every call of a model's response, and gives what to append to the conversation; empty when it asks for none. */
  answers(response: unknown, options: CallOptions = {}) {
    return this.#toolbox.answers(response, options);
  }

  #spec(name: string, args: unknown, options: CallOptions): InvocationSpec {
    const spec = toSpec(name, args, { refs: this.#belongsTo(), ...options }, this.surfaceId);
    spec.invocationId = newId("inv");
    spec.idempotencyKey = options.idempotencyKey ?? newId("key");
    spec.timeoutMs = BigInt(Math.ceil(options.timeoutMs ?? 0));
    return spec;
  }

  #result(record: ToolResult): Result {
    return new Result(record, this.#source, this.#options.bigints);
  }
}
