/** The main thread's end of the heartbeats. */

import { Worker as Thread } from "node:worker_threads";

import type { Settings } from "../connection.js";
import { HeartbeatResponse } from "../gen/toolplane/v1/worker_service.js";
import { LeaseRef } from "../gen/toolplane/v1/worker.js";
import type { Assignment } from "./assignment.js";
import type { Uploader } from "./upload.js";

/** What the thread is told. */
export type ToThread =
  | { connect: Settings }
  | { terms: { heartbeatMs: number; leaseMs: number } }
  | { take: Uint8Array; exclusive: boolean }
  | { drop: string }
  | { end: true };

/** What the thread tells: an answer with news, or a lease of a lock that can hardly be renewed. */
export type FromThread = { answer: Uint8Array } | { doubt: string };

/** Renews the leases of a worker, from a thread of its own. */
export class Heartbeats {
  readonly #thread: Thread;

  constructor(identity: Uploader, onAnswer: (answer: HeartbeatResponse) => void, onDoubt: (leaseId: string) => void) {
    this.#thread = new Thread(new URL("./heartbeat-thread.js", import.meta.url), { workerData: identity });
    this.#thread.on("message", (message: FromThread) => {
      if ("answer" in message) onAnswer(HeartbeatResponse.decode(message.answer));
      else onDoubt(message.doubt);
    });
    this.#thread.on("error", (error) => {
      // Without it leases would run out unseen: better the process ends, and says why.
      throw error;
    });
    this.#thread.unref();
  }

  /** Whom to ask from now on. */
  connect(settings: Settings): void {
    this.#tell({ connect: settings });
  }

  terms(heartbeatMs: number, leaseMs: number): void {
    this.#tell({ terms: { heartbeatMs, leaseMs } });
  }

  take(assignment: Assignment): void {
    this.#tell({ take: LeaseRef.encode(assignment.lease).finish(), exclusive: assignment.dispatch.exclusiveLock });
  }

  drop(leaseId: string): void {
    this.#tell({ drop: leaseId });
  }

  end(): void {
    this.#tell({ end: true });
  }

  #tell(message: ToThread): void {
    this.#thread.postMessage(message);
  }
}
