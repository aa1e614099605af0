/**
 * Endings on disk: what a tool has done is written down and flushed before it is reported, so that a crash between the two loses
 * nothing.
 *
 * One file, only appended to: an ending, or that one was acknowledged. A file of which everything was acknowledged is begun anew.
 * Entries that arrive while the disk is busy are flushed together.
 */

import { createHash } from "node:crypto";
import { open, readFile, type FileHandle } from "node:fs/promises";

import { ExecutionDone } from "../gen/toolplane/v1/worker.js";

/** Length and check of an entry's bytes. */
const HEAD = 12;
const KIND = { ended: 1, settled: 2 } as const;
/** The file is begun anew from this size on, as soon as nothing in it is open. */
const ANEW_FROM = 64 * 1024;

function frame(kind: number, bytes: Uint8Array): Buffer {
  const body = Buffer.concat([Buffer.of(kind), bytes]);
  const head = Buffer.alloc(HEAD);
  head.writeUInt32LE(body.length);
  createHash("sha256").update(body).digest().copy(head, 4, 0, 8);
  return Buffer.concat([head, body]);
}

/** The whole entries of a file, and where they end: what follows was being written when the process ended. */
function frames(file: Buffer): { bodies: Buffer[]; end: number } {
  const bodies: Buffer[] = [];
  let end = 0;
  while (end + HEAD <= file.length) {
    const size = file.readUInt32LE(end);
    const body = file.subarray(end + HEAD, end + HEAD + size);
    const check = createHash("sha256").update(body).digest().subarray(0, 8);
    if (size === 0 || body.length < size || !check.equals(file.subarray(end + 4, end + HEAD))) break;
    bodies.push(body);
    end += HEAD + size;
  }
  return { bodies, end };
}

/** The journal of one worker. Only one process may have it open. */
export class Journal {
  readonly #file: FileHandle;
  #size: number;
  readonly #open: Map<string, ExecutionDone>;
  #waiting: { entry: Buffer; written: () => void; failed: (error: unknown) => void }[] = [];
  #writing: Promise<void> | undefined;

  private constructor(file: FileHandle, size: number, kept: Map<string, ExecutionDone>) {
    this.#file = file;
    this.#size = size;
    this.#open = kept;
  }

  /** Opens the journal at `path`, with the endings that were never acknowledged. */
  static async at(path: string): Promise<Journal> {
    const { bodies, end } = frames(await readFile(path).catch(() => Buffer.alloc(0)));
    const kept = new Map<string, ExecutionDone>();
    for (const body of bodies) {
      const bytes = body.subarray(1);
      if (body[0] === KIND.settled) kept.delete(bytes.toString("utf8"));
      if (body[0] !== KIND.ended) continue;
      const done = ExecutionDone.decode(bytes);
      if (done.lease) kept.set(done.lease.leaseId, done);
    }
    // Not for appending: a position can be given to each write, and what a crash left half is written over.
    const file = await open(path, "a").then(async (made) => (await made.close(), await open(path, "r+")));
    await file.truncate(end);
    await file.sync();
    return new Journal(file, end, kept);
  }

  /** Endings that are not acknowledged. */
  get endings(): ExecutionDone[] {
    return [...this.#open.values()];
  }

  /** Writes an ending down; when this returns, it is on disk. */
  async ended(done: ExecutionDone): Promise<void> {
    if (done.lease) this.#open.set(done.lease.leaseId, done);
    await this.#append(frame(KIND.ended, ExecutionDone.encode(done).finish()));
  }

  /** Forgets an ending: somebody else has it, or nobody wants it. */
  settled(leaseId: string): void {
    // Lost in a crash, it is reported once more, which changes nothing: nobody waits for it.
    if (this.#open.delete(leaseId)) this.#append(frame(KIND.settled, Buffer.from(leaseId))).catch(() => {});
  }

  /** Ends the journal, after all that is being written. */
  async close(): Promise<void> {
    await this.#writing;
    await this.#file.close();
  }

  #append(entry: Buffer): Promise<void> {
    return new Promise((written, failed) => {
      this.#waiting.push({ entry, written, failed });
      this.#writing ??= this.#write().finally(() => (this.#writing = undefined));
    });
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0);
      try {
        if (this.#size >= ANEW_FROM && this.#isDone(batch.length)) await this.#restart();
        const bytes = Buffer.concat(batch.map(({ entry }) => entry));
        await this.#file.write(bytes, 0, bytes.length, this.#size);
        await this.#file.datasync();
        this.#size += bytes.length;
        batch.forEach(({ written }) => written());
      } catch (error) {
        batch.forEach(({ failed }) => failed(error));
      }
    }
  }

  /** Whether every open ending is among those about to be written, so that nothing in the file is needed. */
  #isDone(coming: number): boolean {
    return this.#open.size === 0 && coming > 0;
  }

  async #restart(): Promise<void> {
    await this.#file.truncate(0);
    await this.#file.sync();
    this.#size = 0;
  }
}
