/**
 * JSON without loss: integers of any size survive both ways, and what JSON cannot say is refused instead of changed.
 *
 * JavaScript's own numbers hold integers up to 2^53 exactly. A `bigint` in a value is written with all its digits, and
 * {@link parseExact} reads integers that a number cannot hold as `bigint`.
 */

import { types } from "node:util";

import { JsonError } from "./errors.js";

/** JSON text that is sent as it is, byte for byte. It is not checked here; the cluster refuses what is not JSON. */
export class JsonText {
  constructor(readonly text: string) {}

  /** Reached only where `JSON.stringify` is used by itself, which would put the text into quotes. */
  toJSON(): never {
    throw new TypeError("JSON.stringify cannot write the text of a JsonText as it is: use `stringify`");
  }
}

/**
 * A value as JSON text. As `JSON.stringify`, `toJSON` counts and properties that are `undefined` are left out. A `bigint` becomes its
 * digits, a {@link JsonText} its text.
 *
 * @throws JsonError for what JSON cannot say and `JSON.stringify` would drop or change without a word: `NaN`, infinities, functions,
 *   symbols, `undefined` elsewhere, half of a character, dates that are none, a `Map`, a `Set`, a promise, bytes. It names the place.
 */
export function stringify(value: unknown): string {
  return isPlain(value, 0) ? JSON.stringify(value) : write(value, "", new Place());
}

/** Half of a character: it has no bytes in UTF-8. */
const HALF = /\p{Surrogate}/u;
const HALF_RULE = "the text holds half of a character (a lone surrogate)";
/** Depth up to which a value is looked at without looking for cycles. */
const DEPTH = 64;

/** Whether `JSON.stringify` alone says all of a value: no value needs a rule of ours, and none is refused. */
function isPlain(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return !HALF.test(value);
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      break;
    default:
      return false;
  }
  if (value === null) return true;
  if (depth > DEPTH || typeof (value as { toJSON?: unknown }).toJSON === "function") return false;
  if (Array.isArray(value)) {
    // By position: `every` passes over holes.
    for (let at = 0; at < value.length; at += 1) if (!isPlain(value[at], depth + 1)) return false;
    return true;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name];
    if (HALF.test(name) || (field !== undefined && !isPlain(field, depth + 1))) return false;
  }
  return true;
}

/** Where in a value something is, and what it is within. Its path is told only where something is wrong. */
class Place {
  constructor(
    readonly above?: Place,
    readonly holder?: object,
    /** A name or a position; nothing for what `toJSON` gave in place of its holder. */
    readonly step?: string | number,
  ) {}

  /** Whether something is a holder of this place. */
  isWithin(value: object): boolean {
    for (let at: Place | undefined = this; at !== undefined; at = at.above) if (at.holder === value) return true;
    return false;
  }

  get path(): string {
    const [before, { step }] = [this.above?.path ?? "$", this];
    if (step === undefined) return before;
    if (typeof step === "number") return `${before}[${step}]`;
    return before + (NAME.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`);
  }
}

/** A name that a path has as it is. */
const NAME = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

function write(value: unknown, key: string, place: Place): string {
  switch (typeof value) {
    case "string":
      if (HALF.test(value)) throw new JsonError(place.path, HALF_RULE);
      return JSON.stringify(value);
    case "number":
      if (Number.isFinite(value)) return JSON.stringify(value);
      throw new JsonError(place.path, `${value} is no number of JSON`);
    case "bigint":
      return value.toString();
    case "boolean":
      return String(value);
    case "object":
      return value === null ? "null" : composed(value, key, place);
    default:
      throw new JsonError(place.path, `${typeof value === "undefined" ? "undefined" : `a ${typeof value}`} has no JSON`);
  }
}

/** A text that has bytes. @internal */
export function wholeText(value: string, where: string): string {
  if (HALF.test(value)) throw new JsonError(where, HALF_RULE);
  return value;
}

function composed(value: object, key: string, place: Place): string {
  if (value instanceof JsonText) return value.text;
  if (place.isWithin(value)) throw new JsonError(place.path, "it holds itself");
  if (types.isDate(value) && Number.isNaN(value.getTime())) throw new JsonError(place.path, "the date is none");
  const own = value as { toJSON?: (key: string) => unknown };
  const made = typeof own.toJSON === "function" ? own.toJSON(key) : value;
  if (made !== value) return write(made, key, new Place(place, value));
  if (types.isBoxedPrimitive(value)) return write((value as { valueOf(): unknown }).valueOf(), key, place);
  const foreign = FOREIGN.find(([is]) => is(value));
  if (foreign) throw new JsonError(place.path, foreign[1]);
  if (Array.isArray(value)) {
    const items = Array.from(value, (item: unknown, at) => write(item, String(at), new Place(place, value, at)));
    return `[${items.join(",")}]`;
  }
  const fields = Object.entries(value).flatMap(([name, field]) => {
    if (field === undefined) return [];
    const inner = new Place(place, value, name);
    if (HALF.test(name)) throw new JsonError(inner.path, HALF_RULE);
    return [`${JSON.stringify(name)}:${write(field, name, inner)}`];
  });
  return `{${fields.join(",")}}`;
}

/** What `JSON.stringify` makes an empty object of, or an object with numbers for names, and what to give instead. */
const FOREIGN: [(value: unknown) => boolean, string][] = [
  [types.isMap, "a Map has no JSON: give Object.fromEntries(map)"],
  [types.isSet, "a Set has no JSON: give [...set]"],
  [types.isPromise, "a promise has no JSON: await it"],
  [types.isNativeError, "an Error has no JSON: give its message"],
  [(value) => ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value), "bytes have no JSON: give a text, or a file"],
  [types.isRegExp, "a regular expression has no JSON: give its source"],
  [(value) => types.isWeakMap(value) || types.isWeakSet(value), "what is held weakly has no JSON"],
  [(value) => types.isGeneratorObject(value) || types.isMapIterator(value) || types.isSetIterator(value), "an iterator has no JSON: give [...items]"],
];

/** A text, or a number with its fraction and exponent. Texts come first, so digits within them are never seen. */
const TOKENS = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON text as a value; integers beyond 2^53 are `bigint`, all others ordinary numbers. */
export function parseExact(text: string): unknown {
  if (!/\d{16}/.test(text)) return JSON.parse(text);
  // No text of the value begins so: it is made up for this one.
  const mark = `bigint:${crypto.randomUUID()}:`;
  let found = false;
  const marked = text.replace(TOKENS, (token) => {
    if (token.length < 16 || !/^-?\d+$/.test(token) || Number.isSafeInteger(Number(token))) return token;
    found = true;
    return `"${mark}${token}"`;
  });
  if (!found) return JSON.parse(text);
  return JSON.parse(marked, (_key, value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value,
  );
}
