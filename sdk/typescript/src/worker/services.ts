/** What a worker does for a tool while it runs: passes on its progress, and asks its questions. */

import { randomBytes } from "node:crypto";

import type { JsonPayload } from "../gen/toolplane/v1/payload.js";
import { ToolProgress } from "../gen/toolplane/v1/progress.js";
import { ProgressStatus } from "../gen/toolplane/v1/vocabulary.js";
import type { InputProvided } from "../gen/toolplane/v1/worker.js";
import { payloadValue, toPayload } from "../payload.js";
import type { Assignment } from "./assignment.js";
import { NotAnswered, type AskOptions, type PartialOptions, type ProgressParts, type Services } from "./context.js";
import type { Report } from "./session.js";

type Say = (report: Report) => boolean;

/** The services of one execution. */
export function servicesOf(assignment: Assignment, say: Say, keep: Services["keep"], bigints = false): Services {
  return {
    progress: (parts) => tellProgress(assignment, parts, say),
    partial: (text, options) => showPartial(assignment, text, options, say),
    ask: async (prompt, options) => payloadValue(await ask(assignment, prompt, options, say), bigints),
    keep,
  };
}

function tellProgress(assignment: Assignment, parts: ProgressParts, say: Say): void {
  if (assignment.phase !== "running" || assignment.stop) return;
  const progress = ToolProgress.fromPartial({
    schemaVersion: "0.2.0",
    progressId: `progress_${randomBytes(8).toString("hex")}`,
    invocationId: assignment.dispatch.invocationId,
    status: "running",
    statusCode: ProgressStatus.PROGRESS_STATUS_RUNNING,
    message: parts.message ?? "",
    percent: parts.percent,
    currentStep: parts.step ?? "",
    totalSteps: parts.totalSteps === undefined ? undefined : BigInt(parts.totalSteps),
    timestamp: new Date(),
  });
  say({ $case: "progress", value: { lease: assignment.lease, progress } });
}

function showPartial(assignment: Assignment, text: string, { append, resume }: PartialOptions, say: Say): void {
  if (assignment.phase !== "running" || assignment.stop) return;
  const content = text === "" ? [] : [{ block: { $case: "text" as const, value: { text } } }];
  const value = { lease: assignment.lease, content, append: append ?? true, resumeToken: resume };
  say({ $case: "partial", value });
}

/** Asks a question and waits for its answer; the worker says it again until there is one. */
async function ask(assignment: Assignment, prompt: string, { schema, ttlMs }: AskOptions, say: Say): Promise<JsonPayload> {
  if (assignment.question) throw new Error("a tool asks one question at a time");
  assignment.signal.throwIfAborted();
  const asked = {
    lease: assignment.lease,
    inputId: `input_${randomBytes(8).toString("hex")}`,
    prompt,
    schema: schema === undefined ? undefined : toPayload(schema),
    ttlMs: ttlMs ?? 0,
  };
  assignment.onPause?.();
  try {
    const input = await new Promise<InputProvided>((answer, stopped) => {
      assignment.question = { asked, answer };
      assignment.signal.addEventListener("abort", () => stopped(assignment.signal.reason as Error), { once: true });
      assignment.saidAt = Date.now();
      say({ $case: "inputRequested", value: asked });
    });
    if (input.input === undefined) throw new NotAnswered(input.expired ? "expired" : "declined");
    return input.input;
  } finally {
    assignment.question = undefined;
    assignment.onResume?.();
  }
}
