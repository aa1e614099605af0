// An agent in Node: makes a surface, searches, loads, calls, has a call approved, fetches the result.
//
// Usage: NODE_FOLDER=... node agent.mjs HOST:PORT PROTO_FOLDER. The protos are read as they are at each run.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const require = createRequire(join(process.env.NODE_FOLDER, "package.json"));
const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const [endpoint, proto] = process.argv.slice(2);
const files = readdirSync(join(proto, "toolplane/v1")).map((name) => `toolplane/v1/${name}`);
const definition = loader.loadSync(files, {
  includeDirs: [proto],
  keepCase: true,
  longs: Number,
  enums: String,
  defaults: true,
  oneofs: true,
});
const { v1 } = grpc.loadPackageDefinition(definition).toolplane;
const credentials = grpc.credentials.createInsecure();
const surfaces = new v1.SurfaceService(endpoint, credentials);
const permissions = new v1.PermissionService(endpoint, credentials);
const invocations = new v1.InvocationService(endpoint, credentials);

const deadline = () => new Date(Date.now() + 60_000);
const say = (...what) => console.log(...what);

/** A JSON value to send: its exact bytes and their digest. */
const value = (something) => {
  const inline = Buffer.from(JSON.stringify(something));
  return { inline, sha256: createHash("sha256").update(inline).digest(), size_bytes: inline.length };
};
const read = (received) => JSON.parse(received.inline.toString());

/** A unary call as a promise. */
const ask = (client, method, request) =>
  new Promise((resolve, reject) => {
    client[method](request, { deadline: deadline() }, (error, answer) => (error ? reject(error) : resolve(answer)));
  });

const fact = (known) => ({ known });
const lineTool = {
  declaration: {
    tool_id: "tool_node_first_lines",
    namespace: "node",
    name: "node.first_lines",
    search_hint: "show the first lines at the head of a file",
    description: "Shows the first three lines of a file below the workspace.",
    lifecycle: "TOOL_LIFECYCLE_AVAILABLE",
    tool_kind: "function",
    input_contract: {
      model_input_schema: value({
        type: "object",
        properties: { path: { type: "string", minLength: 1 } },
        required: ["path"],
        additionalProperties: false,
      }),
      strict: true,
    },
  },
  interface: {
    interface_id: "iface_node_first_lines",
    tool_id: "tool_node_first_lines",
    is_read_only: fact(true),
    is_concurrency_safe: fact(true),
    is_destructive: fact(false),
    is_open_world: fact(false),
    is_idempotent: fact(true),
  },
  execution_profile: {
    execution_profile_id: "exec_node_first_lines",
    execution_kind: "local_process",
    supports_progress: true,
    supports_cancel: true,
    sandboxed: true,
    sandbox_profile: "workspace_read_only",
    timeout_ms: 20_000,
    binding: { process: { argv: ["/usr/bin/head", "-n", "3", "--", "{path}"] } },
  },
};

let surface_id = "";
const spec = (tool_name, args) => ({ surface_id, tool_name, model_input: value(args), actor_ref: "node-agent" });

async function declare() {
  const { tools } = await ask(surfaces, "RegisterTools", { tools: [lineTool] });
  assert.equal(tools[0].outcome, "REGISTRATION_OUTCOME_CREATED");
  say("declared", tools[0].tool_id, tools[0].digest);
}

async function makeSurface() {
  const { surface } = await ask(surfaces, "CreateSurface", {
    scope: "session",
    defer_policy: "DEFER_POLICY_ALL",
    role: "agent",
    interaction_mode: "INTERACTION_MODE_INTERACTIVE",
    producer: "node-agent",
  });
  surface_id = surface.surface_id;
  assert.ok(surface.deferred_tools.length >= 9);
  say("surface", surface_id, surface.deferred_tools.length, "deferred");
}

async function search(query, expected) {
  const { result } = await ask(surfaces, "SearchTools", { surface_id, query });
  assert.equal(result.refs[0]?.name, expected);
  say("searched", JSON.stringify(query), "->", expected);
  return expected;
}

async function load(...names) {
  const { outcomes } = await ask(surfaces, "LoadTools", { surface_id, names });
  for (const outcome of outcomes) {
    assert.equal(outcome.outcome, "loaded", JSON.stringify(outcome));
    assert.equal(read(outcome.loaded.model_input_schema).type, "object");
  }
  say("loaded", ...names);
}

/** The shortest way: one request, one answer. */
async function call(tool, args) {
  const answer = await ask(invocations, "Call", { spec: spec(tool, args) });
  assert.equal(answer.result.invocation_id, answer.accepted.invocation_id);
  say("called", tool, answer.result.status);
  return answer;
}

/** Calls a tool and gives its events and its result. */
function invoke(tool, args) {
  return new Promise((resolve, reject) => {
    const stream = invocations.Invoke({ spec: spec(tool, args) }, { deadline: deadline() });
    const events = [];
    let result = null;
    stream.on("data", (message) => {
      events.push(...message.events);
      for (const event of message.events) {
        if (event.event_type === "ext.invocation.awaiting_approval") {
          approve(read(event.data).approval_id).catch(reject);
        }
      }
      result = message.result ?? result;
    });
    stream.on("error", reject);
    stream.on("end", () => {
      try {
        assert.ok(result, "the stream ended without a result");
        assert.deepEqual(events.map((event) => event.sequence), events.map((_, index) => index + 1));
        say("invoked", tool, result.status, result.ui_facing_summary);
        resolve({ events, result });
      } catch (error) {
        reject(error);
      }
    });
  });
}

async function approve(approval_id) {
  const { approval } = await ask(permissions, "ResolveApproval", {
    approval_id,
    behavior: "BEHAVIOR_ALLOW",
    feedback: "fine",
    resolved_by: "node-operator",
  });
  assert.equal(approval.state, "APPROVAL_STATE_APPROVED");
  say("approved", approval_id);
}

/** Everything of a server stream. */
async function collect(stream) {
  const messages = [];
  for await (const message of stream) messages.push(message);
  return messages;
}

async function fetchBack(result, expected) {
  const kept = result.content.find((block) => block.block === "persisted_output_ref")?.persisted_output_ref;
  assert.ok(kept, "nothing was kept by reference");
  const half = Math.floor(kept.size_bytes / 2);
  const parts = [];
  for (const [offset, limit] of [[0, half], [half, 0]]) {
    const request = { invocation_id: result.invocation_id, uri: kept.uri, offset, limit };
    for (const part of await collect(invocations.ReadPayload(request, { deadline: deadline() }))) parts.push(part.data);
  }
  const whole = Buffer.concat(parts);
  assert.ok(whole.equals(expected), `${whole.length} bytes instead of ${expected.length}`);
  assert.equal(kept.digest, "sha256:" + createHash("sha256").update(whole).digest("hex"));
  say("fetched", whole.length, "bytes", kept.digest);
}

async function replay(events, result) {
  const request = { invocation_id: result.invocation_id, from_seq: 3 };
  const messages = await collect(invocations.WatchInvocation(request, { deadline: deadline() }));
  const seen = messages.flatMap((message) => message.events);
  assert.deepEqual(seen.map((event) => event.event_id), events.map((event) => event.event_id).slice(2));
  assert.equal(messages.at(-1).result.result_id, result.result_id);
  say("replayed", seen.length, "events");
}

/** Wrong JSON is an error of the call; wrong arguments are a result. */
async function refused() {
  const wrong = { ...spec("node.first_lines", {}), model_input: { inline: Buffer.from('{"a":1,"a":2}') } };
  const error = await ask(invocations, "SubmitInvocation", { spec: wrong }).then(
    () => assert.fail("duplicate keys were accepted"),
    (error) => error,
  );
  assert.equal(error.code, grpc.status.INVALID_ARGUMENT);
  assert.equal(error.metadata.get("grpc-status-details-bin").length, 1);
  const { result } = await invoke("node.first_lines", { path: 7 });
  assert.equal(result.error.error_class, "schema_validation_failed");
  say("refused", result.error.error_code);
}

await declare();
await makeSurface();
const lines = await search("first lines of a file", "node.first_lines");
const shell = await search("run shell commands", "local.shell.exec");
await load(lines, shell);
const command = "mkdir -p made && for n in $(seq 1 30000); do echo line $n; done | tee made/lines.txt";
const { events, result } = await invoke(shell, { command });
assert.ok(!result.is_error, JSON.stringify(result.error));
const expected = Buffer.from(Array.from({ length: 30_000 }, (_, index) => `line ${index + 1}\n`).join(""));
await fetchBack(result, expected);
await replay(events, result);
const head = await call(lines, { path: "made/lines.txt" });
assert.equal(head.result.content[0].text.text.trim(), "line 1\nline 2\nline 3");
await refused();
say("done");
for (const client of [surfaces, permissions, invocations]) client.close();
