/** One tool of a worker: what it takes and gives, what is known of it, and the function behind it. */

import { SettingsError } from "../errors.js";
import type { ToolContext } from "./context.js";

/** JSON Schema, or a schema of zod 4. */
export type Schema = JsonSchema | ZodSchema;
/** JSON Schema as plain data. */
export type JsonSchema = { readonly [keyword: string]: unknown };
/** What is used of a schema of zod 4. */
export interface ZodSchema<T = unknown> {
  readonly _zod: { readonly output: T };
  safeParse(value: unknown): { success: true; data: T } | { success: false; error: { message: string; issues: readonly unknown[] } };
}

/** The arguments a schema lets through. */
export type ArgsOf<S> = S extends { _zod: { output: infer T } } ? T : Record<string, any>;

/** What is said of a tool. A fact that is left out is not known, and what is not known counts as unsafe. */
export interface ToolOptions<S extends Schema | undefined = Schema | undefined> {
  /** What it does, for models. */
  description: string;
  /** Human-readable title. */
  title?: string;
  /** What a search shows of it where there are many tools, in a few words; the first sentence of the description when absent. */
  searchHint?: string;
  /** What it takes: a schema of zod 4, or JSON Schema of an object. Any object when absent. */
  input?: S;
  /** What it gives; results that do not fit are failures. */
  output?: Schema;
  /** Leaves no trace. */
  readOnly?: boolean;
  /** May destroy something. */
  destructive?: boolean;
  /** Running it twice with the same input has the effect of running it once: after a crash it is run again. */
  idempotent?: boolean;
  /** May run beside other calls of its session. */
  concurrencySafe?: boolean;
  /** Touches the uncontrolled outside. */
  openWorld?: boolean;
  /** Needs a person at run time. */
  needsPerson?: boolean;
  /** Risk, for rules and reviewers. */
  risk?: "low" | "medium" | "high" | "critical";
  /** A person must approve each call. */
  approvalRequired?: boolean;
  /** Wall time of one call, in milliseconds; the cluster's own (usually 30 s) when absent. Questions stop the clock. */
  timeoutMs?: number;
  /** Heeds `ctx.signal`; true when absent. False: a running call is never asked to stop. */
  cancelable?: boolean;
  /** May ask to change the context of the conversation (`Reply.contextModifiers`). */
  contextModifiers?: boolean;
  /** Its calls may go on while nobody waits for them. */
  background?: boolean;
  /** A later execution may go on where an earlier one stopped (`ctx.resumeToken`). */
  resume?: boolean;
  /** JSON pointers of arguments that are not shown to people and not written down. */
  sensitive?: readonly string[];
  /** Integers beyond 2^53 reach it as `bigint`, and not rounded. Schemas of zod must then take bigints. */
  bigints?: boolean;
}

/** The function behind a tool. What it returns is the result; what it throws is a failure. */
export type Handler<S extends Schema | undefined> = (args: ArgsOf<S>, ctx: ToolContext) => unknown;

/** A tool of a worker. @internal */
export interface Tool {
  readonly name: string;
  readonly options: ToolOptions;
  readonly handler: Handler<Schema>;
  /** JSON Schema of what it takes. */
  readonly input: JsonSchema;
  readonly output: JsonSchema | undefined;
}

/** Where a sentence ends: what follows "e.g." or a number goes on in lower case. */
const SENTENCE = /[.!?](?=\s+[^a-z\s]|\s*$)|\n\s*\n/;
/** Most characters of a search hint; the cluster takes 400. */
const HINT = 200;

/** What a search shows of a tool: the first sentence of its description, in one line, unless it says otherwise. @internal */
export function searchHint({ searchHint, description }: ToolOptions): string {
  if (searchHint !== undefined) return searchHint;
  const [sentence = ""] = description.trim().split(SENTENCE, 1);
  const line = sentence.split(/\s+/).join(" ").trim();
  return line.length <= HINT ? line : `${line.slice(0, HINT - 3).replace(/ [^ ]*$/, "")}...`;
}

function isZod(schema: Schema): schema is ZodSchema {
  if (typeof (schema as { safeParse?: unknown }).safeParse !== "function") return false;
  if ("_zod" in schema) return true;
  throw new SettingsError("schemas of zod need zod 4: older ones do not tell their JSON Schema");
}

/** @internal */
export async function toJsonSchema(schema: Schema | undefined, io: "input" | "output"): Promise<JsonSchema | undefined> {
  if (schema === undefined || !isZod(schema)) return schema;
  // The one the schemas were made with: this package has none of its own.
  const { z } = (await import("zod")) as { z: { toJSONSchema(schema: unknown, options: object): JsonSchema } };
  return z.toJSONSchema(schema, { io });
}

/** Arguments as the schema reads them (defaults, transformations); the rule they break otherwise. @internal */
export function readArgs(schema: Schema | undefined, args: unknown): { data: unknown } | { fault: string } {
  if (schema === undefined || !isZod(schema)) return { data: args };
  const read = schema.safeParse(args);
  return read.success ? { data: read.data } : { fault: read.error.message };
}
