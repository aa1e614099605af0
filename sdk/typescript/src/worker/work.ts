/** What a worker does about commands: takes calls, runs them, and says how they ended until somebody has heard it. */

import type { Connection } from "../connection.js";
import { RequestError } from "../errors.js";
import type { HeartbeatResponse } from "../gen/toolplane/v1/worker_service.js";
import type {
  CancelExecution,
  ExecutionDone,
  ExecutionOutcome,
  InputProvided,
  LeaseRef,
  Offer,
  Welcome,
} from "../gen/toolplane/v1/worker.js";
import type { Log } from "../log.js";
import { Assignment } from "./assignment.js";
import { execute } from "./execution.js";
import type { Heartbeats } from "./heartbeats.js";
import { introduce } from "./hello.js";
import type { Identity } from "./identity.js";
import { canceled, unknownTool, type Upload } from "./output.js";
import { servicesOf } from "./services.js";
import { Session, type Command, type Report, type Speaker } from "./session.js";
import type { Tool } from "./tool.js";
import { upload, type Uploader } from "./upload.js";

/** Bytes of one value in a report until a scheduler says otherwise. */
const INLINE_BYTES = 64 * 1024;

/** What a worker is. */
export interface WorkParts {
  identity: Identity;
  uploader: Uploader;
  version: string;
  slots: number;
  nativeTools: string[];
  /** The tool behind a native name. */
  find: (native: string) => Tool | undefined;
  connection: () => Connection;
  heartbeats: () => Heartbeats;
  log: Log;
  onLeave: (others: string[]) => void;
  /** Said after each hello. */
  news: () => Report[];
}

/** The calls of one worker. */
export class Work implements Speaker {
  readonly session: Session = new Session(this);
  readonly #parts: WorkParts;
  readonly #held = new Map<string, Assignment>();
  /** Functions that have not returned: those that do not listen go on taking their slot. */
  #busy = 0;
  #draining = false;
  #leaving = false;
  #patienceMs = 5_000;
  #inlineBytes = INLINE_BYTES;
  /** Why no scheduler has taken the worker since the last one, by its status: said once. */
  #away: string | undefined;
  #changed: (() => void)[] = [];
  /** Leases given back while there was no stream. */
  #released: { lease: LeaseRef; reason: string }[] = [];

  constructor(parts: WorkParts) {
    this.#parts = parts;
  }

  // === What is said ===

  hello(): Report[] {
    this.#leaving = false;
    const { identity, version, slots, nativeTools } = this.#parts;
    const running = [...this.#held.values()].filter(({ phase }) => phase !== "ended").map(({ lease }) => lease);
    const about = { identity, version, slots, nativeTools, running, endings: this.#endings() };
    const released = this.#released.splice(0).map((value): Report => ({ $case: "released", value }));
    return [...introduce(about), ...this.#unanswered(0), ...released, this.#ready(), ...this.#parts.news()];
  }

  #endings(): ExecutionDone[] {
    const kept = new Map(this.#parts.identity.journal.endings.map((done) => [done.lease?.leaseId, done]));
    for (const { done } of this.#held.values()) if (done) kept.set(done.lease?.leaseId, done);
    return [...kept.values()];
  }

  remind(): Report[] {
    const heartbeat: Report = { $case: "heartbeat", value: { leases: [], freeSlots: this.#free() } };
    const now = Date.now();
    const ended = [...this.#held.values()].filter(({ done, saidAt }) => done && now - saidAt >= this.#patienceMs);
    const again = ended.map((assignment): Report => {
      assignment.saidAt = now;
      return { $case: "done", value: assignment.done as ExecutionDone };
    });
    return [heartbeat, ...again, ...this.#unanswered(this.#patienceMs)];
  }

  /** Questions, and wishes to start, that were not answered for so long. */
  #unanswered(forMs: number): Report[] {
    const now = Date.now();
    return [...this.#held.values()].flatMap((assignment): Report[] => {
      const { phase, question, lease, dispatch, saidAt } = assignment;
      if (now - saidAt < forMs) return [];
      const start = phase === "waiting" && dispatch.requiresStartGrant;
      if (start || question) assignment.saidAt = now;
      if (question) return [{ $case: "inputRequested", value: question.asked }];
      return start ? [{ $case: "startRequested", value: { lease } }] : [];
    });
  }

  #ready(): Report {
    return { $case: "ready", value: { freeSlots: this.#free() } };
  }

  #free(): number {
    return this.#draining || this.#leaving ? 0 : Math.max(0, this.#parts.slots - this.#taken());
  }

  #taken(): number {
    const waiting = [...this.#held.values()].filter(({ phase }) => phase === "waiting").length;
    return waiting + this.#busy;
  }

  // === What is heard ===

  welcome({ heartbeatMs, leaseMs, maxInlineBytes }: Welcome): void {
    this.#patienceMs = Math.max(leaseMs / 3, heartbeatMs);
    this.#away = undefined;
    if (maxInlineBytes > 0n) this.#inlineBytes = Number(maxInlineBytes);
    this.#parts.heartbeats().terms(heartbeatMs, leaseMs);
    this.#parts.log("info", "connected to a scheduler", { worker: this.#parts.identity.workerId, held: this.#held.size });
  }

  lost(error: unknown, welcomed: boolean): void {
    const status = error instanceof RequestError ? error.status : "";
    if (!welcomed && this.#away === status) return;
    this.#away = status;
    const what = welcomed ? "lost the scheduler; calls go on" : "no scheduler takes this worker yet; trying again";
    const message = error instanceof Error ? error.message : "the stream ended";
    this.#parts.log("warn", what, { error: message, held: this.#held.size });
  }

  leave(others: string[]): void {
    this.#leaving = true;
    this.session.say(this.#ready());
    this.#parts.onLeave(others);
    this.#tell();
  }

  obey(command: Command): void {
    switch (command.$case) {
      case "offer":
        return this.#take(command.value);
      case "startGranted":
        return this.#of(command.value.lease)?.grant(true);
      case "startRefused":
        return this.#lose(command.value.lease, command.value.reason);
      case "cancel":
        return this.#cancel(command.value);
      case "fenced":
        return this.#lose(command.value.lease, "fenced");
      case "doneAcknowledged":
        return this.#forget(command.value.lease);
      case "inputProvided":
        return this.#answer(command.value);
      case "reportRefused":
        return this.#parts.log("error", "the scheduler cannot read a report", command.value);
    }
  }

  /** News that came beside the stream. */
  heartbeat({ fenced, cancels, inputs }: HeartbeatResponse): void {
    // The end of an ended call is still told: it changes nothing, but it is evidence.
    for (const lease of fenced) if (this.#of(lease)?.phase !== "ended") this.#lose(lease, "fenced");
    cancels.forEach((cancel) => this.#cancel(cancel));
    inputs.forEach((input) => this.#answer(input));
  }

  /** The lease of a lock can hardly be renewed. */
  doubt(leaseId: string): void {
    this.#held.get(leaseId)?.halt({ kind: "in_doubt" });
  }

  #of(lease: LeaseRef | undefined): Assignment | undefined {
    return lease && this.#held.get(lease.leaseId);
  }

  #take({ lease, dispatch }: Offer): void {
    if (lease === undefined || dispatch === undefined) return;
    const known = this.#held.get(lease.leaseId);
    if (known) return this.#again(known);
    for (const older of this.#held.values()) {
      const same = older.dispatch.invocationId === dispatch.invocationId && older.dispatch.tenant === dispatch.tenant;
      if (same && older.lease.leaseNo < lease.leaseNo) this.#lose(older.lease, "offered anew");
    }
    if (this.#draining || this.#leaving) return this.#giveBack(lease, "draining");
    if (this.#taken() >= this.#parts.slots) return this.#giveBack(lease, "no_free_slot");
    const assignment = new Assignment(lease, dispatch);
    this.#held.set(lease.leaseId, assignment);
    this.#parts.heartbeats().take(assignment);
    this.#again(assignment);
    if (!dispatch.requiresStartGrant) assignment.grant(true);
    void this.#run(assignment);
  }

  /** A scheduler that offers again has not heard the answer. */
  #again(assignment: Assignment): void {
    const { lease, dispatch, phase, done } = assignment;
    assignment.saidAt = Date.now();
    if (done) return void this.session.say({ $case: "done", value: done });
    this.session.say({ $case: "received", value: { lease } });
    if (phase === "waiting" && dispatch.requiresStartGrant) this.session.say({ $case: "startRequested", value: { lease } });
  }

  #cancel({ lease, abortReason, abortReasonCode }: CancelExecution): void {
    const assignment = this.#of(lease);
    if (assignment === undefined || assignment.phase === "ended") return;
    // What has not begun can always be stopped.
    const supported = assignment.dispatch.supportsCancel || assignment.phase === "waiting";
    this.session.say({ $case: "cancelAcknowledged", value: { lease: assignment.lease, supported } });
    if (supported) assignment.halt({ kind: "canceled", reason: abortReason, code: abortReasonCode });
  }

  #answer(input: InputProvided): void {
    const question = this.#of(input.lease)?.question;
    if (question?.asked.inputId === input.inputId) question.answer(input);
  }

  /** The lease is another's now: what runs under it is to stop, and nothing of it is told. */
  #lose(lease: LeaseRef | undefined, reason: string): void {
    const assignment = this.#of(lease);
    if (assignment && !assignment.done) {
      this.#parts.log("info", "a call is no longer this worker's", { invocationId: assignment.dispatch.invocationId, reason });
      assignment.halt({ kind: "fenced" });
    }
    this.#forget(lease);
  }

  #forget(lease: LeaseRef | undefined): void {
    if (lease === undefined) return;
    this.#held.delete(lease.leaseId);
    this.#parts.heartbeats().drop(lease.leaseId);
    this.#parts.identity.journal.settled(lease.leaseId);
    this.#tell();
  }

  #giveBack(lease: LeaseRef, reason: string): void {
    if (!this.session.say({ $case: "released", value: { lease, reason } })) this.#released.push({ lease, reason });
    this.#forget(lease);
    this.session.say(this.#ready());
  }

  // === What is run ===

  async #run(assignment: Assignment): Promise<void> {
    if (!(await assignment.granted) || this.#held.get(assignment.lease.leaseId) !== assignment) return await this.#notBegun(assignment);
    assignment.phase = "running";
    this.#busy += 1;
    const [startedAt, begun] = [new Date(), performance.now()];
    const ending = await this.#execute(assignment);
    if ("forget" in ending || !this.#held.has(assignment.lease.leaseId)) return;
    if ("giveBack" in ending) return this.#giveBack(assignment.lease, ending.giveBack);
    const durationMs = BigInt(Math.round(performance.now() - begun));
    const { status, outputBytes } = ending.report;
    const summary = ending.report.summary || `${status} after ${durationMs} ms with ${outputBytes} bytes`;
    await this.#report(assignment, { ...ending.report, summary, startedAt, durationMs });
  }

  async #notBegun(assignment: Assignment): Promise<void> {
    const { stop, lease, repeatable } = assignment;
    if (!this.#held.has(lease.leaseId)) return;
    if (stop?.kind === "canceled") return await this.#report(assignment, canceled(stop.reason, stop.code, false, true, repeatable));
    this.#giveBack(lease, stop?.kind === "in_doubt" ? "lease_in_doubt" : "draining");
  }

  async #execute(assignment: Assignment) {
    const { dispatch } = assignment;
    const binding = dispatch.binding?.binding;
    const native = binding?.$case === "native" ? binding.value.name : "";
    const tool = this.#parts.find(native);
    const onReturn = (): void => {
      this.#busy -= 1;
      this.session.say(this.#ready());
      this.#tell();
    };
    if (tool === undefined) {
      onReturn();
      return { report: unknownTool(native) };
    }
    const keep: Upload = (name, mediaType, data) =>
      upload(this.#parts.connection, this.#parts.uploader, assignment.lease, name, mediaType, data);
    const services = servicesOf(assignment, (report) => this.session.say(report), keep, tool.options.bigints);
    const bound = dispatch.outputLimits?.maxInlineBytes;
    const inlineBytes = Math.min(this.#inlineBytes, bound === undefined ? Infinity : Number(bound));
    const onThrow = (thrown: unknown): void =>
      this.#parts.log("warn", "a tool failed", { tool: dispatch.toolName, invocationId: dispatch.invocationId, error: thrown });
    return await execute(assignment, tool, { services, upload: keep, inlineBytes, onThrow, onReturn });
  }

  /** Writes an ending down, then says it. */
  async #report(assignment: Assignment, outcome: ExecutionOutcome): Promise<void> {
    const done: ExecutionDone = { lease: assignment.lease, outcome };
    await this.#parts.identity.journal.ended(done).catch((error: unknown) => {
      // Told all the same: that the ending would not survive a crash is the smaller harm.
      this.#parts.log("error", "an ending could not be written down", { error });
    });
    [assignment.done, assignment.phase, assignment.saidAt] = [done, "ended", Date.now()];
    if (!this.#held.has(assignment.lease.leaseId)) return this.#parts.identity.journal.settled(assignment.lease.leaseId);
    this.session.say({ $case: "done", value: done });
    this.session.say(this.#ready());
    this.#tell();
  }

  // === The end ===

  /** Takes no more calls; gives back what has not begun. */
  close(): void {
    this.#draining = true;
    this.session.say(this.#ready());
    for (const assignment of this.#held.values()) if (assignment.phase === "waiting") assignment.halt({ kind: "shutdown" });
  }

  /** Asks every tool that still runs to stop. */
  stopAll(): void {
    for (const assignment of this.#held.values()) assignment.halt({ kind: "shutdown" });
  }

  /** How many calls are open: running, or not acknowledged. */
  get open(): number {
    return this.#held.size;
  }

  /** Waits until nothing is open, at most so long; whether nothing is. */
  async idle(ms: number): Promise<boolean> {
    const late = Date.now() + ms;
    while (this.#held.size > 0 && Date.now() < late) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, late - Date.now());
        this.#changed.push(() => (clearTimeout(timer), resolve()));
      });
    }
    return this.#held.size === 0;
  }

  #tell(): void {
    this.#changed.splice(0).forEach((changed) => changed());
  }
}

