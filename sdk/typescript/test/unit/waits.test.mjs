// Waiting for calls of a server that stops.

import assert from "node:assert/strict";
import { Server, ServerCredentials } from "@grpc/grpc-js";
import { test } from "node:test";

import { connect } from "toolplane";
import { InvocationServiceService, WaitInvocationResponse } from "toolplane/v1/invocation_service";

/** Long enough that a client that does not wait would have asked many times. */
const RETRY_AFTER_MS = 120;

test("a wait that a stopping server cuts short is gone on with when it says", async (t) => {
  const [server, asked] = [new Server(), []];
  const { waitInvocation } = InvocationServiceService;
  server.addService({ waitInvocation }, {
    waitInvocation: ({ request }, answer) => {
      asked.push(Date.now());
      const stopping = { done: false, cutShort: { reason: "DRAINING", retryAfterMs: RETRY_AFTER_MS } };
      const ended = { done: true, result: { invocationId: request.invocationId, status: "succeeded" } };
      answer(null, WaitInvocationResponse.fromPartial(asked.length < 3 ? stopping : ended));
    },
  });
  const port = await new Promise((done, fail) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => (error ? fail(error) : done(port)));
  });
  t.after(() => server.forceShutdown());
  const tools = await connect({ endpoint: `http://127.0.0.1:${port}` });
  t.after(() => tools.close());
  const result = await tools.wait("inv_1");
  assert.deepEqual([result.status, asked.length], ["succeeded", 3]);
  assert.ok(asked[2] - asked[0] >= 2 * RETRY_AFTER_MS - 10, `${asked}`);
});
