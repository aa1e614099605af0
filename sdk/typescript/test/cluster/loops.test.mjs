// The tool lists of four vendors, and the answers to their calls; and the real packages of two frameworks.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { RequestError } from "toolplane";

import { namespace, open } from "../helpers/cluster.mjs";
import { folder, WorkerProcess } from "../helpers/worker-process.mjs";

let name, own;
const ends = [];
before(async () => {
  name = await namespace();
  const group = { after: (end) => ends.push(end) };
  await WorkerProcess.start(group, name, folder(group));
});
test.after(async () => {
  for (const end of ends.reverse()) await end();
});

/** Only the tools of this test. */
async function tools(t, options = {}) {
  const all = await open(t, options);
  own = `${name}__word_count`;
  return await all.surface({ namespaces: [name] });
}

test("OpenAI's Responses", async (t) => {
  const box = await tools(t);
  const listed = await box.forOpenAI();
  const one = listed.find((tool) => tool.name === own);
  assert.deepEqual(Object.keys(one).sort(), ["description", "name", "parameters", "strict", "type"]);
  assert.deepEqual([one.type, one.strict, one.parameters.properties.text.type], ["function", false, "string"]);
  assert.ok(listed.every((tool) => /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/.test(tool.name)));
  const call = { type: "function_call", call_id: "call_1", name: own, arguments: '{"text":"a b"}' };
  assert.deepEqual(await box.answer(call), { type: "function_call_output", call_id: "call_1", output: "2" });
  const wrong = await box.answer({ ...call, arguments: '{"text":' });
  assert.match(JSON.parse(wrong.output).error.message, /not valid JSON/);
  const response = { output: [{ type: "reasoning" }, call, { ...call, call_id: "call_2", arguments: '{"text":"a"}' }] };
  const answers = await box.answers(response);
  assert.deepEqual(answers.map(({ call_id, output }) => [call_id, output]), [["call_1", "2"], ["call_2", "1"]]);
});

test("OpenAI's Chat Completions", async (t) => {
  const box = await tools(t);
  const one = (await box.forOpenAIChat()).find((tool) => tool.function.name === own);
  assert.equal(one.function.description, "Counts the words of a text.");
  const call = { id: "call_1", type: "function", function: { name: own, arguments: '{"text":"a b"}' } };
  assert.deepEqual(await box.answer(call), { role: "tool", tool_call_id: "call_1", content: "2" });
  const response = { choices: [{ message: { role: "assistant", tool_calls: [call] } }] };
  assert.deepEqual(await box.answers(response), [{ role: "tool", tool_call_id: "call_1", content: "2" }]);
  assert.deepEqual(await box.answers({ choices: [{ message: { role: "assistant", content: "hello" } }] }), []);
});

test("Anthropic's Messages", async (t) => {
  const box = await tools(t);
  const one = (await box.forAnthropic()).find((tool) => tool.name === own);
  assert.deepEqual(Object.keys(one).sort(), ["description", "input_schema", "name"]);
  const call = { type: "tool_use", id: "toolu_1", name: own, input: { text: "a b" } };
  assert.deepEqual(await box.answer(call), { type: "tool_result", tool_use_id: "toolu_1", content: "2" });
  const failed = await box.answer({ ...call, name: `${name}__fails`, input: { typed: true } });
  assert.equal(failed.is_error, true);
  const { error } = JSON.parse(failed.content);
  assert.deepEqual([error.code, error.retry, error.sideEffects], ["acme.no_such_order", "change_arguments", "none"]);
  const thrown = await box.answer({ ...call, name: `${name}__fails`, input: {} });
  const told = { code: "exec.unspecified", message: "it broke", retry: "verify_before_retry", sideEffects: "unknown" };
  assert.deepEqual(JSON.parse(thrown.content), { error: told }, "once, and its code once");
  const list = await box.answer({ ...call, input: ["no", "object"] });
  assert.deepEqual(JSON.parse(list.content).error.fields, [{ field: "model_input", rule: "must be of type `object`" }]);
  const unknown = await box.answer({ ...call, name: "no__such" });
  assert.deepEqual([unknown.is_error, JSON.parse(unknown.content).error.code], [true, "surface.unknown_tool"]);
  const [message] = await box.answers({ role: "assistant", content: [{ type: "text", text: "hm" }, call] });
  assert.deepEqual(message, { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "2" }] });
});

test("Gemini", async (t) => {
  const box = await tools(t);
  const [{ functionDeclarations }] = await box.forGemini();
  const one = functionDeclarations.find((tool) => tool.name === own);
  assert.equal(one.parametersJsonSchema.type, "object");
  const part = { functionCall: { name: own, args: { text: "a b" } } };
  assert.deepEqual(await box.answer(part), { functionResponse: { name: own, response: { output: "2" } } });
  const wrong = await box.answer({ functionCall: { id: "7", name: own, args: { text: 3 } } });
  assert.equal(wrong.functionResponse.id, "7");
  assert.match(wrong.functionResponse.response.error, /schema_violation/);
  const [message] = await box.answers({ candidates: [{ content: { role: "model", parts: [part] } }] });
  assert.deepEqual([message.role, message.parts.length], ["user", 1]);
});

test("tools are exported, and what a model calls is mapped back", async (t) => {
  const box = await tools(t);
  const { tools: made, details } = await box.export("anthropic", { names: [own], strict: true });
  assert.deepEqual([made.length, made[0].name, details[0].alias], [1, own, own]);
  const call = { type: "tool_use", id: "toolu_1", name: own, input: { text: "a b" } };
  const [mapped] = await box.mapCalls({ content: [call] });
  assert.deepEqual([mapped.callId, mapped.target.name, mapped.target.declarationDigest], ["toolu_1", `${name}.word_count`, details[0].digest]);
  const [refused] = await box.mapCalls({ ...call, name: `${own}s` });
  assert.ok(refused.refusal.similarAliases.includes(own), JSON.stringify(refused));
  assert.ok((await box.cards({ names: [own] }))[0].text.startsWith(`${own}(text: string`));
});

test("a model with many tools is given a search, and what it finds", async (t) => {
  const box = (await tools(t)).toolbox({ limit: 3 });
  assert.deepEqual((await box.forOpenAI()).map((tool) => tool.name), ["tool_search"]);
  const search = { type: "function_call", call_id: "c1", name: "tool_search", arguments: '{"query":"counts words"}' };
  const { output } = await box.answer(search);
  const found = JSON.parse(output).tools.find((tool) => tool.name === own);
  assert.equal(found.parameters.properties.text.type, "string");
  assert.ok((await box.forOpenAI()).some((tool) => tool.name === own));
  const call = { type: "function_call", call_id: "c2", name: own, arguments: '{"text":"a"}' };
  assert.equal((await box.answer(call)).output, "1");
  const elsewhere = (await tools(t)).toolbox({ limit: 3 });
  assert.equal((await elsewhere.answer(call)).output, "1", "a conversation goes on in another process");
  const wrong = await box.answer({ type: "tool_use", id: "t", name: "tool_search", input: {} });
  assert.equal(wrong.is_error, true);
  const refused = await box.answer({ type: "tool_use", id: "t", name: "tool_search", input: { query: "kind:nonsense" } });
  assert.equal(refused.is_error, true);
  assert.match(JSON.stringify(refused.content), /nonsense/);
});

test("numbers of any size go from a model to a tool and back", async (t) => {
  const box = await tools(t);
  const call = { type: "function_call", call_id: "c", name: `${name}__echo`, arguments: '{"big":123456789012345678901}' };
  assert.equal((await box.answer(call)).output, '{"big":123456789012345678901}');
});

test("what is no call is refused, and a cluster that cannot be used is no answer to a model", async (t) => {
  const box = await tools(t);
  await assert.rejects(box.answer({ type: "text", text: "hello" }), TypeError);
  const call = { type: "tool_use", id: "t", name: own, input: { text: "a" } };
  await assert.rejects(box.within("surf_none").answer(call), RequestError);
});

test("Vercel's AI SDK", async (t) => {
  const box = await tools(t);
  const { generateText, stepCountIs } = await import("ai");
  const { MockLanguageModelV2 } = await import("ai/test");
  const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
  const steps = [
    { content: [{ type: "tool-call", toolCallId: "c1", toolName: own, input: '{"text":"a b c"}' }], finishReason: "tool-calls", usage, warnings: [] },
    { content: [{ type: "text", text: "three" }], finishReason: "stop", usage, warnings: [] },
  ];
  const model = new MockLanguageModelV2({ doGenerate: async () => steps.shift() });
  const said = await generateText({ model, tools: await box.forAiSdk(), prompt: "how many?", stopWhen: stepCountIs(3) });
  assert.equal(said.steps[0].toolResults[0].output, "3");
  assert.equal(said.text, "three");
  assert.ok(model.doGenerateCalls[0].tools.some((tool) => tool.name === own && tool.inputSchema.properties.text));
});

test("LangChain", async (t) => {
  const box = await tools(t);
  const listed = await box.forLangChain();
  const one = listed.find((tool) => tool.name === own);
  assert.equal(await one.invoke({ text: "a b" }), "2");
  const message = await one.invoke({ type: "tool_call", id: "c1", name: own, args: { text: "a" } });
  assert.deepEqual([message.content, message.tool_call_id], ["1", "c1"]);
});
