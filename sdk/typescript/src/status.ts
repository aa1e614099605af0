/** Reads `google.rpc.Status` out of the trailers of a failed request: stable reason, advice, wrong fields. */

import { BinaryReader } from "@bufbuild/protobuf/wire";
import { status as codes, type ServiceError } from "@grpc/grpc-js";

import { RequestError, type FieldViolation } from "./errors.js";

interface Details {
  reason?: string;
  retry?: string;
  retryAfterMs?: number;
  fields: FieldViolation[];
}

type Field = (number: number, reader: BinaryReader) => void;

/** Reads one message; fields that `field` leaves are skipped. */
function message(bytes: Uint8Array, field: Field): void {
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wire] = reader.tag();
    const before = reader.pos;
    field(number, reader);
    if (reader.pos === before) reader.skip(wire);
  }
}

function any(bytes: Uint8Array): { type: string; value: Uint8Array } {
  const read: { type: string; value: Uint8Array } = { type: "", value: new Uint8Array() };
  message(bytes, (number, reader) => {
    if (number === 1) read.type = reader.string();
    if (number === 2) read.value = reader.bytes();
  });
  return read;
}

/** Entries of a map, or messages of two strings. */
function pair(bytes: Uint8Array): [string, string] {
  const read: [string, string] = ["", ""];
  message(bytes, (number, reader) => {
    if (number === 1 || number === 2) read[number - 1] = reader.string();
  });
  return read;
}

function duration(bytes: Uint8Array): number {
  let ms = 0;
  message(bytes, (number, reader) => {
    if (number === 1) ms += Number(reader.int64()) * 1000;
    if (number === 2) ms += reader.int32() / 1e6;
  });
  return Math.ceil(ms);
}

const READERS: Record<string, (details: Details) => Field> = {
  "google.rpc.ErrorInfo": (details) => (number, reader) => {
    if (number === 1) details.reason = reader.string();
    if (number === 3) {
      const [key, value] = pair(reader.bytes());
      if (key === "retry") details.retry = value;
    }
  },
  "google.rpc.RetryInfo": (details) => (number, reader) => {
    if (number === 1) details.retryAfterMs = duration(reader.bytes());
  },
  "google.rpc.BadRequest": (details) => (number, reader) => {
    if (number !== 1) return;
    const [field, rule] = pair(reader.bytes());
    details.fields.push({ field, rule });
  },
};

function details(error: ServiceError): Details {
  const found: Details = { fields: [] };
  const [trailer] = error.metadata?.get("grpc-status-details-bin") ?? [];
  if (!(trailer instanceof Uint8Array)) return found;
  message(trailer, (number, reader) => {
    if (number !== 3) return;
    const { type, value } = any(reader.bytes());
    const read = READERS[type.slice(type.lastIndexOf("/") + 1)];
    if (read) message(value, read(found));
  });
  return found;
}

/** What Node says when a certificate is not the right one: waiting does not mend that. */
const TLS = /certificate|altnames|ERR_TLS|ERR_SSL|EPROTO|self.signed|SSL routines/i;
/** What it says of an answer that is no TLS. */
const PLAIN = /wrong version number/i;

/** A failed request as a {@link RequestError}. What is no error of gRPC is given back as it is. */
export function requestError(error: unknown): unknown {
  const failed = error as ServiceError;
  if (!(error instanceof Error) || typeof failed.code !== "number" || codes[failed.code] === undefined) return error;
  const status = codes[failed.code] as string;
  const { reason, retry, retryAfterMs, fields } = details(failed);
  const advice = retry ?? (failed.code === codes.UNAVAILABLE ? "retry_later" : "never");
  const text = failed.details || status;
  if (failed.code === codes.UNAVAILABLE && TLS.test(text)) {
    const why = PLAIN.test(text) ? "the port does not speak TLS; use `http://` in the endpoint" : text;
    return new RequestError(`no secure connection: ${why} [TLS]`, "TLS", "after_change", status, fields);
  }
  return new RequestError(`${text} [${reason ?? status}]`, reason ?? status, advice, status, fields, retryAfterMs);
}

/** Whether the same request may help a moment later: the cluster is not there, or cut the connection in the middle of an answer. */
export function isAway(error: unknown): error is RequestError {
  if (!(error instanceof RequestError)) return false;
  if (error.status === "UNAVAILABLE") return error.code !== "TLS";
  // A connection that ends in the middle of an answer: neither the request nor the cluster is at fault.
  return error.status === "INTERNAL" && error.code === "INTERNAL" && /RST_STREAM|connection/i.test(error.message);
}
