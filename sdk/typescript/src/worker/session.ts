/** The stream to a scheduler: kept up for as long as the worker lives, with one scheduler or another. */

import type { ClientDuplexStream } from "@grpc/grpc-js";

import type { Connection } from "../connection.js";
import { RequestError } from "../errors.js";
import type { WorkRequest, WorkResponse } from "../gen/toolplane/v1/worker_service.js";
import type { Welcome, WorkerCommand, WorkerReport } from "../gen/toolplane/v1/worker.js";
import { backoff, pause } from "../rpc.js";

/** How long a scheduler may take to welcome the worker, in milliseconds. */
const WELCOME_MS = 10_000;
/** How long a scheduler may take to close the stream after a goodbye, in milliseconds. */
const GOODBYE_MS = 2_000;

export type Report = NonNullable<WorkerReport["report"]>;
export type Command = NonNullable<WorkerCommand["command"]>;

/** What a session needs of its worker. */
export interface Speaker {
  /** The reports a stream begins with: who the worker is, what it holds, what it has to say again. */
  hello(): Report[];
  /** What to say now and then: that it lives, and what was not answered. */
  remind(): Report[];
  welcome(welcome: Welcome): void;
  obey(command: Command): void;
  /** The scheduler asks to leave; it names others. */
  leave(others: string[]): void;
  /** Told of a stream that ended out of order, why, and whether it had been welcomed. */
  lost(error: unknown, welcomed: boolean): void;
}

/** One stream at a time. */
export class Session {
  #stream: ClientDuplexStream<WorkRequest, WorkResponse> | undefined;
  #welcomed = false;
  #goodbye = false;
  #heartbeatMs = 3_000;
  #ended: (() => void) | undefined;

  constructor(readonly speaker: Speaker) {}

  /** Whether a scheduler has welcomed the worker. */
  get connected(): boolean {
    return this.#welcomed;
  }

  /** Says something on the stream, if there is one. What must not be lost is said again by `hello` and `remind`. */
  say(report: Report): boolean {
    if (this.#stream === undefined || !this.#welcomed || this.#goodbye) return false;
    this.#stream.write({ reports: [{ report }] });
    return true;
  }

  /** Ends the stream in order; `forGood` is told before that, so that no other one is begun. */
  async goodbye(forGood?: () => void): Promise<void> {
    if (this.#stream === undefined || !this.say({ $case: "goodbye", value: {} })) return;
    this.#goodbye = true;
    forGood?.();
    const stream = this.#stream;
    const ended = new Promise<void>((resolve) => (this.#ended = resolve));
    stream.end();
    const timer = setTimeout(() => stream.cancel(), GOODBYE_MS);
    await ended;
    clearTimeout(timer);
  }

  /** Ends the stream without a word, if there is one. */
  cut(): void {
    this.#stream?.cancel();
  }

  /**
   * Keeps a stream up to what `connection` gives, until `over` fires. It is told how often in a row nobody has welcomed the worker.
   *
   * @throws RequestError when the first scheduler refuses the worker: trying again would not help.
   */
  async run(connection: (failures: number) => Connection, over: AbortSignal): Promise<void> {
    for (let [failures, known] = [0, false]; !over.aborted; ) {
      const { welcomed, failure } = await this.#converse(connection(failures));
      if (over.aborted) return;
      if (!welcomed && !known && isRefusal(failure)) throw failure;
      [failures, known] = welcomed ? [0, true] : [failures + 1, known];
      if (failures > 0) await pause(backoff(failures), over).catch(() => {});
    }
  }

  /** One stream from its hello to its end; whether it was welcomed, and why it ended. */
  async #converse(connection: Connection): Promise<{ welcomed: boolean; failure: unknown }> {
    const stream = connection.workers.work(connection.metadata());
    this.#stream = stream;
    [this.#welcomed, this.#goodbye] = [false, false];
    const late = setTimeout(() => stream.cancel(), WELCOME_MS);
    let reminding: NodeJS.Timeout | undefined;
    const remind = (): void => {
      // Each in a message of its own: together they might be more than a listener takes.
      for (const report of this.speaker.remind()) if (!this.#goodbye) stream.write({ reports: [{ report }] });
      reminding = setTimeout(remind, this.#heartbeatMs);
    };
    const [hello, ...rest] = this.speaker.hello();
    stream.write({ reports: [{ report: hello }] });
    let failure: unknown;
    try {
      for await (const message of stream) {
        for (const { command } of (message as WorkResponse).commands) {
          if (command?.$case === "welcome") {
            clearTimeout(late);
            this.#welcomed = true;
            connection.reach.answered();
            this.#heartbeatMs = command.value.heartbeatMs || this.#heartbeatMs;
            this.speaker.welcome(command.value);
            for (const report of rest) stream.write({ reports: [{ report }] });
            remind();
          } else if (command?.$case === "goAway") this.speaker.leave(command.value.schedulers);
          else if (command !== undefined) this.speaker.obey(command);
        }
      }
    } catch (error) {
      failure = connection.reach.failed(error);
    }
    clearTimeout(late);
    clearTimeout(reminding);
    stream.on("error", () => {});
    stream.cancel();
    const [welcomed, inOrder] = [this.#welcomed, this.#goodbye];
    [this.#stream, this.#welcomed] = [undefined, false];
    if (!inOrder) this.speaker.lost(failure, welcomed);
    this.#ended?.();
    return { welcomed, failure };
  }
}

const REFUSALS = new Set(["UNAUTHENTICATED", "PERMISSION_DENIED", "INVALID_ARGUMENT", "UNIMPLEMENTED"]);

function isRefusal(failure: unknown): boolean {
  return failure instanceof RequestError && REFUSALS.has(failure.status);
}
