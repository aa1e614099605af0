/** Whether there is a cluster: told apart are one that was never reached, and one that went away. */

import { RequestError, UnreachableError } from "./errors.js";
import type { Log } from "./log.js";
import { requestError } from "./status.js";

/** What grpc-js says when it found no way to an address. A connection that broke is said otherwise. */
const NO_WAY = /^(No connection established|Name resolution failed)/;
const ADVICE = "start one with `toolplane serve`, or name another with TOOLPLANE_ENDPOINT or `endpoint`";

/** What one connection knows of its cluster. @internal */
export class Reach {
  #reached = false;
  #said = false;

  constructor(
    readonly endpoint: string,
    /** How long a first connection is tried, in milliseconds. */
    readonly connectMs: number,
    readonly log: Log,
  ) {}

  /** There was an answer. */
  answered(): void {
    this.#reached = true;
    if (this.#said) this.log("info", `the cluster at \`${this.endpoint}\` answers again`);
    this.#said = false;
  }

  /** What a failed request means: an {@link UnreachableError} as long as there never was a connection. */
  failed(thrown: unknown): unknown {
    const error = requestError(thrown);
    if (!(error instanceof RequestError)) return error;
    if (error.code === "UNAVAILABLE" && NO_WAY.test(error.message)) return this.#reached ? error : this.#unreachable(error);
    // A connection that broke, or a cluster that refused. Of a time that is up, or a certificate, nothing is known.
    if (!["DEADLINE_EXCEEDED", "CANCELLED", "TLS"].includes(error.code)) this.#reached = true;
    return error;
  }

  /** A request is about to be made again. Said once, until there is an answer. */
  waits(error: RequestError): void {
    if (this.#said) return;
    this.#said = true;
    const away = error instanceof UnreachableError ? error.message : `no answer from \`${this.endpoint}\`: ${error.message}`;
    this.log("warn", `${away}; trying again`);
  }

  #unreachable(error: RequestError): UnreachableError {
    // What the network says, without what grpc-js says around it.
    const [, network] = /Last error: (?:Error: )?(.*?)\.? Resolution note:/.exec(error.message) ?? [];
    const reason = network ?? error.message.replace(" [UNAVAILABLE]", "");
    return new UnreachableError(`cannot reach a cluster at \`${this.endpoint}\`: ${reason}; ${ADVICE}`, { cause: error });
  }
}
