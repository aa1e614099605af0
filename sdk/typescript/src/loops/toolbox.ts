/** The tools of one conversation, as its model is shown them, and the calls it asks for. */

import { JsonError, RequestError, ToolError, type FieldViolation } from "../errors.js";
import { stringify } from "../json.js";
import { texts, type Result } from "../result.js";
import type { LoadedTool, Shape } from "../surface.js";
import type { CallOptions, Tools } from "../tools.js";
import { asJson, asMessages, failureText, readCall, readCalls, writeAnswer, type ModelCall, type Outcome } from "./shapes.js";

/** How tools are shown to a model. */
export interface ToolboxOptions {
  /** Up to how many tools a model is shown all; above it, it is shown a search and what it found. 30 when absent. */
  limit?: number | undefined;
  /** Holds for every call, e.g. `session`, `onApproval` or `signal`; options of a single call win. */
  call?: CallOptions;
}

/** How tools are given to a vendor. */
export interface OfferOptions {
  /** Have the vendor hold its model to the schemas it can hold: what may be left out is `null` in its calls then. */
  strict?: boolean;
}

/** A tool as a model is shown it, by its alias. */
export type OfferedTool = LoadedTool;

type Schema = Record<string, unknown>;
type About = { name: string; description: string };

/** The name of the tool that finds others; no tool has it as its alias. */
const SEARCH = "tool_search";
/** How many tools a search gives at most. */
const SEARCH_LIMIT = 8;

const SEARCH_TOOL = {
  alias: SEARCH,
  description:
    "Finds tools by what they do, e.g. `send an email`, or by exact name with `select:name`. What it finds can be called from then on.",
  inputSchema: {
    type: "object",
    properties: { query: { type: "string", minLength: 1, description: "What the tool should do, in a few words." } },
    required: ["query"],
    additionalProperties: false,
  } as Schema,
};

/** The tools of one conversation. Made by `tools.toolbox()`. */
export class Toolbox {
  readonly #tools: Tools;
  readonly #limit: number;
  readonly #call: CallOptions;
  /** What the model may call, by alias. */
  #offered = new Map<string, OfferedTool>();
  /** Full names that its searches found, in that order. */
  readonly #found = new Set<string>();
  /** Tools were given in a strict mode. */
  #strict = false;

  /** @internal */
  constructor(tools: Tools, options: ToolboxOptions) {
    this.#tools = tools;
    this.#limit = options.limit ?? 30;
    this.#call = options.call ?? {};
  }

  /** What a model is shown now: all tools, or the search and what was found so far. Asked anew each time. */
  async offered(): Promise<(OfferedTool | typeof SEARCH_TOOL)[]> {
    const callable = await this.#callable();
    const all = callable.length <= this.#limit;
    const wanted = all ? callable : callable.filter(({ name }) => this.#found.has(name));
    const { loaded } = await this.#tools.load(wanted.map(({ name }) => name));
    this.#offered = new Map(loaded.map((tool) => [tool.alias, tool]));
    return all ? loaded : [SEARCH_TOOL, ...loaded];
  }

  /** As OpenAI's Responses API takes them. */
  async forOpenAI(
    options: OfferOptions = {},
  ): Promise<{ type: "function"; name: string; description: string; parameters: Schema; strict: boolean }[]> {
    // Left out, `strict` would mean "if the schema allows it", and an optional argument would be asked for each time.
    const search = (about: About) => ({ type: "function", ...about, parameters: SEARCH_TOOL.inputSchema, strict: false });
    return await this.#given("openai-responses", options, search);
  }

  /** As OpenAI's Chat Completions take them. */
  async forOpenAIChat(
    options: OfferOptions = {},
  ): Promise<{ type: "function"; function: { name: string; description: string; parameters: Schema } }[]> {
    const search = (about: About) => ({ type: "function", function: { ...about, parameters: SEARCH_TOOL.inputSchema } });
    return await this.#given("openai-chat", options, search);
  }

  /** As Anthropic's Messages API takes them. */
  async forAnthropic(options: OfferOptions = {}): Promise<{ name: string; description: string; input_schema: Schema }[]> {
    return await this.#given("anthropic", options, (about) => ({ ...about, input_schema: SEARCH_TOOL.inputSchema }));
  }

  /** As Gemini's API takes them: one entry of `tools`. */
  async forGemini(): Promise<{ functionDeclarations: { name: string; description: string; parametersJsonSchema: Schema }[] }[]> {
    type Entry = { functionDeclarations: { name: string; description: string; parametersJsonSchema: Schema }[] };
    const search = (about: About) => ({ functionDeclarations: [{ ...about, parametersJsonSchema: SEARCH_TOOL.inputSchema }] });
    const entries: Entry[] = await this.#given("gemini", {}, search);
    return [{ functionDeclarations: entries.flatMap(({ functionDeclarations }) => functionDeclarations) }];
  }

  /** What a model is shown now, as the cluster writes it in a shape; the search, which is our own, before it. */
  async #given<T>(shape: Shape, { strict = false }: OfferOptions, search: (about: About) => object): Promise<T[]> {
    this.#strict ||= strict;
    const shown = await this.offered();
    const names = shown.flatMap((tool) => ("name" in tool ? [tool.name] : []));
    const tools = names.length === 0 ? [] : (await this.#tools.export(shape, { names, strict })).tools;
    const own = names.length === shown.length ? [] : [search({ name: SEARCH, description: SEARCH_TOOL.description })];
    return [...own, ...tools] as T[];
  }

  /** As an object of Vercel's AI SDK, all tools at once. The package `ai` must be installed. */
  async forAiSdk(): Promise<Record<string, unknown>> {
    const { forAiSdk } = await import("./adapters.js");
    return await forAiSdk(await this.#every(), (tool, args, options) => this.#model(tool, args, options));
  }

  /** As tools of LangChain, all at once. The package `@langchain/core` must be installed. */
  async forLangChain(): Promise<unknown[]> {
    const { forLangChain } = await import("./adapters.js");
    return await forLangChain(await this.#every(), (tool, args, options) => this.#model(tool, args, options));
  }

  /** Adapters give a fixed set of tools, so a search could add nothing to it. */
  async #every(): Promise<OfferedTool[]> {
    const every = new Toolbox(this.#tools, { limit: Infinity, call: this.#call });
    return (await every.offered()) as OfferedTool[];
  }

  async #model(tool: OfferedTool, args: unknown, options: CallOptions): Promise<string> {
    const outcome = await this.#outcome(tool, args, options);
    if (outcome.isError) throw new Error(outcome.text);
    return outcome.text;
  }

  /**
   * Makes the call that a model asks for, and gives what to hand back, in its vendor's shape. What the call itself does wrong is an answer,
   * too; only a cluster that cannot be used is thrown.
   */
  async answer(call: unknown, options: CallOptions = {}): Promise<Record<string, unknown>> {
    const asked = readCall(call);
    if (asked === undefined) throw new TypeError("this is no call of a tool in the shape of OpenAI, Anthropic or Gemini");
    return writeAnswer(asked, await this.#make(asked, options));
  }

  /**
   * Makes every call of a model's response, at the same time, and gives what to append to the conversation after it: items, messages, or
   * one message with all results, as the vendor wants it. Empty when the model asks for none.
   */
  async answers(response: unknown, options: CallOptions = {}): Promise<Record<string, unknown>[]> {
    const made = readCalls(response).map(async (call) => ({ call, answer: writeAnswer(call, await this.#make(call, options)) }));
    return asMessages(await Promise.all(made));
  }

  async #make(call: ModelCall, options: CallOptions): Promise<Outcome> {
    if (call.alias === SEARCH) return await this.#search(call.args);
    const tool = this.#offered.get(call.alias) ?? (await this.#unseen(call.alias));
    if (tool === undefined) {
      const message = `there is no tool \`${call.alias}\` here`;
      return { text: failureText("surface.unknown_tool", message, { retry: "discover_tool_first" }), isError: true };
    }
    const args = await this.#meant(call);
    return await this.#outcome(tool, args, { ...options, ...(call.id ? { nativeCallId: call.id } : {}) });
  }

  /** The arguments as the tool takes them. What is wrong with those that mean nothing is said when the call is made. */
  async #meant(call: ModelCall): Promise<unknown> {
    try {
      const [mapped] = await this.#tools.mapCalls(asJson(call), { strict: this.#strict });
      return mapped?.target?.args ?? call.args;
    } catch (error) {
      if (error instanceof JsonError) return call.args;
      throw error;
    }
  }

  /** A tool that was not shown here: a conversation that was begun elsewhere goes on, and its model knows what it found there. */
  async #unseen(alias: string): Promise<OfferedTool | undefined> {
    const callable = await this.#callable();
    const known = callable.find((tool) => tool.alias === alias);
    if (known === undefined) return undefined;
    this.#found.add(known.name);
    await this.offered();
    return this.#offered.get(alias);
  }

  async #callable() {
    return (await this.#tools.list()).filter(({ state }) => state === "loaded" || state === "deferred");
  }

  async #outcome(tool: OfferedTool, args: unknown, options: CallOptions): Promise<Outcome> {
    try {
      const facts = { ...this.#call, ...options, declarationDigest: tool.digest };
      return outcome(await this.#tools.callResult(tool.name, args, facts));
    } catch (error) {
      return refused(error);
    }
  }

  async #search(args: unknown): Promise<Outcome> {
    const query = readQuery(args);
    if (query === undefined) {
      const message = "`query` must be a text";
      return { text: failureText("input.schema_violation", message, { retry: "change_arguments" }), isError: true };
    }
    let search;
    try {
      search = await this.#tools.search(query, { limit: SEARCH_LIMIT });
    } catch (error) {
      return refused(error);
    }
    const { found, nextAction, missing, pendingProviders } = search;
    found.forEach(({ name }) => this.#found.add(name));
    await this.offered();
    const names = new Set(found.map(({ name }) => name));
    const tools = [...this.#offered.values()].filter(({ name }) => names.has(name));
    const told = tools.map(({ alias: name, description, inputSchema }) => ({ name, description, parameters: inputSchema }));
    const rest = { ...(missing.length ? { missing } : {}), ...(pendingProviders.length ? { pending: pendingProviders } : {}) };
    return { text: stringify({ tools: told, ...(told.length ? {} : { next: nextAction }), ...rest }), isError: false };
  }
}

/** What a model is told of a request that was wrong. It can mend its arguments and its query; it can do nothing about the rest. */
function refused(error: unknown): Outcome {
  if (error instanceof JsonError) return { text: failureText(error.code, error.message, { retry: error.retry }), isError: true };
  if (!(error instanceof RequestError) || error.status !== "INVALID_ARGUMENT") throw error;
  const more = { fields: named(error.fieldViolations), retry: error.retry };
  return { text: failureText(error.code, error.message, more), isError: true };
}

function readQuery(args: unknown): string | undefined {
  try {
    const { query } = JSON.parse(stringify(args)) as { query?: unknown };
    return typeof query === "string" && query !== "" ? query : undefined;
  } catch {
    return undefined;
  }
}

/** The wrong fields; undefined for none. */
function named(violations: readonly FieldViolation[]): FieldViolation[] | undefined {
  return violations.length === 0 ? undefined : violations.map(({ field, rule }) => ({ field, rule }));
}

/** What a model is given of a result: what the cluster made for it, else the exact JSON. */
function outcome(result: Result): Outcome {
  if (result.error instanceof ToolError) {
    const { code, message, retry, fieldViolations, sideEffects } = result.error;
    // The cluster's text for models begins with the error itself.
    const whole = texts(result.modelContent);
    const output = (whole.startsWith(message) ? whole.slice(message.length).trim() : whole) || undefined;
    return { text: failureText(code, message, { retry, sideEffects, fields: named(fieldViolations), output }), isError: true };
  }
  return { text: texts(result.modelContent) || result.json || result.summary || "done", isError: false };
}
