/** A call whose events are wanted as they happen. */

import type { Connection } from "./connection.js";
import type { Call } from "./follow.js";
import type { Event } from "./gen/toolplane/v1/event.js";
import { ToolResult } from "./gen/toolplane/v1/result.js";
import { EventClass } from "./gen/toolplane/v1/vocabulary.js";
import { payloadValue } from "./payload.js";
import { answerInput, approve, type People } from "./people.js";
import type { Result } from "./result.js";

/** How far a call is, as its tool says: the standard's progress record. */
export interface Progress {
  /** Position among the updates of the call, from 1. */
  readonly sequence: number;
  /** What the call is doing, e.g. `running`; open vocabulary. */
  readonly status: string;
  /** For people. */
  readonly message?: string;
  /** 0 to 100, when known. */
  readonly percent?: number;
  /** Name of the current step. */
  readonly current_step?: string;
  /** Number of steps, when known. */
  readonly total_steps?: number;
  readonly [field: string]: unknown;
}

/** What a stream gives: events and progress as they happen, and at last the one result. */
export type StreamItem =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "progress"; readonly progress: Progress; readonly event: Event }
  /** What the tool has so far: its text, after what was shown before unless the event's data say otherwise. */
  | { readonly kind: "partial"; readonly text: string; readonly event: Event }
  | { readonly kind: "result"; readonly result: Result };

function isResult(item: Event | ToolResult): item is ToolResult {
  return "resultId" in item;
}

/** The items of one call; people are asked beside it. @internal */
export async function* items(
  connection: Connection,
  call: Call,
  people: People,
  toResult: (record: ToolResult) => Result,
  failed: (error: unknown) => void,
): AsyncGenerator<StreamItem, void, void> {
  for await (const item of call.events()) {
    if (isResult(item)) {
      yield { kind: "result", result: toResult(item) };
      return;
    }
    if (item.eventClass === EventClass.EVENT_CLASS_EXT_INVOCATION_AWAITING_APPROVAL && people.onApproval) {
      approve(connection, call.invocationId, people).catch(failed);
    }
    if (item.eventClass === EventClass.EVENT_CLASS_EXT_INVOCATION_NEEDS_INPUT && people.onInput) {
      answerInput(connection, call.invocationId, people).catch(failed);
    }
    if (item.eventClass === EventClass.EVENT_CLASS_TOOL_INVOCATION_PROGRESS) {
      yield { kind: "progress", progress: payloadValue(item.data) as Progress, event: item };
    } else if (item.eventClass === EventClass.EVENT_CLASS_TOOL_INVOCATION_PARTIAL_RESULT) {
      const { content } = payloadValue(item.data) as { content?: readonly { text?: string }[] };
      yield { kind: "partial", text: (content ?? []).map((block) => block.text ?? "").join(""), event: item };
    } else {
      yield { kind: "event", event: item };
    }
  }
}
