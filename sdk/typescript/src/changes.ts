/** What changes about a surface, over broken streams. */

import type { Connection } from "./connection.js";
import {
  type SurfaceToolChange,
  SurfaceToolChangeKind,
  SurfaceToolState,
  type WatchSurfaceResponse,
} from "./gen/toolplane/v1/surface_service.js";
import { cutShort } from "./read.js";
import { messages, Patience } from "./rpc.js";

/** How long the cluster may be away before following fails, in milliseconds. */
const AWAY_MS = 60_000;

/** What happened to a tool in a surface. */
export interface ToolChange {
  /** Its full name; where it was removed, the one it had. */
  readonly name: string;
  readonly toolId: string;
  readonly kind: "added" | "removed" | "changed";
  /** How it is shown; undefined where it was removed. */
  readonly state?: "loaded" | "deferred";
  /** How it was shown, where that is known. */
  readonly stateBefore?: "loaded" | "deferred";
  /** Digest of its whole registration. */
  readonly digest?: string;
  readonly digestBefore?: string;
  /** The full name it had, where it was another one. */
  readonly nameBefore?: string;
  /** What of its schema changed since it was loaded: it must be loaded again before it can be called. */
  readonly changed?: string;
  /**
   * Why it was removed, machine-readable; `budget` where it is deferred for the budget of the surface; the code a call of it would
   * end with where its provider keeps it from being called (`provider.away` ...).
   */
  readonly reason?: string;
  /** The same for people. */
  readonly message?: string;
}

/** What is different about a surface since the one before. */
export interface SurfaceChange {
  readonly tools: readonly ToolChange[];
  /** Where following can go on. */
  readonly moment: string;
  readonly revision: bigint;
  /** All that was known is to be forgotten: these tools are all that the surface shows. */
  readonly anew: boolean;
}

/** From where on, and how long. */
export interface WatchSurfaceOptions {
  /** From a moment on that an earlier change said; from now on when absent. */
  readonly from?: string;
  readonly signal?: AbortSignal;
}

/** @internal */
export async function* surfaceChanges(
  connection: Connection,
  surfaceId: string,
  options: WatchSurfaceOptions,
): AsyncGenerator<SurfaceChange, void, void> {
  const patience = new Patience(connection, { awayMs: AWAY_MS });
  let moment = options.from ?? "";
  for (;;) {
    // What was not told to its end is told again by the next stream.
    let parts: WatchSurfaceResponse[] = [];
    const request = { surfaceId, fromMoment: moment, fromRevision: 0n };
    const open = () => connection.surfaces.watchSurface(request, connection.metadata());
    try {
      for await (const message of messages<WatchSurfaceResponse>(connection, open, options.signal)) {
        patience.answered();
        if (message.ended !== "") return;
        parts.push(message);
        if (message.moment === "") continue;
        const change = toChange(parts);
        // Where a stream goes on after another one, its first message says nothing new.
        const isNew = change.moment !== moment || change.anew || change.tools.length > 0;
        [moment, parts] = [change.moment, []];
        if (isNew) yield change;
      }
      throw cutShort(`the changes of the surface ${surfaceId}`);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      await patience.failed(error, options.signal);
    }
  }
}

function toChange(parts: readonly WatchSurfaceResponse[]): SurfaceChange {
  const last = parts.at(-1);
  return {
    tools: parts.flatMap((part) => part.changes.map(toToolChange)),
    moment: last?.moment ?? "",
    revision: last?.revision ?? 0n,
    anew: parts.some((part) => part.anew),
  };
}

function toToolChange(change: SurfaceToolChange): ToolChange {
  const { name, toolId } = change;
  const given = {
    state: STATES[change.state],
    stateBefore: STATES[change.stateBefore],
    digest: change.digest || undefined,
    digestBefore: change.digestBefore || undefined,
    nameBefore: change.nameBefore || undefined,
    changed: change.changed || undefined,
    reason: change.reason || undefined,
    message: change.message || undefined,
  };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { name, toolId, kind: KINDS[change.kind] ?? "changed", ...known };
}

const KINDS: Partial<Record<SurfaceToolChangeKind, ToolChange["kind"]>> = {
  [SurfaceToolChangeKind.SURFACE_TOOL_CHANGE_KIND_ADDED]: "added",
  [SurfaceToolChangeKind.SURFACE_TOOL_CHANGE_KIND_REMOVED]: "removed",
};
const STATES: Partial<Record<SurfaceToolState, "loaded" | "deferred">> = {
  [SurfaceToolState.SURFACE_TOOL_STATE_LOADED]: "loaded",
  [SurfaceToolState.SURFACE_TOOL_STATE_DEFERRED]: "deferred",
};
