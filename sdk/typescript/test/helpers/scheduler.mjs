// A scheduler that does what a test says: for what a real one does seldom.

import { Server, ServerCredentials } from "@grpc/grpc-js";
import { EventEmitter, once } from "node:events";
import { after } from "node:test";

import { HeartbeatResponse, WorkerServiceService } from "toolplane/v1/worker_service";

const PATIENCE_MS = 20_000;

/** Ended after all tests: workers say goodbye in hooks of their tests. */
const started = [];
after(() => started.forEach(({ server }) => server.forceShutdown()));

export class Scheduler {
  #events = new EventEmitter();
  #reports = [];
  streams = [];
  hellos = [];
  beats = [];
  /** The test is over: every ending is acknowledged, so that the worker may end. */
  over = false;
  /** The status every stream ends with at once, when there is one. */
  refuses;
  /** Given to every heartbeat; absent: they are not answered. */
  beat = () => ({});

  static async start(terms = {}) {
    const scheduler = new Scheduler();
    await scheduler.#listen(terms);
    started.push(scheduler);
    return scheduler;
  }

  async #listen({ heartbeatMs = 50, leaseMs = 1_000, maxInlineBytes = 1_000n }) {
    this.server = new Server();
    this.server.addService(WorkerServiceService, {
      work: (stream) => {
        if (this.refuses) return stream.emit("error", this.refuses);
        this.streams.push(stream);
        stream.on("error", () => {});
        stream.on("end", () => (this.#tell({ $case: "end" }), stream.end()));
        stream.on("data", ({ reports }) => {
          for (const { report } of reports) {
            if (report.$case === "hello") {
              this.hellos.push(report.value);
              this.say({ $case: "welcome", value: { heartbeatMs, leaseMs, maxInlineBytes } });
            }
            if (report.$case === "done" && this.over) {
              this.say({ $case: "doneAcknowledged", value: { lease: report.value.lease } });
            }
            this.#tell(report);
          }
        });
      },
      heartbeat: ({ request }, answer) => {
        this.beats.push(request);
        this.#tell({ $case: "beat", value: request });
        const said = this.beat?.(request);
        if (said) answer(null, HeartbeatResponse.fromPartial(said));
      },
      uploadPayload: (_stream, answer) => answer({ code: 12 }),
    });
    this.port = await new Promise((resolve, reject) =>
      this.server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) => (error ? reject(error) : resolve(port))),
    );
    this.endpoint = `http://127.0.0.1:${this.port}`;
  }

  #tell(report) {
    this.#reports.push(report);
    this.#events.emit("report");
  }

  /** Says something on the newest stream. */
  say(command) {
    this.streams.at(-1).write({ commands: [{ command }] });
  }

  offer(lease, native, more = {}) {
    const binding = { binding: { $case: "native", value: { name: native } } };
    const callInput = { body: { $case: "inline", value: Buffer.from("{}") }, sha256: Buffer.alloc(0), sizeBytes: 2n, mediaType: "", redaction: 0 };
    const dispatch = { ...DISPATCH, invocationId: lease.invocationId, binding, callInput, ...more };
    this.say({ $case: "offer", value: { lease, dispatch } });
  }

  /** Waits for the next report of a kind; each is heard once. */
  async hears(kind) {
    const late = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const at = this.#reports.findIndex((report) => report.$case === kind);
      if (at >= 0) return this.#reports.splice(at, 1)[0].value;
      await once(this.#events, "report", { signal: late }).catch(() => {
        throw new Error(`no report \`${kind}\` came`);
      });
    }
  }

  /** Kinds of the reports that nobody has asked for. */
  get unheard() {
    return this.#reports.map((report) => report.$case);
  }
}

const DISPATCH = {
  tenant: "default", toolId: "tool", toolName: "acme.tool", pool: "native", executionKind: "", executionKindCode: 0, sandboxed: false,
  sandboxProfile: "", timeoutMs: 30_000n, outputLimits: undefined, supportsCancel: true, requiresStartGrant: false, idempotencyKey: "k",
  fence: 1n, attempt: 1, traceparent: "", tracestate: "", surfaceId: "", actorRef: "", queuedMs: 0n, exclusiveLock: false, lockFence: 0n,
  supportsContextModifiers: false, sessionRef: "", permissionMode: "", nativeCallId: "", observableInput: undefined, aliases: [],
  toolKind: "", deniedPaths: undefined, hooksFollow: false, toolNamespace: "", supportsPartialResults: true, artifactExpectations: [], supportsArtifacts: true,
};

let leases = 0;
export const lease = (invocationId = `inv_${(leases += 1)}`, leaseNo = 1) => ({ invocationId, leaseNo, leaseId: `lease-${(leases += 1)}` });
