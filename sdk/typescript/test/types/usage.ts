// What the compiler has to find out by itself; this file is never run.

import { connect, Worker, type Log, type Result } from "toolplane";
import { z } from "zod";

const log: Log = (level, message) => console.error(level, message);
const tools = await connect({ endpoint: "http://127.0.0.1:7420", connectMs: 1_000, log });
const result: Result = await tools.call("text.word_count", { path: "words.txt" }, { timeoutMs: 1_000 });
const text: string = result.text;
for await (const item of tools.stream("text.word_count")) {
  if (item.kind === "progress") item.progress.percent satisfies number | undefined;
  if (item.kind === "result") item.result satisfies Result;
}

const worker = new Worker("acme");
worker.tool("typed", { description: "Typed by its schema.", input: z.object({ count: z.number().default(1) }) }, ({ count }, ctx) => {
  ctx.signal satisfies AbortSignal;
  return count.toFixed(2) + text;
});
// @ts-expect-error: the schema has no such argument.
worker.tool("wrong", { description: "Wrong.", input: z.object({ count: z.number() }) }, ({ missing }) => missing);
worker.tool("found", { description: "Is found.", searchHint: "one that is found" }, () => result.incomplete?.code);
worker.tool("plain", { description: "Plain schema.", input: { type: "object" } }, ({ anything }) => anything);
// @ts-expect-error: a tool says what it does.
worker.tool("silent", {}, () => 1);
