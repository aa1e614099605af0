// A cluster that is away for a moment: a call is made once, and a stream goes on where it broke.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { RequestError } from "toolplane";

import { namespace, open, PATIENCE_MS } from "../helpers/cluster.mjs";
import { Gate } from "../helpers/gate.mjs";
import { folder, ledger, WorkerProcess } from "../helpers/worker-process.mjs";

let name;
before(async () => (name = await namespace()));

test("a cluster that is not there yet is waited for, as long as the caller lets it", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  const { endpoint, port } = gate;
  await gate.shut();
  const tools = await open(t, { endpoint, connectMs: PATIENCE_MS });
  const call = tools.call(`${name}.word_count`, { text: "a b" });
  const hurried = await tools.call(`${name}.word_count`, { text: "a" }, { timeoutMs: 1 }).catch((error) => error);
  assert.ok(hurried instanceof RequestError, String(hurried));
  assert.deepEqual([hurried.status, hurried.retry], ["UNAVAILABLE", "retry_later"]);
  await gate.listen(port);
  assert.equal((await call).value, 2);
  await worker.kill();
});

test("a cluster that was there and went away is waited for, and said to be away once", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  let away;
  const [said, gone] = [[], new Promise((resolve) => (away = resolve))];
  const log = (level, message) => (said.push(level), away(message));
  // No time at all for a first connection: the one that is made again is not the first.
  const tools = await open(t, { endpoint: gate.endpoint, connectMs: 0, log });
  assert.equal((await tools.call(`${name}.word_count`, { text: "a" })).value, 1);
  await gate.shut();
  const calls = [1, 2].map(() => tools.call(`${name}.word_count`, { text: "a b" }));
  assert.match(await gone, /^no answer from `http:\/\/127\.0\.0\.1:\d+`: .*; trying again$/);
  await gate.listen();
  assert.deepEqual((await Promise.all(calls)).map(({ value }) => value), [2, 2]);
  assert.deepEqual(said, ["warn", "info"]);
  await worker.kill();
});

for (const REGISTER of ["yes", "no"]) {
  test(`a worker may start before its cluster, and says so once (register: ${REGISTER})`, async (t) => {
    const [path, gate] = [folder(t), await Gate.open(t)];
    await gate.shut();
    const worker = new WorkerProcess(t, name, path, { endpoint: gate.endpoint, REGISTER });
    await worker.says("trying again");
    await gate.listen();
    await worker.tells("connected");
    const warnings = worker.said.split("\n").filter((line) => line.startsWith("warn"));
    assert.equal(warnings.length, 1, worker.said);
    assert.ok(warnings[0].includes(`cannot reach a cluster at \`${gate.endpoint}\``), warnings[0]);
    const tools = await open(t);
    assert.equal((await tools.call(`${name}.word_count`, { text: "a b" })).value, 2);
    await worker.kill();
  });

  test(`a worker that waits for its cluster can be stopped (register: ${REGISTER})`, async (t) => {
    const [path, gate] = [folder(t), await Gate.open(t)];
    await gate.shut();
    const worker = new WorkerProcess(t, name, path, { endpoint: gate.endpoint, REGISTER });
    await worker.says("trying again");
    assert.equal(await worker.terminate(), 0, worker.said);
  });
}

test("a call whose connection is cut in the middle runs once and gives its result", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  const tools = await open(t, { endpoint: gate.endpoint });
  const call = tools.call(`${name}.once`, { id: "cut" });
  await worker.tells("began");
  gate.cut();
  worker.send({ event: "go on" });
  assert.equal((await call).text, "done cut");
  assert.deepEqual(ledger(path), ["cut attempt 1"]);
  await worker.kill();
});

test("a stream that breaks goes on where it broke", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  const tools = await open(t, { endpoint: gate.endpoint });
  const sequences = [];
  let result;
  for await (const item of tools.stream(`${name}.steps`)) {
    if (item.kind === "result") result = item.result;
    else sequences.push(Number(item.event.sequence));
    if (item.kind === "progress") {
      gate.cut();
      worker.send({ event: "go on" });
    }
  }
  assert.equal(result.text, "done");
  assert.deepEqual(sequences, sequences.map((_, at) => at + 1), "no event twice, none left out");
  assert.equal(gate.cuts, 1);
  await worker.kill();
});

test("a batch whose stream breaks goes on, and every call runs once", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  const tools = await open(t, { endpoint: gate.endpoint });
  const calls = [{ name: `${name}.word_count`, args: { text: "a b c" } }, { name: `${name}.once`, args: { id: "batch" } }];
  const batch = tools.batch(calls);
  await worker.tells("began");
  gate.cut();
  worker.send({ event: "go on" });
  const { results } = await batch;
  assert.deepEqual(results.map((result) => result.value), [3, "done batch"]);
  assert.deepEqual(ledger(path), ["batch attempt 1"]);
  await worker.kill();
});

test("a kept result that is cut in the middle is read to its end", async (t) => {
  const path = folder(t);
  const worker = await WorkerProcess.start(t, name, path);
  const gate = await Gate.open(t);
  const tools = await open(t, { endpoint: gate.endpoint });
  const size = 3_000_000;
  const result = await tools.call(`${name}.large`, { kind: "bytes", size });
  let [read, cut] = [0, false];
  for await (const chunk of result.kept[0].read()) {
    read += chunk.length;
    if (!cut) gate.cut();
    cut = true;
  }
  assert.equal(read, size);
  await worker.kill();
});
