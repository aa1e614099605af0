// A cluster that is not there.

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";

import { connect, RequestError, UnreachableError } from "toolplane";

import { Reach } from "../../dist/reach.js";

/** A port at which nobody listens. */
async function freePort() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return port;
}

test("a cluster that was never there is given up soon, and the error says what to do", async (t) => {
  const endpoint = `http://127.0.0.1:${await freePort()}`;
  const said = [];
  const tools = await connect({ endpoint, connectMs: 300, log: (level, message) => said.push([level, message]) });
  t.after(() => tools.close());
  const ways = {
    call: () => tools.call("a.b"),
    stream: () => tools.stream("a.b").next(),
    submit: () => tools.submit("a.b"),
    batch: () => tools.batch([{ name: "a.b" }]),
    list: () => tools.list(),
    wait: () => tools.wait("inv_1"),
    // The caller's own deadline allows more, and a server that is not there does not come of it.
    late: () => tools.call("a.b", {}, { timeoutMs: 60_000 }),
  };
  for (const [name, way] of Object.entries(ways)) {
    const error = await way().catch((error) => error);
    assert.ok(error instanceof UnreachableError && error instanceof RequestError, `${name}: ${error}`);
    assert.ok(error.message.startsWith(`cannot reach a cluster at \`${endpoint}\`: connect ECONNREFUSED 127.0.0.1:`), error.message);
    assert.match(error.message, /; start one with `toolplane serve`, or name another with TOOLPLANE_ENDPOINT or `endpoint`$/);
    assert.deepEqual([error.code, error.status, error.retry], ["UNAVAILABLE", "UNAVAILABLE", "retry_later"]);
  }
  assert.equal(said.length, 1, JSON.stringify(said));
  assert.equal(said[0][0], "warn");
  assert.match(said[0][1], /cannot reach a cluster at .*; trying again$/);
});

test("a name that nobody has is no cluster either", async (t) => {
  const tools = await connect({ endpoint: "http://nobody.invalid:7420", connectMs: 0 });
  t.after(() => tools.close());
  await assert.rejects(tools.call("a.b"), (error) => error instanceof UnreachableError && /`http:\/\/nobody\.invalid:7420`/.test(error.message));
});

test("a connection that broke was there, and is said again each time it breaks", () => {
  const said = [];
  const reach = new Reach("http://x", 0, (level, message) => said.push(`${level} ${message}`));
  const grpc = (code, details) => Object.assign(new Error(details), { code, details });
  const none = () => reach.failed(grpc(14, "No connection established. Last error: Error: connect ECONNREFUSED. Resolution note: "));
  assert.ok(none() instanceof UnreachableError);
  reach.failed(grpc(4, "Deadline exceeded"));
  assert.ok(none() instanceof UnreachableError, "of a time that is up nothing is known");
  const broken = reach.failed(grpc(14, "Connection dropped"));
  assert.ok(!(none() instanceof UnreachableError));
  for (let round = 0; round < 2; round += 1) {
    reach.waits(broken);
    reach.waits(broken);
    reach.answered();
  }
  const [lost, back] = ["warn no answer from `http://x`: Connection dropped [UNAVAILABLE]; trying again", "info the cluster at `http://x` answers again"];
  assert.deepEqual(said, [lost, back, lost, back]);
});
