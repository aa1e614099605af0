/** What vendors call a call, and how each wants its answer. */

import { JsonText, stringify } from "../json.js";

/** A call as a model asks for it, read out of any vendor's shape. */
export interface ModelCall {
  readonly vendor: "openai" | "openai-chat" | "anthropic" | "gemini";
  /** The vendor's id of the call; empty where it has none. */
  readonly id: string;
  /** The alias. */
  readonly alias: string;
  /** The arguments: the model's own text where the vendor hands on text. */
  readonly args: unknown;
}

/** What came of a call, for a model. */
export interface Outcome {
  /** What the model is given. */
  readonly text: string;
  readonly isError: boolean;
}

type Fields = Record<string, unknown>;

function fields(value: unknown): Fields | undefined {
  return typeof value === "object" && value !== null ? (value as Fields) : undefined;
}

/** Arguments as text go through as the model wrote them; none at all mean an empty object. */
function textArgs(value: unknown): unknown {
  if (typeof value !== "string") return value ?? {};
  return value.trim() === "" ? {} : new JsonText(value);
}

/** Reads a call in the shape of any vendor; undefined for what is none. */
export function readCall(value: unknown): ModelCall | undefined {
  const item = fields(value);
  if (item === undefined) return undefined;
  if (item.type === "function_call") {
    return { vendor: "openai", id: String(item.call_id ?? ""), alias: String(item.name), args: textArgs(item.arguments) };
  }
  if (item.type === "tool_use") {
    return { vendor: "anthropic", id: String(item.id ?? ""), alias: String(item.name), args: item.input ?? {} };
  }
  const chat = fields(item.function);
  if (chat !== undefined && typeof chat.name === "string") {
    return { vendor: "openai-chat", id: String(item.id ?? ""), alias: chat.name, args: textArgs(chat.arguments) };
  }
  const gemini = fields(item.functionCall) ?? (typeof item.name === "string" && "args" in item ? item : undefined);
  if (gemini !== undefined && typeof gemini.name === "string") {
    return { vendor: "gemini", id: String(gemini.id ?? ""), alias: gemini.name, args: gemini.args ?? {} };
  }
  return undefined;
}

/** A call as its vendor writes it. What is no JSON is a {@link JsonError}. */
export function asJson({ vendor, id, alias: name, args }: ModelCall): Fields {
  switch (vendor) {
    case "openai":
      return { type: "function_call", call_id: id, name, arguments: stringify(args) };
    case "openai-chat":
      return { id, type: "function", function: { name, arguments: stringify(args) } };
    case "anthropic":
      return { type: "tool_use", id, name, input: args };
    case "gemini":
      return { functionCall: { id, name, args } };
  }
}

/** A result in the shape of the vendor that asked. Only some have a mark for failures; the others are told in the text. */
export function writeAnswer(call: ModelCall, outcome: Outcome): Fields {
  const text = outcome.text;
  switch (call.vendor) {
    case "openai":
      return { type: "function_call_output", call_id: call.id, output: text };
    case "openai-chat":
      return { role: "tool", tool_call_id: call.id, content: text };
    case "anthropic":
      return { type: "tool_result", tool_use_id: call.id, content: text, ...(outcome.isError ? { is_error: true } : {}) };
    case "gemini": {
      const response = outcome.isError ? { error: text } : { output: text };
      return { functionResponse: { ...(call.id ? { id: call.id } : {}), name: call.alias, response } };
    }
  }
}

/** The calls of a whole response, or of a list of items. */
export function readCalls(response: unknown): ModelCall[] {
  return items(response).flatMap((item) => readCall(item) ?? []);
}

function items(response: unknown): unknown[] {
  if (Array.isArray(response)) return response;
  const whole = fields(response);
  if (whole === undefined) return [];
  const message = fields(fields((whole.choices as unknown[] | undefined)?.[0])?.message) ?? whole;
  const candidate = fields(fields((whole.candidates as unknown[] | undefined)?.[0])?.content) ?? whole;
  const lists = [whole.output, message.tool_calls, whole.content, candidate.parts];
  return (lists.find(Array.isArray) as unknown[] | undefined) ?? [response];
}

/** What to append to the conversation: items and messages one by one, or one message that holds all of them. */
export function asMessages(answers: readonly { call: ModelCall; answer: Fields }[]): Fields[] {
  const [first] = answers;
  const all = answers.map(({ answer }) => answer);
  if (first?.call.vendor === "anthropic") return [{ role: "user", content: all }];
  if (first?.call.vendor === "gemini") return [{ role: "user", parts: all }];
  return all;
}

/** A failure as text for a model: what went wrong, and what would help. */
export function failureText(code: string, message: string, more: Fields): string {
  // Errors end with their code, which stands beside the message here.
  const said = message.endsWith(` [${code}]`) ? message.slice(0, -code.length - 3) : message;
  const set = Object.entries(more).filter(([, value]) => value !== undefined && value !== "");
  return stringify({ error: { code, message: said, ...Object.fromEntries(set) } });
}
