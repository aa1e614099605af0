// What needs no cluster: JSON without loss, names, shapes of vendors, settings.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { connect, JsonError, JsonText, parseExact, SettingsError, stringify, VERSION, Worker } from "toolplane";

import { Connection, readSettings } from "../../dist/connection.js";
import { ToolResult } from "../../dist/gen/toolplane/v1/result.js";
import { asMessages, readCall, readCalls, writeAnswer } from "../../dist/loops/shapes.js";
import { PayloadSource } from "../../dist/read.js";
import { Result } from "../../dist/result.js";
import { backoff } from "../../dist/rpc.js";
import { toSpec } from "../../dist/spec.js";
import { toListed, toRegistration } from "../../dist/worker/registration.js";

test("a call that was to be guarded by a moment does not go without one", () => {
  assert.equal(toSpec("a.b", {}, { surfaceMoment: "1.7" }, "").surfaceMoment, "1.7");
  assert.equal(toSpec("a.b", {}, {}, "").surfaceMoment, "");
  assert.throws(() => toSpec("a.b", {}, { surfaceMoment: "" }, ""), /`surfaceMoment` is empty/);
});

test("integers of any size are written and read with all their digits", () => {
  const big = 12345678901234567890n;
  assert.equal(stringify({ big, list: [1n, null], skip: undefined, nested: { at: new Date(0) } }),
    '{"big":12345678901234567890,"list":[1,null],"nested":{"at":"1970-01-01T00:00:00.000Z"}}');
  assert.equal(stringify({ raw: new JsonText("[1.0, 2]"), also: big }), '{"raw":[1.0, 2],"also":12345678901234567890}');
  assert.deepEqual(parseExact('{"a":12345678901234567890,"b":-9007199254740993,"c":1e400,"d":0.1234567890123456789}'),
    { a: big, b: -9007199254740993n, c: Infinity, d: 0.12345678901234568 });
  assert.deepEqual(parseExact('["12345678901234567890", "\\"12345678901234567890", 9007199254740991]'),
    ["12345678901234567890", '"12345678901234567890', 9007199254740991]);
  const own = parseExact('{"__proto__": 12345678901234567890}');
  assert.deepEqual(Object.keys(own), ["__proto__"]);
  assert.equal(Object.getPrototypeOf(own), Object.prototype);
  assert.equal(parseExact(`["${"x".repeat(3_000_000)}", 12345678901234567890]`)[1], big);
});

test("what JSON cannot say is refused where it is, and not changed", () => {
  const cycle = { in: {} };
  cycle.in.self = cycle;
  const deep = { a: [0, 1, { "not a name": [] }] };
  const wrong = [
    [NaN, "$", /NaN is no number/],
    [{ a: [1, 2, Infinity] }, "$.a[2]", /Infinity is no number/],
    [[-Infinity], "$[0]", /-Infinity/],
    [undefined, "$", /undefined has no JSON/],
    [[1, undefined], "$[1]", /undefined has no JSON/],
    [new Array(2), "$[0]", /undefined has no JSON/],
    [{ f: () => 1 }, "$.f", /a function has no JSON/],
    [{ s: Symbol("s") }, "$.s", /a symbol has no JSON/],
    [{ m: new Map([[1, 2]]) }, "$.m", /Object\.fromEntries/],
    [{ s: new Set([1]) }, "$.s", /\[\.\.\.set\]/],
    [{ p: Promise.resolve(1) }, "$.p", /await it/],
    [{ e: new Error("no") }, "$.e", /give its message/],
    [{ b: new Uint8Array(3) }, "$.b", /bytes have no JSON/],
    [{ b: new ArrayBuffer(3) }, "$.b", /bytes have no JSON/],
    [{ r: /x/ }, "$.r", /source/],
    [{ i: new Map().keys() }, "$.i", /iterator/],
    [{ g: (function* () {})() }, "$.g", /iterator/],
    [{ w: new WeakMap() }, "$.w", /weakly/],
    [{ at: new Date(NaN) }, "$.at", /the date is none/],
    [{ half: "x\ud800y" }, "$.half", /half of a character/],
    [{ "\udc00": 1 }, '$["\\udc00"]', /half of a character/],
    [cycle, "$.in.self", /holds itself/],
    [{ big: 1n, cycle }, "$.cycle.in.self", /holds itself/],
    [{ toJSON: () => ({ n: NaN }) }, "$.n", /NaN/],
    [{ ...deep, b: { "not a name": [NaN] } }, '$.b["not a name"][0]', /NaN/],
  ];
  for (const [value, path, rule] of wrong) {
    assert.throws(() => stringify(value), (error) => {
      assert.ok(error instanceof JsonError, String(error));
      assert.deepEqual([error.path, error.code], [path, "NOT_JSON"]);
      assert.match(error.rule, rule);
      assert.equal(error.message, `\`${path}\`: ${error.rule}`);
      return true;
    });
  }
});

test("what JSON.stringify says of a value is said, in its words", () => {
  class Same {
    n = 1;
    toJSON() {
      return this;
    }
  }
  class Own {
    constructor() {
      Object.assign(this, { n: 1, skip: undefined });
    }
    get hidden() {
      return 2;
    }
  }
  const twice = { same: 1 };
  const fine = [
    null, 0, -0, 1e21, "\u2028 \ud83d\ude00", [], {}, { a: undefined }, [new Date(0)], new Own(), new Same(), Object.create(null), [twice, twice],
    { toJSON: (key) => `of ${key}` }, { at: { toJSON: (key) => key } }, [Object(1), Object("s"), Object(false)], Buffer.from("ab"),
    Array.from({ length: 100 }).reduce((inner) => [inner], 7),
  ];
  for (const value of fine) assert.equal(stringify(value), JSON.stringify(value));
  assert.throws(() => JSON.stringify(new JsonText("1")), TypeError);
});

test("a search hint is the first sentence, unless another is said", () => {
  const hints = [
    ["Finds things.", "Finds things"],
    ["Finds things, e.g. keys. Fast!", "Finds things, e.g. keys"],
    ["Finds\n   things\n\nand more", "Finds things"],
    ["Is version 1.5 done? Yes.", "Is version 1.5 done"],
    ["word ".repeat(100), `${"word ".repeat(38)}word...`],
  ];
  for (const [description, hint] of hints) {
    const tool = { name: "one", options: { description }, input: { type: "object" } };
    assert.equal(toRegistration("acme", "acme.one", tool).declaration.searchHint, hint);
    assert.equal(toListed("acme.one", tool).declaration.search_hint, hint);
  }
  for (const searchHint of ["keys and wallets", ""]) {
    const tool = { name: "one", options: { description: "Finds things.", searchHint }, input: { type: "object" } };
    assert.equal(toListed("acme.one", tool).declaration.search_hint, searchHint);
  }
});

test("every JSON value comes back as it was", () => {
  // A generator of its own, so that a failure can be repeated.
  let seed = 42;
  const chance = (n) => (seed = (seed * 1103515245 + 12345) % 2 ** 31) % n;
  const make = (depth) => {
    switch (chance(depth > 3 ? 5 : 7)) {
      case 0: return chance(2 ** 31) - 2 ** 30;
      case 1: return BigInt(chance(2 ** 31)) ** BigInt(2 + chance(5)) * (chance(2) ? 1n : -1n) + 2n ** 60n;
      case 2: return ["", "12345678901234567890", '\\"', "\u2028é\u0000", "-1234567890123456789"][chance(5)];
      case 3: return [true, false, null][chance(3)];
      case 4: return chance(1000) / 7;
      case 5: return Array.from({ length: chance(4) }, () => make(depth + 1));
      default: return Object.fromEntries(Array.from({ length: chance(4) }, (_, at) => [`k"${at}`, make(depth + 1)]));
    }
  };
  for (let round = 0; round < 2_000; round += 1) {
    const value = make(0);
    const safe = (read) => (typeof read === "bigint" && Number.isSafeInteger(Number(read)) ? Number(read) : read);
    assert.deepEqual(parseExact(stringify(value)), safe(value));
  }
});

test("calls are told apart by their shape", () => {
  const shapes = {
    openai: { type: "function_call", call_id: "1", name: "f", arguments: "" },
    "openai-chat": { id: "1", type: "function", function: { name: "f", arguments: "{}" } },
    anthropic: { type: "tool_use", id: "1", name: "f", input: {} },
    gemini: { functionCall: { name: "f", args: {} } },
  };
  for (const [vendor, shape] of Object.entries(shapes)) {
    const call = readCall(shape);
    assert.deepEqual([call.vendor, call.alias, stringify(call.args)], [vendor, "f", "{}"]);
    const failed = writeAnswer(call, { text: "no", isError: true });
    assert.equal(vendor === "anthropic", failed.is_error === true);
    assert.equal(vendor === "gemini", failed.functionResponse?.response.error === "no");
    assert.equal(asMessages([{ call, answer: failed }]).length, 1);
  }
  assert.equal(readCall({ name: "f", args: {} }).vendor, "gemini");
  for (const other of [null, "x", 7, {}, { type: "text" }, { role: "tool" }]) assert.equal(readCall(other), undefined);
  assert.deepEqual(readCalls(undefined), []);
  assert.equal(readCalls([shapes.openai, { type: "message" }]).length, 1);
  assert.equal(readCalls(shapes.anthropic).length, 1);
});

test("settings come from the options, then from the environment, then from nowhere", () => {
  const file = join(mkdtempSync(join(tmpdir(), "toolplane-")), "token");
  writeFileSync(file, " from-file\n");
  assert.deepEqual(readSettings({}, {}), { target: "127.0.0.1:7420", tls: false });
  assert.equal(readSettings({}, { TOOLPLANE_ENDPOINT: "10.0.0.7:1" }).target, "10.0.0.7:1");
  assert.equal(readSettings({ endpoint: "https://[::1]" }, {}).target, "[::1]:443");
  assert.equal(readSettings({}, { TOOLPLANE_TOKEN: "a", TOOLPLANE_TOKEN_FILE: file }).token, "a");
  assert.equal(readSettings({}, { TOOLPLANE_TOKEN_FILE: file }).token, "from-file");
  assert.equal(readSettings({ tokenFile: file }, { TOOLPLANE_TOKEN: "a" }).token, "from-file");
  assert.equal(readSettings({ endpoint: "https://a", serverName: "b" }, {}).serverName, "b");
});

test("settings that cannot be used are refused, without a word of the secret", () => {
  const wrong = [
    [{ endpoint: "http://a/b" }, /nothing after it/],
    [{ endpoint: "ftp://a" }, /`http:\/\/` or `https:\/\/`/],
    [{ endpoint: "http://" }, /not an endpoint/],
    [{ token: " " }, /empty/],
    [{ token: "se\ncret" }, /characters a header cannot carry/],
    [{ tokenFile: "/none" }, /cannot read the token/],
    [{ caFile: "/none", endpoint: "https://a" }, /cannot read the certificates/],
    [{ caFile: "/none" }, /need an `https:\/\/` endpoint/],
    [{ certFile: "/none", endpoint: "https://a" }, /needs its key/],
    [{ token: "secret", endpoint: "http://example.org:1" }, /clear text/],
  ];
  for (const [options, rule] of wrong) {
    assert.throws(() => readSettings(options, {}), (error) => {
      assert.ok(error instanceof SettingsError);
      assert.match(error.message, rule);
      assert.ok(!error.message.includes("secret"));
      return true;
    });
  }
  assert.equal(readSettings({ token: "t", endpoint: "http://example.org", allowInsecureToken: true }, {}).token, "t");
  assert.equal(readSettings({ token: "t", endpoint: "http://localhost:1" }, {}).token, "t");
});

test("a token is in no text that a connection or a client gives of itself", async () => {
  const connection = new Connection(readSettings({ token: "top-secret" }, {}));
  const tools = await connect({ token: "top-secret" });
  for (const thing of [connection, tools]) {
    const shown = JSON.stringify(thing) + inspect(thing, { depth: 10, showHidden: true }) + String(thing);
    assert.ok(!shown.includes("top-secret"), shown);
  }
  connection.close();
  tools.close();
});

test("names of workers and tools are checked where they are given", () => {
  assert.throws(() => new Worker("no name"), SettingsError);
  const worker = new Worker("acme");
  const nothing = { description: "Nothing." };
  worker.tool("one", nothing, () => 1);
  for (const name of ["one", "a.b", "", "list_tools"]) assert.throws(() => worker.tool(name, nothing, () => 1), SettingsError);
  assert.throws(() => worker.tool("two", nothing, () => 1).tool("two", nothing, () => 1), SettingsError);
});

test("waits grow, are spread, and end at two seconds", () => {
  for (const [failures, least, most] of [[0, 50, 100], [3, 400, 800], [20, 1_000, 2_000]]) {
    for (let round = 0; round < 50; round += 1) {
      const wait = backoff(failures);
      assert.ok(wait >= least && wait <= most, `${wait} after ${failures}`);
    }
  }
  assert.equal(backoff(0, 7_000), 7_000);
});

test("the version is that of the package, and of the workspace it is built from", () => {
  const read = (path) => readFileSync(new URL(path, import.meta.url), "utf8");
  assert.equal(VERSION, JSON.parse(read("../../package.json")).version);
  assert.equal(VERSION, /^version = "(.*)"$/m.exec(read("../../../../Cargo.toml"))[1]);
});

test("answers are those the server writes", () => {
  const shared = new URL("../../../../crates/toolplane-forms/tests/golden/shared/", import.meta.url);
  const read = (view) => JSON.parse(readFileSync(new URL(`${view}.json`, shared), "utf8"));
  const contracts = read("tool-result");
  for (const vendor of ["openai", "openai-chat", "anthropic", "gemini"]) {
    const view = vendor === "openai" ? "openai-responses" : vendor;
    const told = read(view);
    assert.deepEqual(Object.keys(told), Object.keys(contracts));
    let compared = 0;
    for (const [name, theirs] of Object.entries(told)) {
      const [text] = theirs.functionResponse ? Object.values(theirs.functionResponse.response) : [theirs.output ?? theirs.content];
      // Pictures, files and values beside the text: the package gives texts alone.
      if (typeof text !== "string" || theirs.functionResponse?.parts) continue;
      const call = { vendor, id: "call_7", alias: theirs.functionResponse?.name ?? "any", args: {} };
      assert.deepEqual(writeAnswer(call, { text, isError: contracts[name].status === "error" }), theirs, `${view}: ${name}`);
      compared += 1;
    }
    assert.ok(compared > 5, `${view}: ${compared}`);
  }
});

test("an artifact is kept under its name, and is not the answer", async () => {
  const payload = { uri: "toolplane://payloads/1", mediaType: "text/csv", digest: "", sizeBytes: 3n };
  const artifact = { artifactId: "out/rows.csv", uri: payload.uri, payload };
  const elsewhere = { artifactId: "page", uri: "https://example.org/a" };
  const blocks = [{ $case: "text", value: { text: "done" } }, { $case: "artifactRef", value: artifact }, { $case: "artifactRef", value: elsewhere }];
  const record = ToolResult.fromPartial({ invocationId: "inv_1", content: blocks.map((block) => ({ block })) });
  const result = new Result(record, new PayloadSource({}));
  assert.deepEqual(result.kept.map(({ name, size }) => [name, size]), [["out/rows.csv", 3]]);
  assert.equal(await result.whole(), "done");
});
