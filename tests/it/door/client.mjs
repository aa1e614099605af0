// The TypeScript SDK against the door: NODE_FOLDER has its package, the first argument is the URL.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";

const require = createRequire(`${process.env.NODE_FOLDER}/x.js`);
const load = async (part) => import(pathToFileURL(require.resolve(`@modelcontextprotocol/sdk/${part}`)));
const { Client } = await load("client/index.js");
const { StreamableHTTPClientTransport } = await load("client/streamableHttp.js");
const { ElicitRequestSchema } = await load("types.js");

const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: { form: {} } } });
client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
  assert.equal(params.message, "Who?");
  return { action: "accept", content: { username: "ann", email: "ann@example.com" } };
});
const transport = new StreamableHTTPClientTransport(new URL(process.argv[2]));
await client.connect(transport);

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === "test_simple_text"));
console.log("listed", tools.length);

const called = await client.callTool({ name: "test_simple_text", arguments: {} });
assert.equal(called.content[0].text, "This is a simple text response for testing.");
console.log("called");

const seen = [];
await client.callTool({ name: "test_tool_with_progress", arguments: {} }, undefined, { onprogress: (step) => seen.push(step.progress) });
assert.deepEqual(seen, [0, 50, 100]);
console.log("progressed");

const asked = await client.callTool({ name: "test_elicitation", arguments: { message: "Who?" } });
assert.match(asked.content[0].text, /ann@example\.com/);
console.log("asked");

await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), { code: -32602 });
const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
assert.equal(failed.isError, true);
console.log("failed");

const stop = new AbortController();
setTimeout(() => stop.abort(), 1500);
await assert.rejects(client.callTool({ name: "test_wait", arguments: {} }, undefined, { signal: stop.signal }));
console.log("canceled");

await transport.terminateSession();
await client.close();
console.log("done");
