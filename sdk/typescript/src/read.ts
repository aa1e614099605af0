/** Bytes that are kept by reference: read whole or by range, and proved by their digest. */

import { createHash } from "node:crypto";

import type { Connection } from "./connection.js";
import { DigestError, RequestError } from "./errors.js";
import { ReadPayloadRequest, type ReadPayloadResponse } from "./gen/toolplane/v1/invocation_service.js";
import type { PayloadRef } from "./gen/toolplane/v1/payload.js";
import { backoff, messages, pause } from "./rpc.js";
import { isAway } from "./status.js";

/** Which bytes to read. */
export interface ReadOptions {
  /** First byte; 0 when absent. */
  offset?: number;
  /** Most bytes; to the end when absent. */
  limit?: number;
  /** Ends the reading. */
  signal?: AbortSignal;
}

/** How often a broken reading is taken up again before it fails. */
const TRIES = 5;

/** Where kept bytes are read from. @internal */
export class PayloadSource {
  constructor(readonly connection: Connection) {}

  kept(invocationId: string, ref: PayloadRef, name: string): Kept {
    return new Kept(this, invocationId, ref, name);
  }

  /** The bytes, from one request after another when a stream breaks. A reading of the whole proves the digest at its end. */
  async *read(invocationId: string, uri: string, options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, void> {
    const { connection } = this;
    const offset = options.offset ?? 0;
    const whole = offset === 0 && options.limit === undefined;
    const hash = whole ? createHash("sha256") : undefined;
    let [read, failures, digest] = [0, 0, Buffer.alloc(0)];
    for (;;) {
      const left = options.limit === undefined ? 0 : options.limit - read;
      if (options.limit !== undefined && left <= 0) return;
      try {
        for await (const message of this.#stream(invocationId, uri, offset + read, left, options.signal)) {
          read += message.data.length;
          failures = 0;
          hash?.update(message.data);
          if (message.sha256.length > 0) digest = Buffer.from(message.sha256);
          if (message.data.length > 0) yield message.data;
          if (message.eof) break;
        }
        if (hash !== undefined && !hash.digest().equals(digest)) throw new DigestError(uri);
        return;
      } catch (error) {
        if (!isAway(error) || (failures += 1) > TRIES) throw error;
        connection.reach.waits(error);
        await pause(backoff(failures), options.signal);
      }
    }
  }

  #stream(id: string, uri: string, offset: number, limit: number, signal?: AbortSignal): AsyncGenerator<ReadPayloadResponse> {
    const request = ReadPayloadRequest.fromPartial({
      invocationId: id,
      selector: { $case: "uri", value: uri },
      offset: BigInt(offset),
      limit: BigInt(limit),
    });
    const { connection } = this;
    return messages(connection, () => connection.invocations.readPayload(request, connection.metadata()), signal);
  }
}

/** One output that is kept elsewhere. */
export class Kept {
  readonly #source: PayloadSource;

  /** @internal */
  constructor(
    source: PayloadSource,
    /** The call it is of. */
    readonly invocationId: string,
    /** Where it is, its media type, digest and size. */
    readonly ref: PayloadRef,
    /** The name of an artifact, e.g. `out/rows.csv`; empty for outputs. */
    readonly name: string,
  ) {
    this.#source = source;
  }

  /** Its size in bytes. */
  get size(): number {
    return Number(this.ref.sizeBytes);
  }

  /** Its media type, e.g. `text/plain`. */
  get mediaType(): string {
    return this.ref.mediaType;
  }

  /** Its bytes, as they come. Without a range, the last step fails with a {@link DigestError} when they are not those that were kept. */
  read(options: ReadOptions = {}): AsyncGenerator<Uint8Array, void, void> {
    return this.#source.read(this.invocationId, this.ref.uri, options);
  }

  /** The same as a stream of the web platform. */
  stream(options: ReadOptions = {}): ReadableStream<Uint8Array> {
    const bytes = this.read(options);
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await bytes.return()),
    });
  }

  /** All of its bytes, held in memory. */
  async bytes(options: ReadOptions = {}): Promise<Buffer> {
    const parts: Uint8Array[] = [];
    for await (const part of this.read(options)) parts.push(part);
    const whole = Buffer.concat(parts);
    const complete = (options.offset ?? 0) === 0 && options.limit === undefined;
    if (complete && this.ref.digest !== `sha256:${createHash("sha256").update(whole).digest("hex")}`) {
      throw new DigestError(this.ref.uri);
    }
    return whole;
  }

  /** All of it as text. */
  async text(): Promise<string> {
    return (await this.bytes()).toString("utf8");
  }
}

/** That a stream ended before its last message. @internal */
export function cutShort(what: string): RequestError {
  return new RequestError(`the stream of ${what} ended too early`, "UNAVAILABLE", "retry_later", "UNAVAILABLE");
}
