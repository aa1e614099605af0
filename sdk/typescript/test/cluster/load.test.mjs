// Two workers under load, one killed again and again, the other drained and restarted: nothing is lost, nothing doubled.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { namespace, open } from "../helpers/cluster.mjs";
import { folder, ledger, WorkerProcess } from "../helpers/worker-process.mjs";

const CALLS = Number(process.env.TOOLPLANE_TEST_CALLS ?? 2_000);
const AT_ONCE = 32;

let name;
before(async () => (name = await namespace()));

test(`${CALLS} calls over workers that come and go`, { timeout: 300_000 }, async (t) => {
  const tools = await open(t);
  const [killed, drained] = [folder(t), folder(t)];
  let first = await WorkerProcess.start(t, name, killed, { SLOTS: "8" });
  let second = await WorkerProcess.start(t, name, drained, { SLOTS: "8" });
  const outcomes = new Map();
  let [next, ended] = [0, 0];
  const disturbed = [];
  const disturb = async (at) => {
    if (at % 2 === 0) {
      await first.kill();
      first = await WorkerProcess.start(t, name, killed, { SLOTS: "8" });
    } else {
      assert.equal(await second.terminate(), 0);
      second = await WorkerProcess.start(t, name, drained, { SLOTS: "8" });
    }
  };
  const caller = async () => {
    while (next < CALLS) {
      const id = next++;
      const tool = id % 2 === 0 ? "load_once" : "load_again";
      const result = await tools.callResult(`${name}.${tool}`, { id });
      outcomes.set(id, result.isError ? result.error.code : "ok");
      ended += 1;
      const step = Math.floor(CALLS / 9);
      if (ended % step === 0 && ended / step <= 8) disturbed.push(disturb(ended / step));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  await Promise.all(disturbed);
  assert.equal(disturbed.length, 8);
  const starts = new Map();
  for (const line of [...ledger(killed), ...ledger(drained)]) starts.set(line, (starts.get(line) ?? 0) + 1);
  assert.equal(outcomes.size, CALLS, "every call has an ending");
  let unknown = 0;
  for (const [id, outcome] of outcomes) {
    if (id % 2 === 0) {
      const times = starts.get(`once ${id}`) ?? 0;
      assert.ok(times <= 1, `call ${id} ran ${times} times`);
      assert.ok(outcome === "ok" ? times === 1 : outcome === "exec.outcome_unknown", `call ${id}: ${outcome}, ran ${times} times`);
      unknown += outcome === "ok" ? 0 : 1;
    } else {
      assert.equal(outcome, "ok", `call ${id}`);
      assert.ok(starts.get(`again ${id}`) >= 1, `call ${id} never ran`);
    }
  }
  t.diagnostic(`${CALLS} calls: ${unknown} unknown, ${[...starts.values()].filter((times) => times > 1).length} repeated`);
  assert.ok(unknown <= 4 * 8, `${unknown} are unknown: more than were running when a worker was killed`);
  await Promise.all([first.kill(), second.kill()]);
});
