// A worker and a scheduler that is of this test: what a real one says seldom, or only when things are bad.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { Worker } from "toolplane";

import { lease, Scheduler } from "../helpers/scheduler.mjs";

/** A worker of one tool, `acme.tool`, that runs until the test ends. */
async function serve(t, scheduler, handler, options = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolplane-unit-"));
  const worker = new Worker("acme", {
    endpoint: scheduler.endpoint, folder, register: false, handleSignals: false, slots: 2, drainMs: 100, log: () => {}, ...options,
  });
  worker.tool("tool", { description: "A tool." }, handler);
  const running = worker.run();
  t.after(async () => {
    scheduler.over = true;
    await worker.stop();
    await running;
    rmSync(folder, { recursive: true, force: true });
  });
  await scheduler.hears("ready");
  return { worker, folder };
}

/** A function that begins and goes on when the test says so. */
function gated() {
  const calls = [];
  const handler = (_args, ctx) => new Promise((resolve, reject) => {
    ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason));
    calls.push({ ctx, resolve });
  });
  return { calls, handler };
}

test("a hello says which tools there are, and nothing is claimed of a first start but that nothing was before", async (t) => {
  const scheduler = await Scheduler.start();
  await serve(t, scheduler, () => 1);
  const [hello] = scheduler.hellos;
  assert.deepEqual(hello.nativeTools, ["acme.tool", "acme.list_tools"]);
  assert.deepEqual([hello.pools, hello.slots, hello.previousIncarnationDead], [[], 2, true]);
});

test("an ending is said again until it is acknowledged", async (t) => {
  const scheduler = await Scheduler.start({ leaseMs: 300 });
  await serve(t, scheduler, () => "x");
  const mine = lease();
  scheduler.offer(mine, "acme.tool");
  const first = await scheduler.hears("done");
  const second = await scheduler.hears("done");
  assert.deepEqual([first.lease, second.lease], [mine, mine]);
  scheduler.say({ $case: "doneAcknowledged", value: { lease: mine } });
  scheduler.offer(lease(), "acme.tool");
  assert.notEqual((await scheduler.hears("done")).lease.leaseId, undefined);
});

test("what needs a grant does not begin without one", async (t) => {
  const scheduler = await Scheduler.start();
  let runs = 0;
  await serve(t, scheduler, () => (runs += 1));
  const [refused, granted] = [lease(), lease()];
  scheduler.offer(refused, "acme.tool", { requiresStartGrant: true });
  await scheduler.hears("received");
  await scheduler.hears("startRequested");
  scheduler.say({ $case: "startRefused", value: { lease: refused, reason: "already_started" } });
  scheduler.offer(granted, "acme.tool", { requiresStartGrant: true });
  await scheduler.hears("startRequested");
  assert.equal(runs, 0);
  scheduler.say({ $case: "startGranted", value: { lease: granted } });
  assert.equal((await scheduler.hears("done")).lease.leaseId, granted.leaseId);
  assert.equal(runs, 1);
});

test("a fenced lease stops its tool, and nothing of it is told", async (t) => {
  const scheduler = await Scheduler.start();
  const { calls, handler } = gated();
  await serve(t, scheduler, handler);
  const [byStream, byBeat] = [lease(), lease()];
  scheduler.offer(byStream, "acme.tool");
  scheduler.offer(byBeat, "acme.tool");
  await scheduler.hears("received");
  await scheduler.hears("received");
  const stopped = calls.map(({ ctx }) => once(ctx.signal, "abort"));
  scheduler.say({ $case: "fenced", value: { lease: byStream } });
  await stopped[0];
  scheduler.beat = () => ({ fenced: [byBeat] });
  await stopped[1];
  scheduler.beat = () => ({});
  assert.match(calls[0].ctx.signal.reason.message, /no longer this worker's/);
  const last = lease();
  scheduler.offer(last, "acme.tool");
  await scheduler.hears("received");
  calls[2].resolve("x");
  assert.equal((await scheduler.hears("done")).lease.leaseId, last.leaseId);
  assert.ok(!scheduler.unheard.includes("done"));
});

test("a cancellation and an answer may come with a heartbeat", async (t) => {
  const scheduler = await Scheduler.start();
  await serve(t, scheduler, async (_args, ctx) => `said ${await ctx.ask("What?")}`);
  const asked = lease();
  scheduler.offer(asked, "acme.tool");
  const { inputId } = await scheduler.hears("inputRequested");
  const again = await scheduler.hears("inputRequested");
  assert.equal(again.inputId, inputId, "a question is asked again until it is answered");
  const input = { body: { $case: "inline", value: Buffer.from('"this"') } };
  scheduler.beat = () => ({ inputs: [{ lease: asked, inputId, input }] });
  const { outcome } = await scheduler.hears("done");
  assert.equal(outcome.content[0].block.value.text, "said this");
  scheduler.beat = () => ({});
  const canceled = lease();
  scheduler.offer(canceled, "acme.tool");
  await scheduler.hears("received");
  scheduler.beat = () => ({ cancels: [{ lease: canceled, abortReason: "user_interruption", abortReasonCode: 1, message: "" }] });
  assert.equal((await scheduler.hears("cancelAcknowledged")).supported, true);
  let ending = await scheduler.hears("done");
  while (ending.lease.leaseId !== canceled.leaseId) ending = await scheduler.hears("done");
  assert.deepEqual([ending.outcome.status, ending.outcome.error.errorCode], ["canceled", "exec.canceled"]);
});

test("a worker that is asked to leave goes to another scheduler, with what it runs", async (t) => {
  const [one, two] = [await Scheduler.start(), await Scheduler.start()];
  const { calls, handler } = gated();
  t.after(() => (two.over = true));
  await serve(t, one, handler);
  const mine = lease();
  one.offer(mine, "acme.tool");
  await one.hears("received");
  one.say({ $case: "goAway", value: { reason: "draining", schedulers: [two.endpoint] } });
  await one.hears("goodbye");
  const hello = await two.hears("hello");
  assert.deepEqual(hello.held, [mine]);
  assert.equal((await two.hears("beat")).leases[0].leaseId, mine.leaseId, "its leases are renewed there, too");
  calls[0].resolve("x");
  assert.equal((await two.hears("done")).lease.leaseId, mine.leaseId);
});

test("a worker that is asked to leave and knows no other place ends what it runs first", async (t) => {
  const scheduler = await Scheduler.start();
  const { calls, handler } = gated();
  await serve(t, scheduler, handler);
  const mine = lease();
  scheduler.offer(mine, "acme.tool");
  await scheduler.hears("received");
  scheduler.say({ $case: "goAway", value: { reason: "draining", schedulers: [] } });
  const late = lease();
  scheduler.offer(late, "acme.tool");
  assert.deepEqual(await scheduler.hears("released"), { lease: late, reason: "draining" });
  calls[0].resolve("x");
  await scheduler.hears("done");
  assert.ok(!scheduler.unheard.includes("goodbye"));
  scheduler.say({ $case: "doneAcknowledged", value: { lease: mine } });
  await scheduler.hears("goodbye");
  await scheduler.hears("hello");
  await scheduler.hears("hello");
  assert.equal(scheduler.hellos.length, 2, "it comes back to the one place it knows");
});

test("what is over its slots, and what it does not have, is said", async (t) => {
  const scheduler = await Scheduler.start();
  const { handler } = gated();
  await serve(t, scheduler, handler);
  for (let at = 0; at < 2; at += 1) {
    scheduler.offer(lease(), "acme.tool");
    await scheduler.hears("received");
  }
  const third = lease();
  scheduler.offer(third, "acme.tool");
  assert.deepEqual(await scheduler.hears("released"), { lease: third, reason: "no_free_slot" });
});

test("a tool that this worker does not have is a capability gap", async (t) => {
  const scheduler = await Scheduler.start();
  await serve(t, scheduler, () => 1);
  scheduler.offer(lease(), "acme.other");
  const { outcome } = await scheduler.hears("done");
  assert.deepEqual([outcome.error.errorCode, outcome.error.errorClass], ["exec.native_unknown", "capability_gap"]);
});

test("a newer lease of the same call ends the older one", async (t) => {
  const scheduler = await Scheduler.start();
  const { calls, handler } = gated();
  await serve(t, scheduler, handler);
  const [older, newer] = [lease("inv_same", 1), lease("inv_same", 2)];
  scheduler.offer(older, "acme.tool");
  await scheduler.hears("received");
  const stopped = once(calls[0].ctx.signal, "abort");
  scheduler.offer(newer, "acme.tool");
  await stopped;
  await scheduler.hears("received");
  calls[1].resolve("x");
  assert.equal((await scheduler.hears("done")).lease.leaseNo, 2);
});

test("a tool that holds an exclusive lock is stopped before its lease can end, and takes its process along if it does not listen", async (t) => {
  const scheduler = await Scheduler.start({ leaseMs: 900 });
  scheduler.beat = undefined;
  const folder = mkdtempSync(join(tmpdir(), "toolplane-unit-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("../workers/deaf.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, folder], { env: { ...process.env, TOOLPLANE_ENDPOINT: scheduler.endpoint } });
  t.after(() => child.kill("SIGKILL"));
  let said = "";
  child.stderr.on("data", (text) => (said += text));
  await scheduler.hears("ready");
  const listens = lease();
  scheduler.offer(listens, "acme.listens", { exclusiveLock: true });
  await scheduler.hears("received");
  assert.deepEqual(await scheduler.hears("released"), { lease: listens, reason: "lease_in_doubt" });
  scheduler.offer(lease(), "acme.deaf", { exclusiveLock: true });
  const [, signal] = await once(child, "exit");
  assert.equal(signal, "SIGKILL");
  assert.match(said, /outlives the lease of its lock/);
});

test("a worker that is sent to a place where nobody is comes back", async (t) => {
  const scheduler = await Scheduler.start();
  await serve(t, scheduler, () => "x");
  scheduler.say({ $case: "goAway", value: { reason: "draining", schedulers: ["http://127.0.0.1:1"] } });
  await scheduler.hears("goodbye");
  await scheduler.hears("hello");
  await scheduler.hears("hello");
  const mine = lease();
  scheduler.offer(mine, "acme.tool");
  assert.equal((await scheduler.hears("done")).lease.leaseId, mine.leaseId);
});

test("a worker that is refused at its first hello says so, and ends", async (t) => {
  const scheduler = await Scheduler.start();
  scheduler.refuses = { code: 7, details: "this needs the role worker" };
  const folder = mkdtempSync(join(tmpdir(), "toolplane-unit-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const worker = new Worker("acme", { endpoint: scheduler.endpoint, folder, register: false, handleSignals: false, log: () => {} });
  worker.tool("tool", { description: "A tool." }, () => 1);
  await assert.rejects(worker.run(), (error) => error.status === "PERMISSION_DENIED" && /needs the role worker/.test(error.message));
});
