// The journal and the directory of a worker, and what a crash may leave of them.

import assert from "node:assert/strict";
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { ExecutionDone } from "toolplane/v1/worker";

import { takeIdentity } from "../../dist/worker/identity.js";
import { Journal } from "../../dist/worker/journal.js";

function folder(t) {
  const path = mkdtempSync(join(tmpdir(), "toolplane-disk-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

const ending = (leaseId, summary = "done") =>
  ExecutionDone.fromPartial({ lease: { invocationId: "inv", leaseNo: 1, leaseId }, outcome: { status: "succeeded", summary } });
const ids = (journal) => journal.endings.map(({ lease }) => lease.leaseId).sort();

test("endings are there after a restart, until they are settled", async (t) => {
  const path = join(folder(t), "endings");
  const first = await Journal.at(path);
  await Promise.all([first.ended(ending("a")), first.ended(ending("b")), first.ended(ending("c"))]);
  first.settled("b");
  await first.close();
  const second = await Journal.at(path);
  assert.deepEqual(ids(second), ["a", "c"]);
  assert.equal(second.endings[0].outcome.summary, "done");
  second.settled("a");
  second.settled("a");
  await second.close();
  const third = await Journal.at(path);
  assert.deepEqual(ids(third), ["c"]);
  await third.close();
});

test("what a crash left half is not read, and nothing before it is lost", async (t) => {
  const path = join(folder(t), "endings");
  const first = await Journal.at(path);
  await first.ended(ending("a"));
  const whole = statSync(path).size;
  await first.ended(ending("b"));
  await first.close();
  const full = readFileSync(path);
  for (let size = full.length; size >= whole; size -= 1) {
    writeFileSync(path, full.subarray(0, size));
    const again = await Journal.at(path);
    assert.deepEqual(ids(again), size === full.length ? ["a", "b"] : ["a"], `of ${size} bytes`);
    await again.ended(ending("c"));
    await again.close();
    const after = await Journal.at(path);
    assert.ok(ids(after).includes("c"));
    await after.close();
  }
  for (let at = 0; at < whole; at += 7) {
    const broken = Buffer.from(full);
    broken[at] ^= 0xff;
    writeFileSync(path, broken);
    const read = await Journal.at(path);
    assert.deepEqual(ids(read), [], `with another byte at ${at}`);
    await read.close();
  }
});

test("a journal of which all is settled begins anew, and does not grow for ever", async (t) => {
  const path = join(folder(t), "endings");
  const journal = await Journal.at(path);
  for (let at = 0; at < 300; at += 1) {
    await journal.ended(ending(`l${at}`, "x".repeat(2_000)));
    journal.settled(`l${at}`);
  }
  await journal.ended(ending("last"));
  await journal.close();
  assert.ok(statSync(path).size < 200_000, `${statSync(path).size} bytes`);
  const again = await Journal.at(path);
  assert.deepEqual(ids(again), ["last"]);
  await again.close();
});

/** Another process that takes an identity, and keeps it until it is killed. */
async function holder(t, path, ...args) {
  const child = fork(fileURLToPath(new URL("../helpers/holder.mjs", import.meta.url)), [path, ...args]);
  t.after(() => child.kill("SIGKILL"));
  const [told] = await once(child, "message");
  return { child, ...told };
}

async function killed({ child }) {
  child.kill("SIGKILL");
  await once(child, "exit");
}

test("a process that was killed is known to be gone, and one that lives keeps its directory", async (t) => {
  const path = folder(t);
  const first = await holder(t, path);
  assert.deepEqual([first.previousDead, first.workerId.slice(0, 5)], [true, "acme-"]);
  const second = await takeIdentity("acme", path, undefined);
  assert.notEqual(second.workerId, first.workerId, "the directory of the first is its own");
  await killed(first);
  const third = await takeIdentity("acme", path, undefined);
  assert.deepEqual([third.workerId, third.previousDead], [first.workerId, true]);
  assert.notEqual(third.incarnation, first.incarnation);
  for (const identity of [second, third]) await identity.release();
});

test("an id that another process has is refused", async (t) => {
  const path = folder(t);
  const first = await holder(t, path, "worker-7");
  await assert.rejects(takeIdentity("acme", path, "worker-7"), /is the worker `worker-7` already/);
  await killed(first);
  const second = await takeIdentity("acme", path, "worker-7");
  assert.deepEqual([second.workerId, second.previousDead], ["worker-7", true]);
  await second.release();
});

test("of a process on another machine nothing is known, until the longest lease is over", async (t) => {
  const path = folder(t);
  const first = await takeIdentity("acme", path, "w");
  await first.release();
  const owner = join(path, "w", "owner.000000001");
  writeFileSync(owner, JSON.stringify({ ...JSON.parse(readFileSync(owner, "utf8")), machine: "elsewhere 1" }));
  const second = await takeIdentity("acme", path, "w");
  assert.equal(second.previousDead, false);
  await second.release();
  const third = await takeIdentity("acme", path, "w");
  assert.equal(third.previousDead, false, "the one before the last may live still");
  await third.release();
  const long = new Date(Date.now() - 3_700_000);
  utimesSync(join(path, "w", "doubt"), long, long);
  const fourth = await takeIdentity("acme", path, "w");
  assert.equal(fourth.previousDead, true);
  await fourth.release();
});

test("of two processes that start together, one has the directory", async (t) => {
  const path = folder(t);
  const taken = await Promise.allSettled(Array.from({ length: 8 }, () => takeIdentity("acme", path, "w")));
  const won = taken.filter(({ status }) => status === "fulfilled");
  assert.equal(won.length, 1);
  for (const { value } of won) await value.release();
});

test("a directory may have a long path", async (t) => {
  const path = join(folder(t), "x".repeat(120));
  const first = await holder(t, path, "w");
  await assert.rejects(takeIdentity("acme", path, "w"), /already/);
  await killed(first);
  const second = await takeIdentity("acme", path, "w");
  assert.equal(second.previousDead, true);
  await second.release();
});
