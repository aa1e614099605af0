/** Bytes too large for a report go to the cluster before the report names them. */

import { createHash } from "node:crypto";

import type { Connection } from "../connection.js";
import { RequestError } from "../errors.js";
import type { PayloadRef } from "../gen/toolplane/v1/payload.js";
import type { LeaseRef } from "../gen/toolplane/v1/worker.js";
import { UploadPayloadRequest, type UploadPayloadResponse } from "../gen/toolplane/v1/worker_service.js";
import { backoff, pause } from "../rpc.js";
import { isAway } from "../status.js";
import { TooLarge, type File } from "./output.js";

/** Bytes of one message; a listener takes 1 MiB. */
const CHUNK = 256 * 1024;
/** How long the cluster may be away before the bytes are given up, in milliseconds. */
const AWAY_MS = 60_000;

/** Who uploads. */
export interface Uploader {
  workerId: string;
  incarnation: string;
  previousIncarnationDead: boolean;
}

/** Keeps bytes of a call; when this returns they are durable. What is given as a stream can be sent once only. */
export async function upload(
  connection: () => Connection,
  uploader: Uploader,
  lease: LeaseRef,
  name: string,
  mediaType: string,
  data: File["data"],
  signal?: AbortSignal,
): Promise<PayloadRef> {
  const until = Date.now() + AWAY_MS;
  for (let tries = 0; ; tries += 1) {
    try {
      return await once(connection(), { lease, name, mediaType, ...uploader }, data);
    } catch (error) {
      const again = data instanceof Uint8Array && isAway(error) && Date.now() < until;
      if (!again) throw error;
      await pause(backoff(tries), signal);
    }
  }
}

type Header = Uploader & { lease: LeaseRef; name: string; mediaType: string };

async function once(connection: Connection, header: Header, data: File["data"]): Promise<PayloadRef> {
  let answered!: (answer: UploadPayloadResponse) => void, failed!: (error: unknown) => void;
  const answer = new Promise<UploadPayloadResponse>((resolve, reject) => ([answered, failed] = [resolve, reject]));
  answer.catch(() => {});
  const call = connection.workers.uploadPayload(connection.metadata(), (error, response) => {
    if (error) failed(tooLarge(header.name, connection.reach.failed(error)));
    else answered(response);
  });
  const send = (part: UploadPayloadRequest["part"]): Promise<unknown> | undefined =>
    // A full buffer is waited for, unless the request has failed meanwhile.
    call.write({ part }) ? undefined : Promise.race([new Promise((drained) => call.once("drain", drained)), answer]);
  const hash = createHash("sha256");
  let size = 0;
  try {
    await send({ $case: "header", value: header });
    for await (const bytes of chunks(data)) {
      hash.update(bytes);
      size += bytes.length;
      await send({ $case: "chunk", value: Buffer.from(bytes) });
    }
    call.end();
  } catch (error) {
    call.cancel();
    throw error;
  }
  const { payload } = await answer;
  if (payload?.digest !== `sha256:${hash.digest("hex")}` || Number(payload.sizeBytes) !== size) {
    throw new Error("the cluster kept other bytes than were sent");
  }
  return payload;
}

/** More than the cluster keeps (`objects.max_bytes`) is a failure of its own. */
function tooLarge(name: string, error: unknown): unknown {
  const is = error instanceof RequestError && error.status === "FAILED_PRECONDITION" && error.message.includes("larger than");
  return is ? new TooLarge(`\`${name}\` is larger than may be kept: ${error.message.replace(` [${error.code}]`, "")}`) : error;
}

async function* chunks(data: File["data"]): AsyncGenerator<Uint8Array> {
  const source = data instanceof Uint8Array ? [data] : data;
  for await (const bytes of source) {
    for (let at = 0; at < bytes.length; at += CHUNK) yield bytes.subarray(at, at + CHUNK);
  }
}
