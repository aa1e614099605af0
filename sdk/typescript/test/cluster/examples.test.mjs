// Every example runs, and says what it should; and so do the blocks of the README.

import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { credentials } from "@grpc/grpc-js";
import { Worker } from "toolplane";
import { SurfaceServiceClient } from "toolplane/v1/surface_service";

import { asked, ENDPOINT, namespace, open } from "../helpers/cluster.mjs";
import { folder } from "../helpers/worker-process.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = join(root, "examples");
const ran = new Set();

/** Runs an example to its end; what it says. */
async function run(name, args = [], env = {}, input) {
  ran.add(name);
  const child = promisify(execFile)(process.execPath, [join(examples, name), ...args], { env: { ...process.env, ...env }, timeout: 60_000 });
  if (input !== undefined) child.child.stdin.end(input);
  return (await child).stdout;
}

let name;
const ends = [];
before(async () => {
  name = await namespace();
  await wordCount({ after: (end) => ends.push(end) });
});
after(async () => {
  for (const end of ends.reverse()) await end();
});

/**
 * The examples call `text.word_count`, as the README of the repository does. A cluster that has no such tool is given one, and so is one
 * that has it from an earlier run of these tests: its worker is gone.
 */
async function wordCount(group) {
  const surfaces = new SurfaceServiceClient(new URL(ENDPOINT).host, credentials.createInsecure());
  const there = await asked(surfaces, "getTool", { tool: { $case: "name", value: "text.word_count" }, view: 0 }).catch(() => undefined);
  if (there && there.registration.executionProfile.binding.binding.$case !== "native") return;
  let connected;
  const welcome = new Promise((resolve) => (connected = resolve));
  const log = (_level, message) => message === "connected to a scheduler" && connected();
  const worker = new Worker("text", { folder: folder(group), handleSignals: false, log });
  const facts = { readOnly: true, openWorld: false };
  worker.tool("word_count", { description: "Counts the words of a file.", ...facts }, ({ path }) => `1 3 14 ${path}`);
  const running = worker.run();
  group.after(async () => (await worker.stop(), await running));
  await Promise.race([welcome, running]);
}

test("call.mjs and batch.mjs", async () => {
  const said = await run("call.mjs");
  assert.match(said, /words\.txt/);
  const lines = (await run("batch.mjs")).trim().split("\n");
  assert.equal(lines.length, 2);
  assert.ok(lines.every((line) => line.includes("words.txt")));
});

test("worker.mjs and stream.mjs", async (t) => {
  ran.add("worker.mjs");
  const env = { ...process.env, WORKER_NAME: name, XDG_STATE_HOME: folder(t) };
  const worker = spawn(process.execPath, [join(examples, "worker.mjs")], { env, stdio: ["ignore", "inherit", "pipe"] });
  t.after(() => worker.kill("SIGKILL"));
  const [said] = await once(worker.stderr, "data");
  assert.match(String(said), /connected to a scheduler/);
  const tools = await open(t);
  assert.equal((await tools.call(`${name}.word_count`, { text: "a b" })).value, 2);
  const followed = await run("stream.mjs", [`${name}.word_count`, '{"text":"a b c"}']);
  assert.match(followed, /tool\.invocation\.started[^]*\n3\n$/);
  worker.kill("SIGTERM");
  assert.deepEqual(await once(worker, "exit"), [0, null]);
});

/** A model that asks for one tool, and then says what it heard. */
async function model(t, toolName, input) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    const body = JSON.parse(Buffer.concat(parts));
    asked.push(body);
    const last = body.messages.at(-1).content;
    const result = Array.isArray(last) ? last.find((block) => block.type === "tool_result") : undefined;
    const content = result
      ? [{ type: "text", text: `heard: ${result.content}` }]
      : [{ type: "tool_use", id: "toolu_1", name: toolName, input }];
    response.setHeader("content-type", "application/json").end(JSON.stringify({ content }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => server.close());
  return { url: `http://127.0.0.1:${server.address().port}`, asked };
}

test("agent-loop.mjs", async (t) => {
  const { url, asked } = await model(t, "text__word_count", { path: "words.txt" });
  const said = await run("agent-loop.mjs", [], { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: "none", MODEL: "m" });
  assert.match(said, /^heard: [^]*words\.txt/);
  const shown = asked[0].tools.map((tool) => tool.name);
  assert.ok(shown.includes("text__word_count") || shown.includes("tool_search"), shown.join());
  assert.equal(asked[1].messages.at(-1).content[0].tool_use_id, "toolu_1");
});

test("the blocks of the README run, and are as short as they are said to be", async (t) => {
  const blocks = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code);
  const first = (word) => blocks.find((code) => code.includes(word));
  const [agent, worker] = [first("tools.call("), first("new Worker(")];
  assert.ok(agent.trim().split("\n").length <= 5 && worker.trim().split("\n").length <= 12);
  // Within the package, so that it finds itself by name.
  const path = mkdtempSync(join(root, "test", "readme-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  writeFileSync(join(path, "agent.mjs"), agent);
  const { stdout } = await promisify(execFile)(process.execPath, [join(path, "agent.mjs")], { timeout: 60_000 });
  assert.match(stdout, /words\.txt/);
  writeFileSync(join(path, "worker.mjs"), worker.replace('"acme"', `"${name}"`));
  const env = { ...process.env, XDG_STATE_HOME: folder(t) };
  const child = spawn(process.execPath, [join(path, "worker.mjs")], { env, stdio: ["ignore", "inherit", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  await once(child.stderr, "data");
  const tools = await open(t);
  assert.equal((await tools.call(`${name}.word_count`, { text: "one two" })).value, 2);
  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
});

test("no example is left out", () => {
  assert.deepEqual([...ran].sort(), readdirSync(examples).filter((name) => name.endsWith(".mjs")).sort());
});
