// Follows a call: what happens, a question to a person, an approval. Usage: node stream.mjs TOOL [JSON]
import { createInterface } from "node:readline/promises";

import { connect, DECLINED, JsonText } from "toolplane";

const [name, args = "{}"] = process.argv.slice(2);
const terminal = createInterface({ input: process.stdin, output: process.stderr });
const tools = await connect();
const people = {
  onApproval: async ({ toolName }) => ((await terminal.question(`let ${toolName} run? [y/n] `)) === "y" ? "approve" : "deny"),
  onInput: async ({ prompt }) => (await terminal.question(`${prompt} `)) || DECLINED,
};
for await (const item of tools.stream(name, new JsonText(args), people)) {
  if (item.kind === "event") console.log(item.event.eventType);
  if (item.kind === "progress") console.log(item.progress.message, item.progress.percent ?? "");
  if (item.kind === "result") console.log(item.result.error?.message ?? item.result.value);
}
terminal.close();
tools.close();
