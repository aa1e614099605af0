/** Names that every vendor takes: `namespace__name`, and the way back to the tool. */

import { createHash } from "node:crypto";

/** Longest name that all vendors take. */
const LONGEST = 64;
/** The name of the tool that finds others. */
export const SEARCH = "tool_search";

/** The alias of a tool by its name alone: `files.read_file` is `files__read_file`. */
export function alias(name: string): string {
  const dot = name.lastIndexOf(".");
  const parts = dot < 0 ? [name] : [name.slice(0, dot), name.slice(dot + 1)];
  const plain = parts.map((part) => part.replace(/[^a-zA-Z0-9_-]/g, "_")).join("__");
  return /^[a-zA-Z_]/.test(plain) ? plain : `_${plain}`;
}

function hashed(plain: string, toolId: string): string {
  return `${plain.slice(0, 55)}_${createHash("sha256").update(toolId).digest("hex").slice(0, 8)}`;
}

/**
 * One alias per tool, in order. Those that are too long, or that several tools would have, end in a hash of the tool's id: which
 * others there are does not change what an alias means.
 */
export function aliases(tools: readonly { name: string; toolId: string }[]): string[] {
  const plain = tools.map(({ name }) => alias(name));
  const counts = new Map<string, number>([[SEARCH, 1]]);
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return plain.map((name, at) => {
    const clear = name.length <= LONGEST && counts.get(name) === 1;
    return clear ? name : hashed(name, tools[at]?.toolId ?? name);
  });
}
