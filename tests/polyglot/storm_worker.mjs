// A worker of two tools that write down that they ran, for tests that kill it. Where: STORM_LOG; what it keeps: STORM_FOLDER.

import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import { Worker } from "../../sdk/typescript/dist/index.js";

const log = openSync(process.env.STORM_LOG, "a");

/** One line, on disk before the call goes on: what ran is known even where the worker is killed right after. */
async function run({ number }, ctx) {
  await pause(3);
  writeSync(log, `${ctx.invocationId}\n`);
  fsyncSync(log);
  return { number };
}

const input = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
const facts = { input, readOnly: false, destructive: false, openWorld: false, concurrencySafe: true };
const worker = new Worker("storm", { folder: process.env.STORM_FOLDER, slots: 4 });
worker.tool("again", { ...facts, description: "May run twice.", idempotent: true }, run);
worker.tool("once", { ...facts, description: "Must not run twice.", idempotent: false }, run);
await worker.run();
closeSync(log);
