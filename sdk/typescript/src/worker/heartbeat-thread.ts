/**
 * The thread that renews leases: over a connection of its own, whatever the tools do to the main thread.
 *
 * It also ends the process when a tool that holds an exclusive lock outlives its lease: the lock is about to be given to another, and
 * nothing else can stop a function that does not listen.
 */

import { writeSync } from "node:fs";
import { parentPort, workerData } from "node:worker_threads";

import { Connection, type Settings } from "../connection.js";
import { HeartbeatRequest, HeartbeatResponse } from "../gen/toolplane/v1/worker_service.js";
import { LeaseRef } from "../gen/toolplane/v1/worker.js";
import { ask } from "../rpc.js";
import type { FromThread, ToThread } from "./heartbeats.js";

/** A lease, and when the request that renewed it last was sent. */
interface Held {
  lease: LeaseRef;
  exclusive: boolean;
  renewedAt: number;
}

const port = parentPort;
if (port === null) throw new Error("this is a thread of a worker, and no program");

const identity = workerData as Pick<HeartbeatRequest, "workerId" | "incarnation" | "previousIncarnationDead">;
const held = new Map<string, Held>();
let connection: Connection | undefined;
let terms = { heartbeatMs: 3_000, leaseMs: 15_000 };
let timer: NodeJS.Timeout | undefined;
let beating = false;

function tell(message: FromThread): void {
  port?.postMessage(message);
}

function schedule(ms: number): void {
  clearTimeout(timer);
  timer = setTimeout(() => void beat(), ms);
}

/** One request for every lease; sooner again when none answered, as each try takes from the time the leases have left. */
async function beat(): Promise<void> {
  if (beating) return;
  beating = true;
  const renewed = await renew().catch(() => false);
  beating = false;
  // A tenth more or less, so that workers that started together do not beat together.
  const every = terms.heartbeatMs * (0.9 + Math.random() * 0.2);
  schedule(renewed ? every : terms.heartbeatMs / 4);
}

async function renew(): Promise<boolean> {
  if (connection === undefined || held.size === 0) return true;
  const due = [...held.values()];
  const sentAt = performance.now();
  const request: HeartbeatRequest = { ...identity, leases: due.map(({ lease }) => lease) };
  const asking = { timeoutMs: terms.leaseMs / 3 };
  const answer = await ask(connection, connection.workers, (client) => client.heartbeat, request, asking);
  const doubtful = new Set([...answer.fenced, ...answer.unsure].map(({ leaseId }) => leaseId));
  for (const one of due) if (!doubtful.has(one.lease.leaseId)) one.renewedAt = sentAt;
  if (answer.leaseMs > 0) terms.leaseMs = answer.leaseMs;
  const news = answer.fenced.length + answer.cancels.length + answer.inputs.length > 0;
  if (news) tell({ answer: Buffer.from(HeartbeatResponse.encode(answer).finish()) });
  return true;
}

/** A lease is certain for two thirds of its time only: the scheduler counts from when it got the request, which was later. */
function guard(): void {
  const now = performance.now();
  for (const { lease, exclusive, renewedAt } of held.values()) {
    const age = now - renewedAt;
    if (!exclusive || age < (terms.leaseMs * 2) / 3) continue;
    tell({ doubt: lease.leaseId });
    if (age >= (terms.leaseMs * 11) / 15) {
      // Straight to the file: what a thread gives to `process.stderr` waits for the main thread, which may be the one that is stuck.
      writeSync(2, `toolplane worker: a tool outlives the lease of its lock (${lease.invocationId}); ending the process\n`);
      process.kill(process.pid, "SIGKILL");
    }
  }
}

port.on("message", (message: ToThread) => {
  if ("connect" in message) {
    connection?.close();
    connection = new Connection(reviveSettings(message.connect));
    schedule(0);
  } else if ("terms" in message) {
    terms = message.terms;
    schedule(0);
  } else if ("take" in message) {
    const lease = LeaseRef.decode(message.take);
    held.set(lease.leaseId, { lease, exclusive: message.exclusive, renewedAt: performance.now() });
  } else if ("drop" in message) {
    held.delete(message.drop);
  } else {
    clearTimeout(timer);
    clearInterval(guarding);
    connection?.close();
    port.close();
  }
});

/** What goes to a thread arrives as plain bytes. */
function reviveSettings(settings: Settings): Settings {
  const revived = { ...settings };
  for (const key of ["ca", "cert", "key"] as const) {
    const bytes = settings[key];
    if (bytes !== undefined) revived[key] = Buffer.from(bytes);
  }
  return revived;
}

const guarding = setInterval(guard, 50);
schedule(terms.heartbeatMs);
