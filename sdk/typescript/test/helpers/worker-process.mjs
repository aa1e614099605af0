// Workers in processes of their own, which can be killed. They tell what happens in them.

import { fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { PATIENCE_MS } from "./cluster.mjs";

const PROGRAM = fileURLToPath(new URL("../workers/tools.mjs", import.meta.url));

/** A folder that ends with the test: a worker's state, and the ledger of what ran. */
export function folder(test) {
  const path = mkdtempSync(join(tmpdir(), "toolplane-sdk-"));
  test.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** The lines of a ledger: what ran, in order. */
export function ledger(path) {
  try {
    return readFileSync(join(path, "ledger"), "utf8").split("\n").filter(Boolean);
  } catch {
    return [];
  }
}

export class WorkerProcess {
  #events = new EventEmitter();
  #seen = [];

  constructor(test, name, path, { endpoint, ...env } = {}) {
    const all = { ...process.env, ...env, NAME: name, FOLDER: path };
    if (endpoint) all.TOOLPLANE_ENDPOINT = endpoint;
    this.child = fork(PROGRAM, { env: all, stdio: ["ignore", "inherit", "pipe", "ipc"] });
    this.said = "";
    this.child.stderr.on("data", (text) => {
      this.said += text;
      this.#events.emit("message");
    });
    this.child.on("message", (message) => {
      this.#seen.push(message);
      this.#events.emit("message");
    });
    this.ended = once(this.child, "exit");
    test.after(() => this.child.kill("SIGKILL"));
  }

  /** A worker that is connected. */
  static async start(test, name, path, options) {
    const worker = new WorkerProcess(test, name, path, options);
    await worker.tells("connected");
    return worker;
  }

  /** Waits for what the worker tells; each is told once. */
  async tells(event) {
    return await this.#until(event, () => {
      const at = this.#seen.findIndex((message) => message.event === event);
      return at >= 0 ? this.#seen.splice(at, 1)[0] : undefined;
    });
  }

  /** Waits for words in its log. */
  async says(words) {
    await this.#until(words, () => this.said.includes(words) || undefined);
  }

  async #until(event, look) {
    const late = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const heard = once(this.#events, "message", { signal: late }).then(() => "heard");
      const exit = this.ended.then(([code, signal]) => `exit ${code ?? signal}`);
      const what = await Promise.race([heard, exit]).catch(() => "nothing");
      if (what !== "heard") throw new Error(`the worker never told \`${event}\` (${what}):\n${this.said}`);
    }
  }

  send(message) {
    this.child.send(message);
  }

  /** Ends it without a word. */
  async kill() {
    this.child.kill("SIGKILL");
    await this.ended;
  }

  /** Asks it to end, as an operator would; its exit code. */
  async terminate() {
    this.child.kill("SIGTERM");
    const [code] = await this.ended;
    return code;
  }
}
