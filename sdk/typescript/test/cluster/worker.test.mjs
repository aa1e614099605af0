// Workers that are killed, drained, restarted, cut off and kept busy: what is promised of a call holds all the same.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";

import { context, ROOT_CONTEXT, trace, TraceFlags } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { ToolError } from "toolplane";
import { PutProviderRequest, RemoveProviderRequest } from "toolplane/v1/provider_service";
import { ProviderTrust } from "toolplane/v1/provider";

import { Journal } from "../../dist/worker/journal.js";
import { asked, eventually, LEASE_MS, namespace, open, providers } from "../helpers/cluster.mjs";
import { Gate } from "../helpers/gate.mjs";
import { folder, ledger, WorkerProcess } from "../helpers/worker-process.mjs";

before(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
});

/** How often something began, by the ledger. */
const begun = (path, id) => ledger(path).filter((line) => line.startsWith(`${id} `)).length;

test("a tool that must not run twice, killed in the middle, ends as unknown once the worker is back", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const call = tools.call(`${name}.once`, { id: "killed" }).catch((error) => error);
  await worker.tells("began");
  const killedAt = Date.now();
  await worker.kill();
  const next = await WorkerProcess.start(t, name, path);
  const error = await call;
  assert.ok(error instanceof ToolError, String(error));
  assert.deepEqual([error.code, error.retry, error.sideEffects ?? "unknown"], ["exec.outcome_unknown", "verify_before_retry", "unknown"]);
  assert.ok(Date.now() - killedAt < LEASE_MS, "the restarted worker knows that the one before is gone");
  assert.equal(begun(path, "killed"), 1);
  await next.kill();
});

test("the same without a restart, once the lease has run out", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const call = tools.call(`${name}.once`, { id: "left" }).catch((error) => error);
  await worker.tells("began");
  await worker.kill();
  assert.equal((await call).code, "exec.outcome_unknown");
  assert.equal(begun(path, "left"), 1);
});

test("a tool that may run twice, killed in the middle, runs again and succeeds", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const id = await tools.submit(`${name}.again`, { id: "repeated" });
  await worker.tells("began");
  // What the cluster has not heard to have begun is no attempt.
  await eventually("the cluster knows that it runs", async () => (await tools.get(id)).invocation.status === "running");
  await worker.kill();
  const next = await WorkerProcess.start(t, name, path);
  assert.equal((await next.tells("began")).attempt, 2);
  next.send({ event: "go on" });
  assert.equal((await tools.wait(id)).text, "done repeated");
  assert.equal(begun(path, "repeated"), 2);
  await next.kill();
});

test("an ending that was written down is told by the next start, and the tool does not run again", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const gate = await Gate.open(t);
  const worker = await WorkerProcess.start(t, name, path, { endpoint: gate.endpoint });
  const call = tools.call(`${name}.once`, { id: "journal" });
  await worker.tells("began");
  // Nothing reaches the cluster from here on: the ending is on disk, and nowhere else.
  gate.hold();
  worker.send({ event: "go on" });
  const journal = join(path, "state", "1", "endings");
  await eventually("the ending is on disk", () => readFileSync(journal).includes("done journal"));
  await worker.kill();
  const next = await WorkerProcess.start(t, name, path);
  const result = await call;
  assert.equal(result.text, "done journal");
  assert.equal(begun(path, "journal"), 1);
  assert.equal(await next.terminate(), 0);
  const left = await Journal.at(journal);
  assert.deepEqual(left.endings, [], "it was acknowledged");
  await left.close();
});

test("a worker that drains ends what runs and takes no more, and another one goes on", async (t) => {
  const [name, tools, path, other] = [await namespace(), await open(t), folder(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const running = tools.call(`${name}.once`, { id: "drained" });
  await worker.tells("began");
  const exit = worker.terminate();
  await worker.tells("drains");
  const next = tools.call(`${name}.again`, { id: "after" });
  const second = await WorkerProcess.start(t, name, other);
  await second.tells("began");
  worker.send({ event: "go on" });
  second.send({ event: "go on" });
  assert.equal((await running).text, "done drained");
  assert.equal((await next).text, "done after");
  assert.equal(await exit, 0);
  assert.deepEqual([begun(path, "after"), begun(other, "after")], [0, 1]);
  await second.kill();
});

test("what outlasts the drain is given back when it may run twice, and is unknown when not", async (t) => {
  const [name, tools, path, other] = [await namespace(), await open(t), folder(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path, { DRAIN_MS: "100" });
  const once = tools.call(`${name}.once`, { id: "o" }).catch((error) => error);
  const again = tools.call(`${name}.again`, { id: "a" });
  await worker.tells("began");
  await worker.tells("began");
  assert.equal(await worker.terminate(), 0);
  const second = await WorkerProcess.start(t, name, other);
  assert.equal((await once).code, "exec.outcome_unknown");
  await second.tells("began");
  second.send({ event: "go on" });
  assert.equal((await again).text, "done a");
  assert.equal(begun(path, "o") + begun(other, "o"), 1);
  await second.kill();
});

test("a tool that blocks the thread for longer than a lease keeps its call", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const result = await tools.call(`${name}.blocks`, { ms: LEASE_MS * 2.5 });
  assert.equal(result.text, "still here");
  const { invocation } = await tools.get(result.invocationId);
  assert.deepEqual([invocation.leaseNo, invocation.attempt, invocation.workerLosses], [1, 1, 0]);
  await worker.kill();
});

test("a connection that is cut in the middle costs a call nothing", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const gate = await Gate.open(t);
  const worker = await WorkerProcess.start(t, name, path, { endpoint: gate.endpoint });
  const call = tools.call(`${name}.once`, { id: "cut" });
  await worker.tells("began");
  gate.cut();
  await worker.tells("connected");
  worker.send({ event: "go on" });
  const result = await call;
  assert.equal(result.text, "done cut");
  assert.equal((await tools.get(result.invocationId)).invocation.leaseNo, 1);
  await worker.kill();
});

test("a tool whose time is up is stopped, and one that does not listen is left", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const stopped = await tools.call(`${name}.brief`, { id: "brief" }).catch((error) => error);
  assert.deepEqual([stopped.code, stopped.errorClass], ["exec.timeout", "timeout"]);
  assert.equal((await worker.tells("stopped")).reason, "the tool's time is up");
  const deaf = await tools.call(`${name}.brief`, { id: "deaf", deaf: true }).catch((error) => error);
  assert.deepEqual([deaf.code, deaf.errorClass], ["exec.timeout_unacked", "timeout"]);
  await worker.kill();
});

test("a tool that cannot be canceled goes on", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const id = await tools.submit(`${name}.firm`, { id: "firm" });
  await worker.tells("began");
  await tools.cancel(id);
  worker.send({ event: "go on" });
  assert.equal((await tools.wait(id)).text, "done firm");
  await worker.kill();
});

test("no more calls run at once than there are slots", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path, { SLOTS: "1" });
  const first = tools.call(`${name}.once`, { id: "first" });
  await worker.tells("began");
  const second = tools.call(`${name}.once`, { id: "second" });
  const queued = await eventually("the second waits", async () => ledger(path).length === 1);
  assert.ok(queued);
  worker.send({ event: "go on" });
  await first;
  await worker.tells("began");
  assert.deepEqual(ledger(path), ["first attempt 1", "second attempt 1"]);
  worker.send({ event: "go on" });
  await second;
  await worker.kill();
});

test("two processes of one name on one machine are two workers", async (t) => {
  const [name, path] = [await namespace(), folder(t)];
  const one = await WorkerProcess.start(t, name, path);
  const two = new WorkerProcess(t, name, path);
  const { worker } = await two.tells("connected");
  assert.match(worker, new RegExp(`^${name}-`));
  assert.ok(!one.said.includes(worker));
  await Promise.all([one.kill(), two.kill()]);
  const again = await WorkerProcess.start(t, name, path);
  assert.ok(one.said.includes(readFileSync(join(path, "state", "1", "worker_id"), "utf8")));
  await again.kill();
});

test("a tool knows its call, and belongs to its trace", async (t) => {
  const [name, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, name, path);
  const traceId = "0af7651916cd43dd8448eb211c80319c";
  const span = { traceId, spanId: "b7ad6b7169203331", traceFlags: TraceFlags.SAMPLED };
  const within = trace.setSpanContext(ROOT_CONTEXT, span);
  const result = await context.with(within, () => tools.call(`${name}.facts`, {}, { session: "s-1", actor: "tester" }));
  const { fence, traceparent, idempotencyKey, current, ...facts } = result.value;
  const { invocationId } = result;
  assert.deepEqual(facts, { invocationId, tenant: "default", actor: "tester", session: "s-1", attempt: 1, toolName: `${name}.facts` });
  assert.ok(fence > 0 && idempotencyKey.length > 0);
  assert.match(traceparent, new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
  assert.equal(current, traceId, "it is the current trace of OpenTelemetry in the tool");
  await worker.kill();
});

test("tools that are not registered come from a provider of the kind `worker`", async (t) => {
  const [own, tools, path] = [await namespace(), await open(t), folder(t)];
  const worker = await WorkerProcess.start(t, own, path, { REGISTER: "no", PROVIDER: own });
  const source = { $case: "worker", value: { nativePrefix: `${own}.` } };
  const provider = { providerId: own, source, trust: ProviderTrust.PROVIDER_TRUST_ALL_TOOLS };
  await asked(providers, "putProvider", PutProviderRequest.fromPartial({ provider }));
  const listed = await eventually("its tools are there", async () => (await tools.list()).find((tool) => tool.name === `${own}.word_count`));
  assert.match(listed.toolId, /^provider:/);
  // A tool is listed a moment before its provider says that it may be called.
  const waits = (error) => assert.equal(error.code, "provider.tool_waits");
  const called = await eventually("it can be called", () => tools.call(`${own}.word_count`, { text: "a b" }).catch(waits));
  assert.equal(called.value, 2);
  const shown = async () => {
    const { state, reason } = (await tools.list()).find((tool) => tool.name === `${own}.word_count`);
    return [state, reason];
  };
  assert.deepEqual(await shown(), ["loaded", undefined]);
  await asked(providers, "removeProvider", RemoveProviderRequest.fromPartial({ providerId: own }));
  assert.deepEqual(await shown(), ["blocked", "retired"]);
  await worker.kill();
});
