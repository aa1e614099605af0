// The worker of the tests. Each tool writes a line into the ledger when it begins, and tells the test over IPC.

import { appendFileSync } from "node:fs";
import { join } from "node:path";

import { context, trace } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { Failure, NotAnswered, Reply, Worker } from "toolplane";
import { z } from "zod";

const { NAME, FOLDER, SLOTS, DRAIN_MS, REGISTER } = process.env;
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const tell = (event, more = {}) => process.connected && process.send({ event, ...more });
const note = (line) => appendFileSync(join(FOLDER, "ledger"), `${line}\n`);

/** What the test sends, by event. */
const heard = new Map();
process.on("message", ({ event }) => {
  heard.get(event)?.();
  heard.delete(event);
});
const hears = (event) => new Promise((resolve) => heard.set(event, resolve));

const worker = new Worker(NAME, {
  folder: join(FOLDER, process.env.STATE ?? "state"),
  register: REGISTER !== "no",
  ...(SLOTS ? { slots: Number(SLOTS) } : {}),
  ...(DRAIN_MS ? { drainMs: Number(DRAIN_MS) } : {}),
  ...(process.env.PROVIDER ? { providers: [{ tenant: "default", id: process.env.PROVIDER }] } : {}),
  log: (level, message, facts) => {
    process.stderr.write(`${level} ${message} ${JSON.stringify(facts)}\n`);
    if (message === "connected to a scheduler") tell("connected", facts);
    if (message === "the worker drains") tell("drains");
  },
});

const safe = { concurrencySafe: true, openWorld: false, destructive: false };
const free = { ...safe, readOnly: true, idempotent: true };

worker.tool(
  "word_count",
  { description: "Counts the words of a text.", input: z.object({ text: z.string().describe("The text.") }), output: z.number(), ...free },
  ({ text }) => text.split(/\s+/).filter(Boolean).length,
);
worker.tool("echo", { description: "Gives its arguments back.", ...free, bigints: true }, (args) => ({ ...args }));
worker.tool("nothing", { description: "Gives nothing.", ...free }, () => undefined);
worker.tool("facts", { description: "Tells what it knows of its call.", ...free }, (_args, ctx) => {
  const { invocationId, tenant, actor, session, attempt, idempotencyKey, fence, traceparent, toolName } = ctx;
  const current = trace.getSpanContext(context.active())?.traceId;
  return { invocationId, tenant, actor, session, attempt, idempotencyKey, fence, traceparent, toolName, current };
});
worker.tool("fails", { description: "Fails.", ...safe, idempotent: false }, ({ typed }) => {
  if (typed) throw new Failure("acme.no_such_order", "there is no such order", { retry: "change_arguments", sideEffects: "none" });
  throw new Error("it broke");
});

/** Begins, and goes on when the test says so, or is told to stop. */
async function waits({ id = "x", deaf = false }, ctx) {
  note(`${id} attempt ${ctx.attempt}`);
  tell("began", { id, attempt: ctx.attempt });
  const stopped = new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
  stopped.catch((error) => tell("stopped", { reason: error.message }));
  await (deaf ? hears("go on") : Promise.race([hears("go on"), stopped]));
  tell("ends", { id });
  return `done ${id}`;
}
worker.tool("once", { description: "Must not run twice.", ...safe, readOnly: false, idempotent: false }, waits);
worker.tool("again", { description: "May run twice.", ...safe, readOnly: false, idempotent: true }, waits);
worker.tool("brief", { description: "Has little time.", ...safe, readOnly: false, idempotent: false, timeoutMs: 300 }, waits);
worker.tool("firm", { description: "Cannot be canceled.", ...safe, readOnly: false, idempotent: false, cancelable: false }, waits);

// Their work takes some time, so that a worker that is killed is killed in the middle of some.
worker.tool("load_once", { description: "Must not run twice.", ...safe, readOnly: false, idempotent: false }, async ({ id }) => {
  note(`once ${id}`);
  await new Promise((done) => setTimeout(done, id % 16));
  return id;
});
worker.tool("load_again", { description: "May run twice.", ...safe, readOnly: false, idempotent: true }, async ({ id }) => {
  note(`again ${id}`);
  await new Promise((done) => setTimeout(done, id % 16));
  return id;
});

worker.tool("blocks", { description: "Keeps the whole thread busy.", ...safe, readOnly: false, idempotent: false, timeoutMs: 120_000 }, ({ ms }) => {
  note("blocks");
  const until = Date.now() + ms;
  while (Date.now() < until);
  return "still here";
});
worker.tool("steps", { description: "Tells how far it is.", ...free }, async (_args, ctx) => {
  ctx.partial("page 1");
  ctx.progress({ message: "reading", percent: 50, step: "read", totalSteps: 2 });
  tell("progressed");
  await hears("go on");
  return "done";
});
worker.tool("asks_number", { description: "Asks for a number.", ...free, bigints: true }, async (_args, ctx) => typeof (await ctx.ask("Which?")));
worker.tool("asks", { description: "Asks a question.", ...free, timeoutMs: 2_000 }, async ({ ttlMs }, ctx) => {
  try {
    const answer = await ctx.ask("Which colour?", { type: "string", enum: ["red", "blue"] }, ttlMs ? { ttlMs } : {});
    return `it is ${answer}`;
  } catch (error) {
    if (error instanceof NotAnswered) return `nobody said: ${error.reason}`;
    throw error;
  }
});
worker.tool("strange", { description: "Gives what JSON does not have.", ...free, contextModifiers: true }, ({ what }) => {
  const values = { number: { a: [1, 2, NaN] }, map: new Map(), half: { t: "\ud800" }, text: "\ud800", cycle: {} };
  values.cycle.self = values.cycle;
  if (what === "modifier") return new Reply({ text: "fine", contextModifiers: [{ f() {} }] });
  return values[what];
});
worker.tool("keeps", { description: "Keeps a large file.", ...free }, async ({ size }, ctx) => (await ctx.keep(Buffer.alloc(size))).uri);
worker.tool("large", { description: "Gives much.", ...free }, ({ kind, size }) => {
  if (kind === "text") return "0123456789".repeat(size / 10);
  if (kind === "json") return { items: "0123456789".repeat(size / 10) };
  return (async function* bytes() {
    for (let at = 0; at < size; at += 65_536) yield Buffer.alloc(Math.min(65_536, size - at), at / 65_536);
  })();
});
worker.tool("rich", { description: "Gives all there is.", ...free, contextModifiers: true }, async (_args, ctx) => {
  ctx.calledElsewhere({ a2aTaskId: "task-3", httpRequestId: "req-7" });
  ctx.calledElsewhere({ a2aTaskId: "task-4", jsonRpcId: "" });
  const kept = await ctx.keep(Buffer.from("an artifact"), "text/plain");
  return new Reply({
    text: "in words",
    value: { in: "structure" },
    diff: "-a\n+b",
    log: "said aside",
    files: [{ data: Buffer.from("a file"), mediaType: "text/plain" }],
    artifacts: [{ id: "report-1", uri: kept.uri, mediaType: "text/plain", version: "1" }],
    contextModifiers: [{ kind: "remember", text: "this" }],
    summary: "all there is",
  });
});
worker.tool("danger", { description: "May destroy something.", ...safe, destructive: true, readOnly: false, idempotent: false }, () => {
  note("danger");
  return "destroyed";
});

await worker.run();
process.disconnect?.();
