/** Tools as objects of other packages. Those are loaded when they are asked for, and need not be installed otherwise. */

import type { CallOptions } from "../tools.js";
import type { OfferedTool } from "./toolbox.js";

type Run = (tool: OfferedTool, args: unknown, options: CallOptions) => Promise<string>;

async function load(name: string): Promise<Record<string, (...args: unknown[]) => unknown>> {
  try {
    return (await import(name)) as Record<string, (...args: unknown[]) => unknown>;
  } catch (error) {
    throw new Error(`this needs the package \`${name}\`: npm install ${name.split("/").slice(0, 2).join("/")}`, { cause: error });
  }
}

interface AiSdkCall {
  toolCallId?: string;
  abortSignal?: AbortSignal;
}

/** The `tools` of `generateText` and `streamText`. */
export async function forAiSdk(offered: OfferedTool[], run: Run): Promise<Record<string, unknown>> {
  const { tool, jsonSchema } = await load("ai");
  const entries = offered.map((one) => {
    const execute = (args: unknown, { toolCallId, abortSignal }: AiSdkCall = {}) =>
      run(one, args, { ...(toolCallId ? { nativeCallId: toolCallId } : {}), ...(abortSignal ? { signal: abortSignal } : {}) });
    return [one.alias, tool?.({ description: one.description, inputSchema: jsonSchema?.(one.inputSchema), execute })];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

/** Tools for `bindTools` and agents. */
export async function forLangChain(offered: OfferedTool[], run: Run): Promise<unknown[]> {
  const { tool } = await load("@langchain/core/tools");
  return offered.map((one) => {
    const execute = (args: unknown, config?: { signal?: AbortSignal; toolCall?: { id?: string } }) =>
      run(one, args, {
        ...(config?.toolCall?.id ? { nativeCallId: config.toolCall.id } : {}),
        ...(config?.signal ? { signal: config.signal } : {}),
      });
    return tool?.(execute, { name: one.alias, description: one.description, schema: one.inputSchema });
  });
}
