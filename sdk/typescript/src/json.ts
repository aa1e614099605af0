/**
 * JSON without loss: integers of any size survive both ways.
 *
 * JavaScript's own numbers hold integers up to 2^53 exactly. A `bigint` in a value is written with all its digits, and
 * {@link parseExact} reads integers that a number cannot hold as `bigint`.
 */

/** JSON text that is sent as it is, byte for byte. It is not checked here; the cluster refuses what is not JSON. */
export class JsonText {
  constructor(readonly text: string) {}

  /** Reached only where `JSON.stringify` is used by itself, which would put the text into quotes. */
  toJSON(): never {
    throw new NeedsExact();
  }
}

class NeedsExact extends TypeError {}

/**
 * A value as JSON text. Like `JSON.stringify`, and also: a `bigint` becomes its digits, a {@link JsonText} its text.
 * What has no JSON (a function, `undefined`) is left out of objects and becomes `null` elsewhere.
 */
export function stringify(value: unknown): string {
  // Where somebody gave bigints a `toJSON`, they would become texts without anybody noticing.
  if (!("toJSON" in BigInt.prototype)) {
    try {
      return JSON.stringify(value) ?? "null";
    } catch (error) {
      if (!(error instanceof TypeError) || isCyclic(error)) throw error;
    }
  }
  return write(value, "", []) ?? "null";
}

function isCyclic(error: TypeError): boolean {
  return !(error instanceof NeedsExact) && /circular/i.test(error.message);
}

function write(value: unknown, key: string, above: object[]): string | undefined {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof JsonText) return value.text;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (above.includes(value)) throw new TypeError("a value that holds itself has no JSON");
  const own = value as { toJSON?: (key: string) => unknown };
  if (typeof own.toJSON === "function") return write(own.toJSON(key), key, above);
  const within = [...above, value];
  if (Array.isArray(value)) {
    return `[${value.map((item, at) => write(item, String(at), within) ?? "null").join(",")}]`;
  }
  const fields = Object.entries(value).flatMap(([name, field]) => {
    const text = write(field, name, within);
    return text === undefined ? [] : [`${JSON.stringify(name)}:${text}`];
  });
  return `{${fields.join(",")}}`;
}

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
