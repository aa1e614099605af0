/** Runs one tool to its end: its clock, its questions, and the wish to stop. */

import { JsonError } from "../errors.js";
import type { ExecutionOutcome } from "../gen/toolplane/v1/worker.js";
import { payloadValue, toPayload } from "../payload.js";
import { withinTrace } from "../trace.js";
import type { Assignment } from "./assignment.js";
import { ToolContext, type Services } from "./context.js";
import { canceled, failed, notJson, outcomeUnknown, refused, succeeded, timedOut, type Upload } from "./output.js";
import { readArgs, type Tool } from "./tool.js";

/** How long a tool that was asked to stop may take, in milliseconds. After that it is not waited for. */
const STOP_MS = 2_000;

const ENDED = "the worker ended before the tool did";
const IN_DOUBT = "the tool held an exclusive lock and the worker could not renew its lease";

/** How an execution ended: a report, or that the call is to be given back, or nothing to say. */
export type Ending = { report: ExecutionOutcome } | { giveBack: string } | { forget: true };

/** What a tool is run with. */
export interface Surroundings {
  services: Services;
  upload: Upload;
  inlineBytes: number;
  /** Told what a tool threw, for the worker's log. */
  onThrow: (thrown: unknown) => void;
  /** Resolves when the function has really returned, however late. */
  onReturn: () => void;
}

/** The tool's own time: it stands still while a question waits. */
class Clock {
  #left: number;
  #timer: NodeJS.Timeout | undefined;
  #since = 0;

  constructor(
    ms: number,
    readonly over: () => void,
  ) {
    this.#left = ms;
  }

  run(): void {
    this.#since = performance.now();
    this.#timer = setTimeout(this.over, Math.min(this.#left, 2 ** 31 - 1));
  }

  stop(): void {
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#left = Math.max(0, this.#left - (performance.now() - this.#since));
  }
}

/** What became of the function. */
type Returned = { value: unknown } | { thrown: unknown };

/** Runs the tool of an assignment. Never throws. */
export async function execute(assignment: Assignment, tool: Tool, around: Surroundings): Promise<Ending> {
  const { dispatch, signal } = assignment;
  const args = payloadValue(dispatch.callInput, tool.options.bigints) ?? {};
  const read = readArgs(tool.options.input, args);
  if ("fault" in read) {
    around.onReturn();
    return { report: refused(read.fault) };
  }
  const clock = new Clock(Number(dispatch.timeoutMs) || 2 ** 31 - 1, () => assignment.halt({ kind: "timeout" }));
  assignment.onPause = () => clock.stop();
  assignment.onResume = () => clock.run();
  const context = new ToolContext(dispatch, signal, around.services);
  clock.run();
  const running = run(tool, read.data, context, around);
  const late = new Promise<undefined>((resolve) => {
    const wait = (): void => void setTimeout(() => resolve(undefined), STOP_MS).unref();
    if (signal.aborted) wait();
    else signal.addEventListener("abort", wait, { once: true });
  });
  const returned = await Promise.race([running, late]);
  clock.stop();
  // A question that is answered only now, or never, starts it no more.
  assignment.onPause = assignment.onResume = undefined;
  const ending = await settle(assignment, tool, around, returned);
  if ("report" in ending) addEvidence(ending.report, context);
  return ending;
}

/** What a report says of the execution beside its answer: the names it has elsewhere. */
function addEvidence(report: ExecutionOutcome, { called }: ToolContext): void {
  const ids = {
    json_rpc_id: called.jsonRpcId,
    mcp_session_id: called.mcpSessionId,
    a2a_task_id: called.a2aTaskId,
    a2a_context_id: called.a2aContextId,
    a2a_message_id: called.a2aMessageId,
    http_request_id: called.httpRequestId,
  };
  if (Object.values(ids).some((id) => id !== undefined)) report.evidence = toPayload({ native_ids: ids });
}

async function run(tool: Tool, args: unknown, context: ToolContext, around: Surroundings): Promise<Returned> {
  try {
    return { value: await withinTrace(context.traceparent, () => tool.handler(args as never, context)) };
  } catch (thrown) {
    if (!context.signal.aborted) around.onThrow(thrown);
    return { thrown };
  } finally {
    around.onReturn();
  }
}

/** What is said of an execution that returned, or that is not waited for any more. */
async function settle(assignment: Assignment, tool: Tool, around: Surroundings, returned: Returned | undefined): Promise<Ending> {
  const { stop, repeatable } = assignment;
  if (stop?.kind === "fenced") return { forget: true };
  // It was faster than the wish to stop: its effect is done.
  if (returned !== undefined && "value" in returned) return { report: await report(returned.value, tool, around) };
  const stopped = returned !== undefined;
  switch (stop?.kind) {
    case "canceled":
      return { report: canceled(stop.reason, stop.code, true, stopped, repeatable) };
    case "timeout":
      return { report: timedOut(stopped) };
    case "shutdown":
    case "in_doubt":
      if (repeatable) return { giveBack: stop.kind === "shutdown" ? "draining" : "lease_in_doubt" };
      return { report: outcomeUnknown(stop.kind === "shutdown" ? ENDED : IN_DOUBT) };
    default:
      return { report: failed(returned?.thrown) };
  }
}

async function report(value: unknown, tool: Tool, around: Surroundings): Promise<ExecutionOutcome> {
  try {
    return await succeeded(value, tool.output !== undefined, around.upload, around.inlineBytes);
  } catch (thrown) {
    around.onThrow(thrown);
    return thrown instanceof JsonError ? notJson(thrown) : failed(thrown);
  }
}
