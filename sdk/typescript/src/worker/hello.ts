/** How a worker introduces itself on every stream. */

import { ExecutionDone, type LeaseRef } from "../gen/toolplane/v1/worker.js";
import { toPayload } from "../payload.js";
import type { Identity } from "./identity.js";
import type { Report } from "./session.js";

/** Endings of this size in all go along with a hello; the others follow as reports. */
const HELLO_BYTES = 1024 * 1024;

/** What a hello tells. */
export interface About {
  identity: Identity;
  version: string;
  slots: number;
  nativeTools: string[];
  /** Leases of what has not ended. */
  running: LeaseRef[];
  /** Endings that nobody has acknowledged, of this process and of earlier ones. */
  endings: ExecutionDone[];
}

/** The hello, and the endings that have no room in it. */
export function introduce({ identity, version, slots, nativeTools, running, endings }: About): [Report, ...Report[]] {
  const [finished, rest] = split(endings);
  const all = rest.length === 0;
  const hello: Report = {
    $case: "hello",
    value: {
      workerId: identity.workerId,
      incarnation: identity.incarnation,
      version,
      slots,
      pools: [],
      gaps: [],
      posture: toPayload({ sandbox: "none" }),
      // Leases of endings that follow are held until then.
      held: [...running, ...rest.flatMap(({ lease }) => (lease ? [lease] : []))],
      finished,
      previousIncarnationDead: identity.previousDead && all,
      keptEndingsFollow: identity.previousDead && !all,
      nativeTools,
      image: "",
      credentials: undefined,
    },
  };
  return [hello, ...rest.map((value): Report => ({ $case: "done", value }))];
}

/** Endings that fit into a hello, and the others. */
function split(endings: ExecutionDone[]): [ExecutionDone[], ExecutionDone[]] {
  const [finished, rest]: [ExecutionDone[], ExecutionDone[]] = [[], []];
  let bytes = 0;
  for (const done of endings) {
    bytes += ExecutionDone.encode(done).finish().length;
    (bytes <= HELLO_BYTES ? finished : rest).push(done);
  }
  return [finished, rest];
}
