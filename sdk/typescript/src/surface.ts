/** What tools there are: listed, searched, loaded. */

import type { Connection } from "./connection.js";
import { SynonymOrigin, type MatchReason } from "./gen/toolplane/v1/search.js";
import { CreateSurfaceRequest, DeferPolicy, type ExportedTool, type LoadOutcome, type SelectionWarning } from "./gen/toolplane/v1/surface_service.js";
import { RequestError } from "./errors.js";
import type { SurfaceTool } from "./gen/toolplane/v1/surface.js";
import { LoadingState } from "./gen/toolplane/v1/vocabulary.js";
import { JsonText } from "./json.js";
import { payloadText, payloadValue, toPayload } from "./payload.js";
import { ask, type Asking } from "./rpc.js";

/** One line about a tool of a surface. */
export interface ToolEntry {
  /** Its full name, e.g. `text.word_count`. */
  readonly name: string;
  /** Its id. */
  readonly toolId: string;
  /** What it is called where full names cannot be used; it can be called by it, too. */
  readonly alias: string;
  /** `loaded` ones can be called, `deferred` ones after they were loaded, `blocked` and `excluded` ones cannot. */
  readonly state: "loaded" | "deferred" | "blocked" | "excluded";
  /** A phrase for discovery, of deferred ones. */
  readonly hint?: string;
  /** Why it cannot be called now; of loaded and deferred ones only where something keeps it from that, e.g. a provider that is away. */
  readonly reason?: string;
}

/** A tool that was found. */
export interface Found {
  readonly name: string;
  readonly toolId: string;
  /** A phrase for discovery. */
  readonly hint: string;
  readonly title: string;
  /** The beginning of its description. */
  readonly description: string;
  /** How well it fits; comparable within one search. */
  readonly score: number;
  /** The words it was found by, e.g. `emails`, `sned ~ send (typo)`. */
  readonly why: readonly string[];
}

/** How to search. */
export interface SearchOptions {
  /** Most matches of a page; at most 100. */
  readonly limit?: number;
  /** `nextPage` of the search before, for the same query. */
  readonly page?: string;
  /** Only tools of these namespaces, or of those below. */
  readonly namespaces?: readonly string[];
  /** Only tools of these kinds, e.g. `shell_command`. */
  readonly kinds?: readonly string[];
  /** Only tools that declare these risks. */
  readonly riskLevels?: readonly string[];
  /** Only tools of these providers. */
  readonly providers?: readonly string[];
  /** Only tools with one of these tags. */
  readonly tags?: readonly string[];
  /** Only tools with one of these capabilities. */
  readonly capabilities?: readonly string[];
  /** Without what use has taught, and without teaching anything. */
  readonly withoutUse?: boolean;
}

/** What a search found, best first. */
export interface Search {
  readonly found: readonly Found[];
  /** How many tools match, on all pages, as far as they are counted. */
  readonly total: number;
  /** What to give as `page` to get more; undefined at the end. */
  readonly nextPage?: string;
  /** Whether the cluster looked at what the question means: `complete`, `partial`, `away`, or nothing where it was not to. */
  readonly meaning: string;
  /** Whether a reranker put the best of them into order: `complete`, `away`, or nothing where there was nothing for it to do. */
  readonly reranked: string;
  /** Names that were asked for exactly and that several tools have, with some of these. */
  readonly ambiguous: readonly { readonly name: string; readonly candidates: readonly string[] }[];
  /** `load_schema_then_call`, `call`, `refine_query`, `wait_for_provider` or `not_available`. */
  readonly nextAction: string;
  /** Names that were asked for exactly and do not exist here. */
  readonly missing: readonly string[];
  /** Providers that are still waited for. */
  readonly pendingProviders: readonly string[];
}

/** Words that mean the same when tools are searched. */
export interface Synonyms {
  readonly words: readonly string[];
  /** `added`, or from the configuration: for the tenant, or for all. What is configured is not changed by request. */
  readonly origin: "added" | "configured" | "configured_for_all";
  /** Who added them, as far as that is known. */
  readonly addedBy?: string;
}

/** A tool that can be called, with what a model needs to call it. */
export interface LoadedTool {
  readonly name: string;
  readonly toolId: string;
  /** What it is called where full names cannot be used; it can be called by it, too. */
  readonly alias: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly inputSchema: Record<string, unknown>;
  /** Digest of the whole registration; given with a call, that call is made for this schema or not at all. */
  readonly digest: string;
}

/** A name that could not be loaded or unloaded. */
export interface NotLoaded {
  /** As it was asked for. */
  readonly name: string;
  /** What to do, for people and models. */
  readonly message: string;
  /** At most three similar names. */
  readonly similar: readonly string[];
}

/** A tool that was unloaded so that others fit into the budget of the surface. */
export interface UnloadedTool {
  /** Its full name. */
  readonly name: string;
  /** Its id. */
  readonly toolId: string;
  /** Why: `budget`. */
  readonly reason: string;
  /** What it had of the budget. */
  readonly schemaTokens: number;
  readonly schemaBytes: number;
}

/** Most names of one request. */
const LOAD_AT_ONCE = 100;
/** How long the cluster may be away before reading fails, in milliseconds. */
const AWAY_MS = 15_000;

/** @internal */
export async function surfaceMoment(connection: Connection, surfaceId: string): Promise<string> {
  const request = { surfaceId, pageSize: 1, pageToken: "" };
  return (await ask(connection, connection.surfaces, (client) => client.listSurfaceTools, request, soon())).moment;
}

/** @internal */
export async function listTools(connection: Connection, surfaceId: string, signal?: AbortSignal): Promise<ToolEntry[]> {
  const tools: ToolEntry[] = [];
  for (let pageToken = ""; ; ) {
    const request = { surfaceId, pageSize: 1000, pageToken };
    const page = await ask(connection, connection.surfaces, (client) => client.listSurfaceTools, request, soon(signal));
    tools.push(...page.tools.flatMap(entry));
    pageToken = page.nextPageToken;
    if (pageToken === "") return tools;
  }
}

function entry({ tool, alias }: SurfaceTool): ToolEntry[] {
  switch (tool?.$case) {
    case "loaded":
      return [{ name: tool.value.name, toolId: tool.value.toolId, alias, state: "loaded", ...because(tool.value.message) }];
    case "deferred": {
      const { name, toolId, searchHint, loadingState, reason } = tool.value;
      return [{ name, toolId, alias, state: "deferred", hint: searchHint, ...because(isKept(loadingState) ? reason : "") }];
    }
    case "blocked":
    case "excluded":
      return [{ name: tool.value.name, toolId: tool.value.toolId, alias, state: tool.$case, reason: tool.value.reason }];
    default:
      return [];
  }
}

/** Whether something keeps a deferred tool from being called, so that loading it is not enough. */
function isKept(state: LoadingState): boolean {
  return state === LoadingState.LOADING_STATE_UNAVAILABLE || state === LoadingState.LOADING_STATE_PENDING_PROVIDER;
}

function because(reason: string): { reason?: string } {
  return reason === "" ? {} : { reason };
}

/** @internal */
export async function searchTools(
  connection: Connection,
  surfaceId: string,
  query: string,
  options: SearchOptions,
  runtimeRefs: string[],
): Promise<Search> {
  const { limit = 0, page: pageToken = "", namespaces = [], kinds = [], riskLevels = [], providers = [] } = options;
  const filters = {
    namespaces: [...namespaces],
    kinds: [...kinds],
    riskLevels: [...riskLevels],
    providers: [...providers],
    tags: [...(options.tags ?? [])],
    capabilities: [...(options.capabilities ?? [])],
  };
  const withoutUse = options.withoutUse ?? false;
  const request = { surfaceId, query, limit, view: 0, pageToken, withoutUse, ...filters, runtimeRefs };
  const { result } = await ask(connection, connection.surfaces, (client) => client.searchTools, request, soon());
  const details = new Map(result?.found.map((tool) => [tool.toolId, tool]));
  const found = (result?.refs ?? []).map(({ name, toolId, searchHint: hint }) => {
    const { title = "", description = "", score = 0, why = [] } = details.get(toolId) ?? {};
    return { name, toolId, hint, title, description, score: score / 1000, why: why.map(reason) };
  });
  const { nextAction = "", missingNames: missing = [], pendingProviders = [], ambiguousNames: ambiguous = [] } = result ?? {};
  const { meaning = "", reranked = "" } = result ?? {};
  const nextPage = result?.nextPageToken ? { nextPage: result.nextPageToken } : {};
  return { found, nextAction, missing, pendingProviders, ambiguous, meaning, reranked, total: Number(result?.totalMatches ?? 0), ...nextPage };
}

function reason({ asked, found, how }: MatchReason): string {
  if (how === "word") return asked;
  if (how === "use") return `${asked} (used)`;
  if (how === "meaning") return "what it means";
  if (how === "reranked") return "put here by the reranker";
  return how === "name" || how === "name_within" ? "its name" : `${asked} ~ ${found} (${how})`;
}

/** @internal */
export async function listSynonyms(connection: Connection, word: string): Promise<Synonyms[]> {
  const groups: Synonyms[] = [];
  for (let pageToken = ""; ; ) {
    const request = { word, pageSize: 1000, pageToken };
    const page = await ask(connection, connection.surfaces, (client) => client.listSynonyms, request, soon());
    for (const { words, origin, addedBy } of page.groups) {
      groups.push({ words, origin: ORIGINS[origin] ?? "added", ...(addedBy ? { addedBy } : {}) });
    }
    pageToken = page.nextPageToken;
    if (pageToken === "") return groups;
  }
}

const ORIGINS: Partial<Record<SynonymOrigin, Synonyms["origin"]>> = {
  [SynonymOrigin.SYNONYM_ORIGIN_CONFIGURED_FOR_ALL]: "configured_for_all",
  [SynonymOrigin.SYNONYM_ORIGIN_CONFIGURED]: "configured",
};

/** @internal */
export async function addSynonyms(connection: Connection, words: readonly string[]): Promise<void> {
  const group = { words: [...words], origin: SynonymOrigin.SYNONYM_ORIGIN_UNSPECIFIED, addedAt: undefined, addedBy: "" };
  const request = { groups: [group], by: "" };
  await ask(connection, connection.surfaces, (client) => client.addSynonyms, request, soon());
}

/** @internal */
export async function removeSynonyms(connection: Connection, words: readonly string[]): Promise<void> {
  try {
    await ask(connection, connection.surfaces, (client) => client.removeSynonyms, { words: [...words] }, soon());
  } catch (error) {
    // Sent again, it finds that it was done before.
    if (!(error instanceof RequestError && error.status === "NOT_FOUND")) throw error;
  }
}

/** @internal */
export async function forgetUse(connection: Connection, of: { tool: string } | { everything: true }): Promise<number> {
  const what = "tool" in of ? { $case: "name" as const, value: of.tool } : { $case: "everything" as const, value: true };
  return (await ask(connection, connection.surfaces, (client) => client.forgetUse, { what }, soon())).words;
}

/** @internal */
export async function loadTools(
  connection: Connection,
  surfaceId: string,
  names: readonly string[],
  runtimeRefs: string[],
): Promise<{ loaded: LoadedTool[]; failed: NotLoaded[]; unloaded: UnloadedTool[] }> {
  const outcomes: LoadOutcome[] = [];
  const unloaded: UnloadedTool[] = [];
  for (let at = 0; at < names.length; at += LOAD_AT_ONCE) {
    const request = { surfaceId, names: names.slice(at, at + LOAD_AT_ONCE), runtimeRefs };
    const answer = await ask(connection, connection.surfaces, (client) => client.loadTools, request, soon());
    outcomes.push(...answer.outcomes);
    for (const { name, toolId, reason, schemaTokens, schemaBytes } of answer.unloaded) {
      unloaded.push({ name, toolId, reason, schemaTokens: Number(schemaTokens), schemaBytes: Number(schemaBytes) });
    }
  }
  const [loaded, failed]: [LoadedTool[], NotLoaded[]] = [[], []];
  for (const { name, outcome } of outcomes) {
    if (outcome?.$case === "loaded") {
      const { tool, modelInputSchema, description, digest, alias } = outcome.value;
      const inputSchema = (payloadValue(modelInputSchema) ?? { type: "object" }) as Record<string, unknown>;
      loaded.push({ name: tool?.name ?? name, toolId: tool?.toolId ?? "", alias, description, inputSchema, digest });
    } else {
      failed.push({ name, message: outcome?.value.message ?? "it is not there", similar: outcome?.value.similarNames ?? [] });
    }
  }
  return { loaded, failed, unloaded };
}

/** @internal */
export async function unloadTools(
  connection: Connection,
  surfaceId: string,
  names: readonly string[],
  runtimeRefs: string[],
): Promise<NotLoaded[]> {
  const failed: NotLoaded[] = [];
  for (let at = 0; at < names.length; at += LOAD_AT_ONCE) {
    const request = { surfaceId, names: names.slice(at, at + LOAD_AT_ONCE), runtimeRefs };
    const { outcomes } = await ask(connection, connection.surfaces, (client) => client.unloadTools, request, soon());
    for (const { name, outcome } of outcomes) {
      if (outcome?.$case === "deferredToolId") continue;
      failed.push({ name, message: outcome?.value.message ?? "it is not there", similar: outcome?.value.similarNames ?? [] });
    }
  }
  return failed;
}

/** A shape in which tools are given to a model: that of its vendor, or of a protocol. */
export type Shape = "openai-responses" | "openai-chat" | "anthropic" | "gemini" | "gemini-openapi" | "mcp" | "json-schema";

/** What is exported, and how. */
export interface ExportOptions {
  /** Only these tools, in this order; every loaded one when absent. */
  names?: readonly string[];
  /** Have the vendor hold its model to the schemas it can hold. */
  strict?: boolean;
  /** Most tokens of all definitions together, estimated; no bound when absent. */
  maxTokens?: number;
}

/** Tools as a vendor takes them, and what was lost of each. */
export interface Export {
  /** What to hand to the vendor. */
  readonly tools: Record<string, unknown>[];
  /** What became of each, in the same order. */
  readonly details: readonly ExportedTool[];
  /** Tools that are not in it, and why; `message` is what hides one, where something does. */
  readonly leftOut: readonly { readonly name: string; readonly reason: string; readonly message: string }[];
}

/** What a model called: a tool with the arguments as they go to it, or why it is none. */
export interface Mapped {
  /** The name the model used. */
  readonly alias: string;
  /** What the model calls the call. */
  readonly callId: string;
  /** The tool; absent where the call means none. */
  readonly target?: { readonly name: string; readonly args: JsonText; readonly declarationDigest: string };
  /** Why it means none. */
  readonly refusal?: { readonly code: string; readonly message: string; readonly similarAliases: readonly string[] };
}

/** A tool in one line, for a prompt. */
export interface Card {
  readonly text: string;
  readonly alias: string;
  readonly name: string;
  readonly toolId: string;
  /** Estimated. */
  readonly tokens: number;
  /** It has to be loaded before it can be called. */
  readonly deferred: boolean;
}

/** @internal */
export async function exportTools(
  connection: Connection,
  surfaceId: string,
  shape: Shape,
  { names = [], strict = false, maxTokens = 0 }: ExportOptions,
): Promise<Export> {
  const tools: Record<string, unknown>[] = [];
  const [details, leftOut]: [ExportedTool[], { name: string; reason: string; message: string }[]] = [[], []];
  for (let pageToken = ""; ; ) {
    const request = { surfaceId, shape, strict, names: [...names], maxTokens: BigInt(maxTokens), pageSize: 1000, pageToken };
    const page = await ask(connection, connection.surfaces, (client) => client.exportSurface, request, soon());
    for (const one of (payloadValue(page.toolsJson) ?? []) as Record<string, unknown>[]) {
      const declared = tools[0]?.functionDeclarations;
      // Gemini takes one list of all.
      if (Array.isArray(declared)) declared.push(...(one.functionDeclarations as unknown[]));
      else tools.push(one);
    }
    details.push(...page.tools);
    leftOut.push(...page.leftOut.map(({ name, reason, message }) => ({ name, reason, message })));
    pageToken = page.nextPageToken;
    if (pageToken === "") return { tools, details, leftOut };
  }
}

/** @internal */
export async function mapCalls(connection: Connection, surfaceId: string, said: unknown, strict: boolean): Promise<Mapped[]> {
  const request = { surfaceId, said: toPayload(said), strict, knownDigests: {} };
  const { calls } = await ask(connection, connection.surfaces, (client) => client.mapCalls, request, soon());
  return calls.map(({ alias, callId, outcome }) => {
    if (outcome?.$case !== "target") {
      const { code = "", message = "", similarAliases = [] } = outcome?.value ?? {};
      return { alias, callId, refusal: { code, message, similarAliases } };
    }
    const { name, arguments: args, digest } = outcome.value;
    return { alias, callId, target: { name, args: new JsonText(payloadText(args) ?? "{}"), declarationDigest: digest } };
  });
}

/** @internal */
export async function toolCards(connection: Connection, surfaceId: string, names: readonly string[], maxTokens: number): Promise<Card[]> {
  const request = { surfaceId, names: [...names], maxTokens: BigInt(maxTokens) };
  const { cards } = await ask(connection, connection.surfaces, (client) => client.listToolCards, request, soon());
  return cards.map(({ text, alias, name, toolId, tokens, deferred }) => ({ text, alias, name, toolId, tokens: Number(tokens), deferred }));
}

/** By what tools are chosen, beside their names: one of each list that is not empty. Those that are registered later and fit are there, too. */
export interface Chosen {
  /** Tools of these namespaces, or of those below. */
  namespaces?: readonly string[];
  /** Tools with one of these tags. */
  tags?: readonly string[];
  /** Tools with one of these capabilities. */
  capabilities?: readonly string[];
  /** Tools of these providers. */
  providers?: readonly string[];
  /** Tools that declare these risks. */
  riskLevels?: readonly string[];
  /** Tools of these kinds. */
  kinds?: readonly string[];
}

/** What a surface is made of. A word that chooses no tool now is told as a warning of the process (`ToolplaneSelectionWarning`). */
export interface SurfaceOptions extends Chosen {
  /** Tools by id or name, beside those that are chosen; all tools where none are named or chosen. */
  tools?: readonly string[];
  /** Tools whose schemas are visible at once. With `defer` absent, all are. */
  load?: readonly string[];
  /** `all` defers what `load` does not name; `auto` does so when there are many. */
  defer?: "auto" | "all" | "none";
  /** Tools that may not be used here. */
  block?: readonly string[];
  /** It stays with the tools there are now. */
  pinned?: boolean;
  /** The id of a surface to make it within: it shows and calls nothing that one does not. */
  parent?: string;
  /** Held at each call: `auto`, `required`, `none` (nothing is called), or the only tool that may be called. */
  toolChoice?: string;
  /** Held at each call: which tools may be called, as patterns of rules; whether batches may run calls beside each other; whether calls name the
   * moment they go by. */
  selectionPolicy?: { allowedTools?: readonly string[]; deniedTools?: readonly string[]; parallelCalls?: boolean; requireMoment?: boolean };
  /** Policies that are in force in it, for rules (`surface_policy:NAME`). */
  policyRefs?: readonly string[];
  /** Where it applies: `session` when absent, `task`, `turn`, `model_request`, `workspace`, `peer_agent`, `role`, `skill` or `tenant`. */
  scope?: string;
  /** What it is for, by its scope, e.g. `task:7`: calls, searches and loads of others are refused. The connection that is given names them by
   * itself; others do with `within(id, { refs })`. */
  refs?: readonly string[];
  /** Who uses it, for the scope `role`. */
  role?: string;
  /** What may be loaded at once; the server's own where it is absent. */
  budget?: SurfaceBudget;
}

/** What a surface may have loaded at once; a bound that is absent is none. Loading more unloads the least used. */
export interface SurfaceBudget {
  maxTools?: number;
  /** Tokens of what a model is told of the tools (name, description and input schema), estimated. */
  maxSchemaTokens?: number;
  maxSchemaBytes?: number;
}

function bounds(budget: SurfaceBudget | undefined) {
  if (budget === undefined) return undefined;
  const { maxTools = 0, maxSchemaTokens = 0, maxSchemaBytes = 0 } = budget;
  return { maxTools: BigInt(maxTools), maxSchemaTokens: BigInt(maxSchemaTokens), maxSchemaBytes: BigInt(maxSchemaBytes) };
}

const DEFER = {
  auto: DeferPolicy.DEFER_POLICY_AUTO,
  all: DeferPolicy.DEFER_POLICY_ALL,
  none: DeferPolicy.DEFER_POLICY_NONE,
};

/** @internal */
export async function createSurface(connection: Connection, options: SurfaceOptions): Promise<string> {
  const request = CreateSurfaceRequest.fromPartial({
    requestId: crypto.randomUUID(),
    scope: options.scope ?? "session",
    runtimeRefs: [...(options.refs ?? [])],
    role: options.role ?? "",
    toolRefs: [...(options.tools ?? [])],
    ...chosen(options),
    load: [...(options.load ?? [])],
    deferPolicy: DEFER[options.defer ?? "none"],
    blocked: (options.block ?? []).map((name) => ({ name, message: "kept out by the caller" })),
    producer: "toolplane-typescript",
    pinned: options.pinned ?? false,
    parentSurfaceId: within(options.parent),
    policyRefs: [...(options.policyRefs ?? [])],
    ...choosing(options),
    budget: bounds(options.budget),
  });
  const { surface, warnings } = await ask(connection, connection.surfaces, (client) => client.createSurface, request, soon());
  warn(warnings);
  return surface?.surfaceId ?? "";
}

function within(parent: string | undefined): string {
  // What was to be bounded is not made without.
  if (parent === "") throw new TypeError("`parent` is empty: leave it out, or give the id of a surface");
  return parent ?? "";
}

function choosing({ toolChoice, selectionPolicy: policy }: SurfaceOptions) {
  const said = policy && {
    allowed_tools: policy.allowedTools,
    denied_tools: policy.deniedTools,
    parallel_calls: policy.parallelCalls,
    require_moment: policy.requireMoment,
  };
  return {
    ...(toolChoice === undefined ? {} : { defaultToolChoice: toPayload(toolChoice) }),
    ...(said ? { selectionPolicy: toPayload(said) } : {}),
  };
}

/** What is added to a surface. What is not in `load` is there to be found and loaded. With a `budget` it has that instead of the one it had. */
export type SurfaceExtension = Chosen & Pick<SurfaceOptions, "tools" | "load" | "budget">;

function chosen(options: Chosen) {
  return {
    namespaces: [...(options.namespaces ?? [])],
    tags: [...(options.tags ?? [])],
    capabilities: [...(options.capabilities ?? [])],
    providers: [...(options.providers ?? [])],
    riskLevels: [...(options.riskLevels ?? [])],
    kinds: [...(options.kinds ?? [])],
  };
}

/** A word that chooses no tool now is a slip, or of tools that are yet to come: it is told, and keeps nothing from going on. */
function warn(warnings: readonly SelectionWarning[]): void {
  for (const { field, message, similar } of warnings) {
    const near = similar.length > 0 ? `; did you mean ${similar.join(", ")}?` : "";
    process.emitWarning(`${field === "" ? "" : `${field}: `}${message}${near}`, "ToolplaneSelectionWarning");
  }
}

/** @internal */
export async function extendSurface(connection: Connection, surfaceId: string, by: SurfaceExtension): Promise<void> {
  const { tools = [], load = [] } = by;
  const request = { surfaceId, toolRefs: [...tools], load: [...load], ...chosen(by), budget: bounds(by.budget) };
  const { warnings, notLoaded, unloaded } = await ask(connection, connection.surfaces, (client) => client.extendSurface, request, soon());
  warn(warnings);
  for (const { name, outcome } of notLoaded) {
    const why = outcome?.$case === "failure" ? outcome.value.message : "";
    process.emitWarning(`not loaded: ${name}: ${why}`, "ToolplaneSelectionWarning");
  }
  for (const { name } of unloaded) process.emitWarning(`unloaded for the budget: ${name}`, "ToolplaneSelectionWarning");
}

/** @internal */
export async function deleteSurface(connection: Connection, surfaceId: string): Promise<void> {
  try {
    await ask(connection, connection.surfaces, (client) => client.deleteSurface, { surfaceId }, soon());
  } catch (error) {
    // Sent again, it finds that it was done before.
    if (!(error instanceof RequestError && error.status === "NOT_FOUND")) throw error;
  }
}

function soon(signal?: AbortSignal): Asking {
  return { awayMs: AWAY_MS, signal };
}
