// The agent's side against a real cluster: results, errors, events, people, batches, what there is.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { AnswerRefusedError, CanceledError, DECLINED, JsonError, JsonText, RequestError, ToolError } from "toolplane";

import { eventually, executedAs, namespace, open } from "../helpers/cluster.mjs";
import { folder, ledger, WorkerProcess } from "../helpers/worker-process.mjs";

let name, worker, path;
const group = { after: (end) => ends.push(end) };
const ends = [];

before(async () => {
  name = await namespace();
  path = folder(group);
  worker = await WorkerProcess.start(group, name, path);
});
test.after(async () => {
  for (const end of ends.reverse()) await end();
});

test("a call gives a value, and its record", async (t) => {
  const tools = await open(t);
  const result = await tools.call(`${name}.word_count`, { text: "one two three" });
  assert.equal(result.value, 3);
  assert.equal(result.json, "3");
  assert.equal(result.status, "succeeded");
  assert.match(result.invocationId, /^inv_[0-9a-f]{32}$/);
  const nothing = await tools.call(`${name}.nothing`);
  assert.equal(nothing.value, null);
  const { invocation, result: same } = await tools.get(result.invocationId);
  assert.equal(invocation.toolName, `${name}.word_count`);
  assert.deepEqual(same.record, result.record);
});

test("integers of any size survive both ways", async (t) => {
  const tools = await open(t);
  const big = 123456789012345678901234567890n;
  const result = await tools.call(`${name}.echo`, { big, list: [9007199254740993n, 1], text: "12345678901234567890" });
  assert.equal(result.json, `{"big":${big},"list":[9007199254740993,1],"text":"12345678901234567890"}`);
  assert.deepEqual(result.exact, { big, list: [9007199254740993n, 1], text: "12345678901234567890" });
  assert.equal(result.value.list[0], 9007199254740992, "an ordinary number is rounded, as by JSON.parse");
  assert.equal((await tools.call(`${name}.asks_number`, {}, { onInput: () => big })).text, "bigint");
  const exact = await open(t, { bigints: true });
  assert.equal((await exact.call(`${name}.echo`, new JsonText(`{"big": ${big}}`))).value.big, big);
});

test("a failure is a typed error with the code, class and advice of the cluster", async (t) => {
  const tools = await open(t);
  const typed = await tools.call(`${name}.fails`, { typed: true }).catch((error) => error);
  assert.ok(typed instanceof ToolError);
  assert.deepEqual(
    [typed.code, typed.errorClass, typed.retry, typed.sideEffects],
    ["acme.no_such_order", "execution_failed", "change_arguments", "none"],
  );
  assert.equal(typed.result.invocationId, typed.invocationId);
  const plain = await tools.call(`${name}.fails`).catch((error) => error);
  assert.deepEqual([plain.code, plain.retry, plain.message], ["exec.unspecified", "verify_before_retry", "it broke [exec.unspecified]"]);
  const schema = await tools.call(`${name}.word_count`, { text: 3 }).catch((error) => error);
  assert.deepEqual([schema.code, schema.fieldViolations[0].field], ["input.schema_violation", "/text"]);
  const unknown = await tools.call(`${name}.no_such_tool`).catch((error) => error);
  assert.deepEqual([unknown.code, unknown.errorClass], ["surface.unknown_tool", "unknown_tool"]);
  const refused = await tools.call(`${name}.echo`, new JsonText("{'a'}")).catch((error) => error);
  assert.ok(refused instanceof RequestError);
  assert.deepEqual([refused.code, refused.status, refused.fieldViolations[0].field], ["INVALID_ARGUMENT", "INVALID_ARGUMENT", "spec.model_input"]);
  const missing = await tools.get("inv_none").catch((error) => error);
  assert.deepEqual([missing.code, missing.status, missing.retry], ["NOT_FOUND", "NOT_FOUND", "never"]);
});

test("the same key is the same call", async (t) => {
  const tools = await open(t);
  const idempotencyKey = `key-${Math.random()}`;
  const first = await tools.call(`${name}.facts`, {}, { idempotencyKey });
  const again = await tools.call(`${name}.facts`, {}, { idempotencyKey });
  assert.equal(again.invocationId, first.invocationId);
  const other = await tools.call(`${name}.echo`, { other: 1 }, { idempotencyKey }).catch((error) => error);
  assert.ok(other instanceof RequestError, String(other));
});

test("a stream gives events, progress and the result, in order", async (t) => {
  const tools = await open(t);
  const [events, kinds] = [[], []];
  let result;
  for await (const item of tools.stream(`${name}.steps`)) {
    kinds.push(item.kind);
    if (item.kind === "result") result = item.result;
    else events.push(item.event.sequence);
    if (item.kind === "partial") assert.equal(item.text, "page 1");
    if (item.kind === "progress") {
      assert.deepEqual([item.progress.message, item.progress.percent, item.progress.current_step], ["reading", 50, "read"]);
      worker.send({ event: "go on" });
    }
  }
  assert.deepEqual(events, events.map((_, at) => BigInt(at + 1)));
  assert.ok(kinds.includes("partial") && kinds.includes("progress") && kinds.at(-1) === "result");
  assert.equal(result.text, "done");
});

test("progress is heard by a callback", async (t) => {
  const tools = await open(t);
  const heard = [];
  const onProgress = (progress) => (heard.push(progress.percent), worker.send({ event: "go on" }));
  await tools.call(`${name}.steps`, {}, { onProgress });
  assert.deepEqual(heard, [50]);
});

test("a signal cancels the call, and the tool hears it", async (t) => {
  const tools = await open(t);
  for (const watched of [false, true]) {
    const controller = new AbortController();
    const options = { signal: controller.signal, ...(watched ? { onProgress: () => {} } : {}) };
    const call = tools.call(`${name}.once`, { id: `canceled-${watched}` }, options).catch((error) => error);
    await worker.tells("began");
    controller.abort(new Error("enough"));
    const error = await call;
    assert.ok(error instanceof CanceledError, String(error));
    assert.deepEqual([error.name, error.accepted, error.cause.message], ["AbortError", true, "enough"]);
    assert.equal((await worker.tells("stopped")).reason, "the call was canceled");
    const result = await tools.wait(error.invocationId);
    assert.deepEqual([result.status, result.error.code], ["canceled", "exec.canceled"]);
  }
  const made = AbortSignal.abort();
  await assert.rejects(tools.call(`${name}.once`, { id: "never" }, { signal: made }), CanceledError);
  assert.ok(!ledger(path).some((line) => line.startsWith("never")));
});

test("a call that is submitted is waited for, or canceled, by its id", async (t) => {
  const tools = await open(t);
  const id = await tools.submit(`${name}.once`, { id: "submitted" });
  await worker.tells("began");
  assert.equal((await tools.get(id)).result, undefined);
  worker.send({ event: "go on" });
  assert.equal((await tools.wait(id)).text, "done submitted");
  const other = await tools.submit(`${name}.once`, { id: "other" });
  await worker.tells("began");
  assert.equal(await tools.cancel(other, "not wanted"), true);
  assert.equal((await tools.wait(other)).status, "canceled");
  await worker.tells("stopped");
});

test("a deadline of the caller ends the call", async (t) => {
  const tools = await open(t);
  const error = await tools.call(`${name}.once`, { id: "late" }, { timeoutMs: 400 }).catch((error) => error);
  assert.ok(error instanceof ToolError, String(error));
  assert.equal(error.errorClass, "timeout");
  await worker.tells("began");
  await worker.tells("stopped");
});

test("an approval is answered by a callback, or left to people", async (t) => {
  const tools = await open(t);
  const asked = [];
  const approved = await tools.call(`${name}.danger`, {}, { onApproval: (approval) => (asked.push(approval.toolName), "approve") });
  assert.equal(approved.text, "destroyed");
  assert.deepEqual(asked, [`${name}.danger`]);
  const denied = await tools.call(`${name}.danger`, {}, { onApproval: () => "deny" }).catch((error) => error);
  assert.equal(denied.errorClass, "approval_rejected");
  let left;
  const waiting = tools.call(`${name}.danger`, {}, { onApproval: (approval) => void (left = approval.approvalId) });
  await eventually("the callback is asked", () => left);
  await tools.resolveApproval(left, "approve");
  assert.equal((await waiting).text, "destroyed");
  const nobody = await tools.call(`${name}.danger`, {}, { noApprover: true }).catch((error) => error);
  assert.equal(nobody.errorClass, "permission_denied");
  assert.equal(ledger(path).filter((line) => line === "danger").length, 2);
  const broken = new Error("the callback broke");
  await assert.rejects(tools.call(`${name}.danger`, {}, { onApproval: () => Promise.reject(broken) }), broken);
});

test("a question is answered, declined, or expires; the tool's time stands still meanwhile", async (t) => {
  const tools = await open(t);
  const questions = [];
  const onInput = (question) => (questions.push(question), "red");
  assert.equal((await tools.call(`${name}.asks`, {}, { onInput })).text, "it is red");
  assert.equal(questions[0].prompt, "Which colour?");
  assert.deepEqual(questions[0].schema, { type: "string", enum: ["red", "blue"] });
  assert.equal((await tools.call(`${name}.asks`, {}, { onInput: () => DECLINED })).text, "nobody said: declined");
  assert.equal((await tools.call(`${name}.asks`, { ttlMs: 300 })).text, "nobody said: expired");
  const id = await tools.submit(`${name}.asks`);
  await eventually("it asks", async () => (await tools.get(id)).invocation.pendingInput);
  await assert.rejects(tools.provideInput(id, "green"), RequestError);
  await tools.provideInput(id, "blue");
  assert.equal((await tools.wait(id)).text, "it is blue");
});

test("an answer that the cluster refuses ends the call, and leaves none behind", async (t) => {
  const tools = await open(t);
  const streamed = async (...args) => {
    for await (const item of tools.stream(...args)) if (item.kind === "result") return item.result;
  };
  for (const make of [tools.call.bind(tools), streamed]) {
    const error = await make(`${name}.asks`, {}, { onInput: () => "green" }).catch((error) => error);
    assert.ok(error instanceof AnswerRefusedError, String(error));
    assert.ok(error.cause instanceof RequestError && error.fieldViolations.length > 0, String(error));
    assert.equal((await tools.wait(error.invocationId)).status, "canceled");
  }
  let asked;
  const wrong = await tools.call(`${name}.asks`, {}, { onInput: (question) => ((asked = question), { answer: NaN }) }).catch((error) => error);
  assert.ok(wrong instanceof JsonError, String(wrong));
  assert.equal((await tools.wait(asked.invocationId)).status, "canceled");
  const onApproval = (approval) => ((asked = approval), "yes please");
  await assert.rejects(tools.call(`${name}.danger`, {}, { onApproval }), /"approve", "deny", or nothing/);
  assert.equal((await tools.wait(asked.invocationId)).status, "canceled");
});

test("an answer that comes after another's is nobody's, and the call goes on", async (t) => {
  const tools = await open(t);
  const onInput = async ({ invocationId }) => (await tools.provideInput(invocationId, "blue"), "red");
  assert.equal((await tools.call(`${name}.asks`, {}, { onInput })).text, "it is blue");
  const onApproval = async ({ approvalId }) => (await tools.resolveApproval(approvalId, "approve"), "deny");
  assert.equal((await tools.call(`${name}.danger`, {}, { onApproval })).text, "destroyed");
});

test("what JSON cannot say is refused in arguments, and is a failure of its own in answers", async (t) => {
  const tools = await open(t);
  const refused = await tools.call(`${name}.echo`, { a: [1, 2, NaN] }).catch((error) => error);
  assert.ok(refused instanceof JsonError, String(refused));
  assert.equal(refused.path, "$.a[2]");
  await assert.rejects(tools.batch([{ name: `${name}.echo`, args: { m: new Map() } }]), JsonError);
  const places = { number: "$.a[2]", map: "$", half: "$.t", text: "text", cycle: "$.self", modifier: "$.f" };
  for (const [what, place] of Object.entries(places)) {
    const error = await tools.call(`${name}.strange`, { what }).catch((error) => error);
    assert.ok(error instanceof ToolError, `${what}: ${error}`);
    assert.deepEqual([error.code, error.errorClass, error.sideEffects], ["exec.output_invalid", "execution_failed", "completed"]);
    assert.ok(error.message.includes(`\`${place}\``), error.message);
  }
});

test("an output that may not be kept leaves a preview, and says so", async (t) => {
  const tools = await open(t);
  // The cluster keeps at most 64 MiB.
  const size = 65 * 1024 * 1024;
  for (const kind of ["text", "json", "bytes"]) {
    const result = await tools.call(`${name}.large`, { kind, size });
    assert.deepEqual([result.status, result.isError, result.kept.length], ["too_large", false, 0], kind);
    assert.deepEqual([result.incomplete.code, result.incomplete.sideEffects], ["result.too_large", "completed"]);
    assert.equal(result.text.includes("0123456789"), kind !== "bytes");
  }
  assert.equal((await tools.call(`${name}.word_count`, { text: "a" })).incomplete, undefined);
  const early = await tools.call(`${name}.keeps`, { size }).catch((error) => error);
  assert.deepEqual([early.code, early.errorClass], ["exec.output_limit", "result_too_large"]);
});

test("large results are read whole or by range, and proved", async (t) => {
  const tools = await open(t);
  const size = 700_000;
  const text = await tools.call(`${name}.large`, { kind: "text", size });
  assert.equal(text.kept.length, 1);
  assert.ok(text.text.length < 10_000 && text.text.startsWith("0123456789"));
  assert.equal(await text.whole(), "0123456789".repeat(size / 10));
  const part = Buffer.concat(await Array.fromAsync?.(text.kept[0].read({ offset: 15, limit: 10 })) ?? [await text.kept[0].bytes({ offset: 15, limit: 10 })]);
  assert.equal(part.toString(), "5678901234");
  const json = await tools.call(`${name}.large`, { kind: "json", size });
  assert.equal((await json.whole()).items.length, size);
  const file = await tools.call(`${name}.large`, { kind: "bytes", size });
  const [kept] = file.kept;
  assert.deepEqual([kept.size, kept.mediaType], [size, "application/octet-stream"]);
  let [read, chunks] = [0, 0];
  for await (const chunk of kept.stream()) [read, chunks] = [read + chunk.length, chunks + 1];
  assert.ok(read === size && chunks > 1, `${read} bytes in ${chunks} parts`);
  let again = 0;
  for await (const chunk of tools.read(file.invocationId, kept.ref)) again += chunk.length;
  assert.equal(again, size);
  await assert.rejects(tools.read(file.invocationId, "toolplane://payloads/none").next(), RequestError);
});

test("a reply may have everything", async (t) => {
  const tools = await open(t);
  const result = await tools.call(`${name}.rich`);
  assert.deepEqual(result.value, { in: "structure" });
  assert.equal(result.text, "in words");
  assert.deepEqual(result.content.map(({ $case }) => $case).sort(), ["artifactRef", "diff", "file", "log", "text"]);
  assert.equal(await result.kept[0].text(), "a file");
  assert.deepEqual(result.contextModifiers, [{ kind: "remember", text: "this" }]);
  assert.equal(result.record.uiFacingSummary, "all there is");
  const [artifact] = result.record.artifactRefs;
  assert.deepEqual([artifact.artifactId, artifact.version], ["report-1", "1"]);
  // What the tool said of where it ran is kept with the execution; what was said last counts, and nothing takes no name away.
  const { a2aTaskId, httpRequestId, jsonRpcId } = await executedAs(result.invocationId);
  assert.deepEqual([a2aTaskId, httpRequestId, jsonRpcId], ["task-4", "req-7", ""]);
});

test("a batch is accepted as a whole, and answers in the declared order", async (t) => {
  const tools = await open(t);
  const calls = [1, 2, 3].map((n) => ({ name: `${name}.word_count`, args: { text: "word ".repeat(n) } }));
  const { results, batch } = await tools.batch([...calls, { name: `${name}.fails`, dependsOn: [0] }], { maxParallel: 2 });
  assert.deepEqual(results.slice(0, 3).map(({ value }) => value), [1, 2, 3]);
  assert.deepEqual([results[3].isError, results[3].error.code], [true, "exec.unspecified"]);
  assert.equal(batch.members.length, 4);
  const dependent = [{ name: `${name}.fails` }, { ...calls[0], dependsOn: [0] }];
  const halted = await tools.batch(dependent, { onFailure: "cancel_dependent" });
  assert.equal(halted.results[1].error.errorClass, "sibling_canceled");
  await assert.rejects(tools.batch([calls[0], { ...calls[1], dependsOn: [7] }]), RequestError);
  const controller = new AbortController();
  const stopped = tools.batch([{ name: `${name}.once`, args: { id: "batched" } }], { signal: controller.signal }).catch((error) => error);
  await worker.tells("began");
  controller.abort();
  assert.ok((await stopped) instanceof CanceledError);
  await worker.tells("stopped");
});

test("tools are listed, searched and loaded, and a surface may have fewer", async (t) => {
  const tools = await open(t);
  const listed = (await tools.list()).find((tool) => tool.name === `${name}.word_count`);
  assert.equal(listed.state, "loaded");
  const { loaded, failed } = await tools.load([`${name}.word_count`, `${name}.word_cuont`]);
  assert.equal(loaded[0].description, "Counts the words of a text.");
  assert.equal(loaded[0].inputSchema.properties.text.description, "The text.");
  assert.equal(failed[0].name, `${name}.word_cuont`);
  const deferred = await tools.surface({ tools: [`${name}.word_count`, `${name}.echo`], defer: "all" });
  const { found } = await deferred.search("count words");
  assert.deepEqual(found.map((tool) => [tool.name, tool.hint]), [[`${name}.word_count`, "Counts the words of a text"]]);
  const first = await deferred.search("", { namespaces: [name], limit: 1 });
  const rest = await deferred.search("", { namespaces: [name], limit: 1, page: first.nextPage });
  assert.deepEqual([first.total, first.found.length, rest.found.length, rest.nextPage], [2, 1, 1, undefined]);
  assert.notEqual(first.found[0].name, rest.found[0].name);
  await assert.rejects(deferred.search("", { kinds: ["nonsense"] }), /nonsense/);
  const early = await deferred.call(`${name}.word_count`, { text: "a" }).catch((error) => error);
  assert.equal(early.errorClass, "schema_not_loaded");
  await deferred.load([`${name}.word_count`]);
  assert.equal((await deferred.call(`${name}.word_count`, { text: "a" })).value, 1);
  const outside = await deferred.call(`${name}.nothing`).catch((error) => error);
  assert.equal(outside.errorClass, "capability_gap");
  // One word of letters, and of this run alone.
  const word = `lexemes${name.replace(/\d/g, (digit) => "ghijklmnop"[digit]).replace(/[^a-z]/g, "")}`;
  await tools.addSynonyms([word, "word count"]);
  assert.deepEqual((await tools.synonyms(word)).map(({ words, origin }) => [words, origin]), [[[word, "word count"], "added"]]);
  assert.ok((await tools.search(word)).found.some((tool) => tool.name === `${name}.word_count`));
  await tools.removeSynonyms([word]);
  await tools.removeSynonyms([word]);
  assert.deepEqual([await tools.synonyms(word), (await tools.search(word)).found], [[], []]);
  assert.ok((await tools.forgetUse({ tool: `${name}.word_count` })) >= 0);
  const small = await tools.surface({ tools: [`${name}.word_count`] });
  assert.equal((await small.list()).length, 1);
  const nothing = await tools.surface({ toolChoice: "none", selectionPolicy: { deniedTools: ["Bash"], parallelCalls: false } });
  assert.match((await nothing.callResult(`${name}.word_count`, { text: "a" })).error.message, /default_tool_choice/);
  await nothing.deleteSurface();
  const task = await tools.surface({ scope: "task", refs: ["task:7"] });
  assert.equal((await task.callResult(`${name}.word_count`, { text: "a" })).error, undefined);
  assert.match((await task.callResult(`${name}.word_count`, { text: "a" }, { refs: ["task:8"] })).error.message, /another task than `8`/);
  await assert.rejects(tools.within(task.surfaceId).load([`${name}.word_count`]), /names none/);
  await task.deleteSurface();
  const upper = await tools.surface({ tools: [`${name}.word_count`] });
  const below = await tools.surface({ parent: upper.surfaceId });
  assert.deepEqual((await below.list()).map((found) => found.name), [`${name}.word_count`]);
  assert.ok((await below.callResult(`${name}.echo`, {})).error.message.includes(upper.surfaceId));
  await assert.rejects(tools.surface({ parent: "" }), /`parent` is empty/);
  await upper.deleteSurface();
  await assert.rejects(below.list(), /not there any more/);
  await below.deleteSurface();
  const pinned = await tools.surface({ tools: [`${name}.word_count`], pinned: true });
  await assert.rejects(pinned.extendSurface({ namespaces: [name] }), /pinned/);
  await pinned.deleteSurface();
  const bounded = await tools.surface({ tools: [`${name}.word_count`, `${name}.echo`], defer: "all", budget: { maxTools: 1 } });
  assert.deepEqual((await bounded.load([`${name}.echo`])).unloaded, []);
  const { loaded: within, unloaded } = await bounded.load([`${name}.word_count`]);
  assert.deepEqual(within.map((one) => one.name), [`${name}.word_count`]);
  assert.deepEqual(unloaded.map(({ name: gone, reason }) => [gone, reason]), [[`${name}.echo`, "budget"]]);
  assert.ok(unloaded[0].schemaTokens > 0);
  await bounded.extendSurface({ budget: { maxTools: 2 } });
  assert.deepEqual((await bounded.load([`${name}.echo`])).unloaded, []);
  await bounded.deleteSurface();
  const warned = new Promise((told) => process.once("warning", told));
  const slip = await tools.surface({ namespaces: ["nothing_of_this_name"], kinds: ["function"] });
  assert.match((await warned).message, /no tool has the namespace/);
  assert.deepEqual(await slip.list(), []);
  await slip.deleteSurface();
  await assert.rejects(tools.surface({ riskLevels: ["hgih"] }), /risk_levels/);
  const changes = small.watchSurface();
  const begin = (await changes.next()).value;
  await small.extendSurface({ namespaces: [name] });
  assert.ok((await small.list()).length > 1);
  const came = (await changes.next()).value;
  assert.deepEqual([begin.tools, came.tools.length], [[], (await small.list()).length - 1]);
  assert.ok(came.tools.every((tool) => tool.kind === "added" && tool.state === "deferred" && tool.stateBefore === undefined));
  const surfaceMoment = await small.surfaceMoment();
  assert.equal((await small.callResult(`${name}.word_count`, { text: "a b" }, { surfaceMoment })).isError, false);
  await small.unload([`${name}.word_count`]);
  const stale = await small.callResult(`${name}.word_count`, { text: "a b" }, { surfaceMoment });
  assert.ok(stale.error?.message.includes(surfaceMoment));
  const again = small.watchSurface({ from: came.moment });
  const later = (await again.next()).value;
  assert.deepEqual([later.tools[0].name, later.tools[0].stateBefore, later.tools[0].state], [`${name}.word_count`, "loaded", "deferred"]);
  await again.return();
  await small.deleteSurface();
  assert.deepEqual([(await changes.next()).value, (await changes.next()).done], [later, true]);
  const [unknown] = await deferred.unload([`${name}.word_count`, "nothing.of_this_name"]);
  assert.equal(unknown.name, "nothing.of_this_name");
  assert.equal((await deferred.list()).find((tool) => tool.name === `${name}.word_count`)?.state, "deferred");
  await deferred.deleteSurface();
  await deferred.deleteSurface();
  assert.equal((await deferred.list().catch((error) => error)).status, "NOT_FOUND");
  assert.ok(Array.isArray((await tools.search("select:nothing_of_this_name")).missing));
});
