/** The worker's side: functions of a program, as tools of a cluster. */

import { availableParallelism } from "node:os";

import { Connection, readEndpoint, readSettings, type ConnectionOptions, type Settings } from "../connection.js";
import { RequestError, SettingsError } from "../errors.js";
import { toStandardError, type Log } from "../log.js";
import { ask } from "../rpc.js";
import { defaultFolder, takeIdentity, type Identity } from "./identity.js";
import { Heartbeats } from "./heartbeats.js";
import { Reply } from "./output.js";
import { toListed, toRegistration } from "./registration.js";
import type { Report } from "./session.js";
import { toJsonSchema, type Handler, type Schema, type Tool, type ToolOptions } from "./tool.js";
import { Work } from "./work.js";

/** Version of this package, as its records say it. */
export const VERSION = "0.1.0";

/** How a worker runs. */
export interface WorkerOptions extends ConnectionOptions {
  /** Calls at a time; two per processor when absent. */
  slots?: number;
  /** The worker's id, stable over restarts; made up once and kept when absent. */
  workerId?: string;
  /** Where it keeps its id and its journal; `$XDG_STATE_HOME/toolplane/workers/<name>` when absent. Must outlive a restart. */
  folder?: string;
  /**
   * Register the tools at start, which needs the role `operator`; true when absent. False for tools that are declared elsewhere, or come
   * from a provider of the kind `worker`.
   */
  register?: boolean;
  /** Providers of the kind `worker` to tell, at each connection, that the tools may have changed. */
  providers?: readonly { tenant: string; id: string }[];
  /** How long running calls may take to end when the worker is to, in milliseconds; 30 s when absent. */
  drainMs?: number;
  /** Drain on SIGTERM and SIGINT; true when absent. */
  handleSignals?: boolean;
  /**
   * Tools start processes that may outlive this one. Then nothing is claimed about an earlier start of the worker, and its calls are
   * settled by the time of their leases.
   */
  survivors?: boolean;
  /** Hears what happens; standard error when absent. Never told arguments, results or tokens. */
  log?: Log;
}

const NAME = /^[a-zA-Z][\w-]*(\.[\w-]+)*$/;
/** How long the cluster may take to acknowledge the last endings, in milliseconds. */
const ACKNOWLEDGE_MS = 3_000;
/** How long tools that were asked to stop are waited for, in milliseconds. */
const STOP_MS = 3_000;

/** A program that runs tools. It serves its own tools only, so it runs beside any other worker. */
export class Worker {
  /** The namespace of its tools. */
  readonly name: string;
  readonly #options: WorkerOptions;
  readonly #tools = new Map<string, { options: ToolOptions; handler: Handler<Schema> }>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(name: string, options: WorkerOptions = {}) {
    if (!NAME.test(name)) throw new SettingsError(`\`${name}\` is no name: letters, digits, \`_\`, \`-\`, and dots between`);
    this.name = name;
    this.#options = options;
  }

  /** Adds a tool: `name` beneath the worker's own, e.g. `acme.word_count`. Before {@link run}. */
  tool<S extends Schema | undefined = undefined>(name: string, options: ToolOptions<S>, handler: Handler<S>): this {
    if (!/^[\w-]+$/.test(name)) throw new SettingsError(`\`${name}\` is no name of a tool: letters, digits, \`_\` and \`-\``);
    if (name === "list_tools") throw new SettingsError("`list_tools` is how a provider asks what there is, and no tool");
    if (this.#tools.has(name)) throw new SettingsError(`there are two tools \`${name}\``);
    if (this.#running) throw new SettingsError("the worker runs already");
    this.#tools.set(name, { options: options as ToolOptions, handler: handler as Handler<Schema> });
    return this;
  }

  /**
   * Registers the tools and serves them until {@link stop}, SIGTERM or SIGINT; returns when all that ran has ended. A cluster that is
   * away, or not there yet, is waited for.
   */
  run(): Promise<void> {
    this.#running ??= this.#serve();
    return this.#running;
  }

  /** Takes no more calls, lets those that run end, says goodbye. {@link run} returns then. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #serve(): Promise<void> {
    const settings = readSettings(this.#options);
    const tools = await this.#built();
    const folder = this.#options.folder ?? defaultFolder(this.name);
    const identity = await takeIdentity(this.name, folder, this.#options.workerId);
    if (this.#options.survivors) Object.assign(identity, { previousDead: false });
    const line = new Line(settings, this.#log);
    const stop = (): void => this.#stop.abort();
    const signals = this.#options.handleSignals === false ? [] : (["SIGTERM", "SIGINT"] as const);
    signals.forEach((signal) => process.once(signal, stop));
    try {
      if (this.#options.register !== false) await this.#register(line.connection, tools);
      if (!this.#stop.signal.aborted) await this.#work(line, identity, tools);
    } finally {
      signals.forEach((signal) => process.removeListener(signal, stop));
      await identity.release();
      line.close();
    }
  }

  /** The tools with their schemas, by native name; and the one that tells what there is. */
  async #built(): Promise<Map<string, Tool>> {
    const built = new Map<string, Tool>();
    for (const [name, { options, handler }] of this.#tools) {
      const input = (await toJsonSchema(options.input, "input")) ?? { type: "object" };
      built.set(`${this.name}.${name}`, { name, options, handler, input, output: await toJsonSchema(options.output, "output") });
    }
    if (built.size === 0) throw new SettingsError("the worker has no tools");
    const listed = [...built].map(([native, tool]) => toListed(native, tool));
    const list = { name: "list_tools", options: { description: "Tells what there is." }, input: { type: "object" }, output: undefined };
    built.set(`${this.name}.list_tools`, { ...list, handler: () => new Reply({ value: { tools: listed } }) });
    return built;
  }

  async #register(connection: Connection, tools: Map<string, Tool>): Promise<void> {
    const own = [...tools].filter(([, tool]) => tool.name !== "list_tools");
    const request = { tools: own.map(([native, tool]) => toRegistration(this.name, native, tool)), validateOnly: false };
    // For as long as it takes: a worker may start before its cluster.
    const asking = { awayMs: Infinity, signal: this.#stop.signal };
    try {
      await ask(connection, connection.surfaces, (client) => client.registerTools, request, asking);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!(error instanceof RequestError) || error.status !== "PERMISSION_DENIED") throw error;
      const advice =
        `registering tools needs the role \`operator\`, which this credential does not have: give the worker one that has it, or set ` +
        `\`register: false\` and add a provider (\`toolplane providers add ${this.name} --worker ${this.name}.\`)`;
      throw new RequestError(advice, error.code, error.retry, error.status, [], undefined, { cause: error });
    }
  }

  async #work(line: Line, identity: Identity, tools: Map<string, Tool>): Promise<void> {
    const { workerId, incarnation, previousDead: previousIncarnationDead } = identity;
    const uploader = { workerId, incarnation, previousIncarnationDead };
    let heartbeats: Heartbeats | undefined;
    const leaving = new Leaving();
    const work: Work = new Work({
      identity,
      uploader,
      version: VERSION,
      slots: this.#options.slots ?? 2 * availableParallelism(),
      nativeTools: [...tools.keys()],
      find: (native) => tools.get(native),
      connection: () => line.connection,
      heartbeats: () => heartbeats as Heartbeats,
      log: this.#log,
      onLeave: (others) => leaving.begin(() => work, line, others, (settings) => heartbeats?.connect(settings)),
      news: () => this.#news(),
    });
    heartbeats = new Heartbeats(
      uploader,
      (answer) => work.heartbeat(answer),
      (leaseId) => work.doubt(leaseId),
    );
    heartbeats.connect(line.settings);
    const over = new AbortController();
    const session = work.session.run((failures) => line.reach(failures, heartbeats), over.signal);
    const stopped = new Promise<void>((resolve) => {
      if (this.#stop.signal.aborted) resolve();
      else this.#stop.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    try {
      await Promise.race([stopped, session]);
      await this.#drain(work);
      await work.session.goodbye(() => over.abort());
      if (!over.signal.aborted) over.abort();
      // One that was not welcomed has heard no goodbye.
      work.session.cut();
      await session;
    } finally {
      heartbeats.end();
    }
  }

  async #drain(work: Work): Promise<void> {
    const log = this.#log;
    work.close();
    log("info", "the worker drains", { open: work.open });
    if (await work.idle(this.#options.drainMs ?? 30_000)) return;
    log("warn", "calls outlast the drain; stopping them", { open: work.open });
    work.stopAll();
    if (!(await work.idle(STOP_MS + ACKNOWLEDGE_MS))) log("warn", "not every ending was acknowledged", { open: work.open });
  }

  get #log(): Log {
    return this.#options.log ?? toStandardError;
  }

  #news(): Report[] {
    return (this.#options.providers ?? []).map(({ tenant, id }) => ({
      $case: "providerChanged",
      value: { tenant, providerId: id },
    }));
  }
}

/** The connection of a worker, to one scheduler after another. */
class Line {
  settings: Settings;
  connection: Connection;

  readonly #home: string;

  constructor(
    settings: Settings,
    readonly log: Log,
  ) {
    this.settings = settings;
    this.#home = settings.target;
    this.connection = this.#open();
  }

  /** A first connection is waited for. */
  #open(): Connection {
    return new Connection(this.settings, { connectMs: Infinity, log: this.log });
  }

  /** The connection to try next: back to where the worker was told to begin, when where it was sent to does not welcome it. */
  reach(failures: number, heartbeats: Heartbeats | undefined): Connection {
    if (failures > 1 && this.settings.target !== this.#home) {
      this.#to(this.#home);
      heartbeats?.connect(this.settings);
    }
    return this.connection;
  }

  /** Goes to another scheduler of the same cluster. It is as far away, so a token may go there if TLS is as it was. */
  go(endpoint: string): void {
    const { target, tls } = readEndpoint(endpoint);
    if (tls !== this.settings.tls) return;
    this.#to(target);
  }

  #to(target: string): void {
    this.settings = { ...this.settings, target };
    this.connection.close();
    this.connection = this.#open();
  }

  close(): void {
    this.connection.close();
  }
}

/** Leaving a scheduler that asks for it: with what runs when there is another one, else when nothing runs. */
class Leaving {
  #under = false;

  begin(work: () => Work, line: Line, others: string[], told: (settings: Settings) => void): void {
    if (this.#under) return;
    this.#under = true;
    const next = others[0];
    const leave = async (): Promise<void> => {
      if (next === undefined) await work().idle(2 ** 31 - 1);
      await work().session.goodbye();
      if (next !== undefined) {
        line.go(next);
        told(line.settings);
      }
      this.#under = false;
    };
    void leave();
  }
}
