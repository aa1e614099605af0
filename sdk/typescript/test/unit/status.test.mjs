// What is read out of a refused request.

import assert from "node:assert/strict";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { Metadata, status } from "@grpc/grpc-js";
import { test } from "node:test";

import { RequestError } from "toolplane";

import { isAway, requestError } from "../../dist/status.js";

const pair = (one, two) => new BinaryWriter().uint32(10).string(one).uint32(18).string(two).finish();
const any = (type, value) => new BinaryWriter().uint32(10).string(`type.googleapis.com/${type}`).uint32(18).bytes(value).finish();

function refused(code, details, ...more) {
  const metadata = new Metadata();
  if (more.length > 0) {
    const writer = new BinaryWriter().uint32(8).int32(code).uint32(18).string(details);
    for (const detail of more) writer.uint32(26).bytes(detail);
    metadata.set("grpc-status-details-bin", Buffer.from(writer.finish()));
  }
  return requestError(Object.assign(new Error(details), { code, details, metadata }));
}

test("the reason, the advice, the fields and the wait are told", () => {
  const info = new BinaryWriter().uint32(10).string("INVALID_ARGUMENT").uint32(18).string("toolplane.dev");
  const reason = any("google.rpc.ErrorInfo", info.uint32(26).bytes(pair("retry", "after_change")).finish());
  const fields = any("google.rpc.BadRequest", new BinaryWriter().uint32(10).bytes(pair("spec.x", "must be y")).finish());
  const wait = new BinaryWriter().uint32(8).int64(1n).uint32(16).int32(500_000_001).finish();
  const later = any("google.rpc.RetryInfo", new BinaryWriter().uint32(10).bytes(wait).finish());
  const other = any("google.rpc.Help", pair("a", "b"));
  const error = refused(status.INVALID_ARGUMENT, "`spec.x` must be y", reason, other, fields, later);
  assert.ok(error instanceof RequestError);
  assert.deepEqual([error.code, error.retry, error.status, error.retryAfterMs], ["INVALID_ARGUMENT", "after_change", "INVALID_ARGUMENT", 1501]);
  assert.deepEqual(error.fieldViolations, [{ field: "spec.x", rule: "must be y" }]);
  assert.equal(error.message, "`spec.x` must be y [INVALID_ARGUMENT]");
});

test("a request without details has the code of gRPC", () => {
  const error = refused(status.NOT_FOUND, "gone");
  assert.deepEqual([error.code, error.retry, error.fieldViolations.length], ["NOT_FOUND", "never", 0]);
  const own = new TypeError("a mistake");
  assert.equal(requestError(own), own);
});

test("only what may be over in a moment is tried again", () => {
  assert.ok(isAway(refused(status.UNAVAILABLE, "No connection established")));
  assert.ok(isAway(refused(status.INTERNAL, "Received RST_STREAM with code 2")));
  for (const code of [status.UNAUTHENTICATED, status.RESOURCE_EXHAUSTED, status.DEADLINE_EXCEEDED, status.UNKNOWN]) {
    assert.ok(!isAway(refused(code, "no")));
  }
  const plain = refused(status.UNAVAILABLE, "No connection established. Last error: Error: 8:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:x.c:3:\n");
  assert.deepEqual([plain.message, isAway(plain)], ["no secure connection: the port does not speak TLS; use `http://` in the endpoint [TLS]", false]);
  const certificate = refused(status.UNAVAILABLE, "Last error: Error: unable to verify the first certificate");
  assert.deepEqual([certificate.code, certificate.retry, isAway(certificate)], ["TLS", "after_change", false]);
});
