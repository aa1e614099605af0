/** JSON values on the wire: their exact bytes. */

import { JsonPayload } from "./gen/toolplane/v1/payload.js";
import { parseExact, stringify } from "./json.js";

/** A value, or the {@link JsonText} of one, as bytes to send. */
export function toPayload(value: unknown): JsonPayload {
  return textPayload(stringify(value));
}

/** JSON text as bytes to send. */
export function textPayload(text: string): JsonPayload {
  return JsonPayload.fromPartial({ body: { $case: "inline", value: Buffer.from(text) } });
}

/** The exact text of a value, when it came along by itself; undefined when it is absent or kept elsewhere. */
export function payloadText(payload: JsonPayload | undefined): string | undefined {
  if (payload?.body?.$case !== "inline") return undefined;
  return Buffer.from(payload.body.value).toString("utf8");
}

/** The value of a payload that came along; undefined when there is none. */
export function payloadValue(payload: JsonPayload | undefined, bigints = false): unknown {
  const text = payloadText(payload);
  if (text === undefined) return undefined;
  return bigints ? parseExact(text) : JSON.parse(text);
}
