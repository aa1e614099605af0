/** The way to a cluster: address, credential, trust. The settings are those of the command line. */

import { readFileSync } from "node:fs";

import { Channel, credentials, Metadata, type ChannelCredentials, type ChannelOptions } from "@grpc/grpc-js";

import { SettingsError } from "./errors.js";
import { toStandardError, type Log } from "./log.js";
import { Reach } from "./reach.js";
import { InvocationServiceClient } from "./gen/toolplane/v1/invocation_service.js";
import { PermissionServiceClient } from "./gen/toolplane/v1/permission_service.js";
import { SurfaceServiceClient } from "./gen/toolplane/v1/surface_service.js";
import { WorkerServiceClient } from "./gen/toolplane/v1/worker_service.js";
import { ambientTrace } from "./trace.js";

/** Where the cluster is and who asks. What is left out is taken from the environment, then from the default. */
export interface ConnectionOptions {
  /** `http://` or `https://`, a host and a port; `TOOLPLANE_ENDPOINT`, `http://127.0.0.1:7420`. */
  endpoint?: string;
  /** API key, JSON Web Token or bearer token; `TOOLPLANE_TOKEN`. */
  token?: string;
  /** A file that holds it; `TOOLPLANE_TOKEN_FILE`. Read when the connection is made. */
  tokenFile?: string;
  /** A PEM file with the certificates to trust, for `https`; `TOOLPLANE_CA_FILE`. */
  caFile?: string;
  /** A PEM file with this client's certificate; `TOOLPLANE_CERT_FILE`. Needs `keyFile`. */
  certFile?: string;
  /** A PEM file with the private key of that certificate; `TOOLPLANE_KEY_FILE`. */
  keyFile?: string;
  /** The name in the cluster's certificate, when it is not the host of the endpoint; `TOOLPLANE_SERVER_NAME`. */
  serverName?: string;
  /** Send a token in clear text to a host that is not this machine. Anybody on the way can then read it. */
  allowInsecureToken?: boolean;
}

/** Settings that were read and checked. Plain data, so that a thread can be given them. @internal */
export interface Settings {
  target: string;
  tls: boolean;
  token?: string;
  ca?: Buffer;
  cert?: Buffer;
  key?: Buffer;
  serverName?: string;
}

/** Largest answer taken: a listener sends at most 4 MiB unless it was configured otherwise. */
const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

function readFile(path: string, what: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new SettingsError(`cannot read ${what} \`${path}\`: ${(error as Error).message}`);
  }
}

function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[|\]$/g, "");
  return bare === "localhost" || bare === "::1" || /^127\.\d+\.\d+\.\d+$/.test(bare);
}

/** The address of an endpoint. @internal */
export function readEndpoint(endpoint: string): { target: string; tls: boolean; loopback: boolean } {
  const address = endpoint.includes("://") ? endpoint : `http://${endpoint}`;
  let url: URL;
  try {
    url = new URL(address);
  } catch {
    throw new SettingsError(`\`${endpoint}\` is not an endpoint: it cannot be read`);
  }
  const bare = ["", "/"].includes(url.pathname) && !url.search && !url.hash && !url.username && url.hostname;
  if (!["http:", "https:"].includes(url.protocol) || !bare) {
    const rule = "it is `http://` or `https://`, a host and a port, and nothing after it";
    throw new SettingsError(`\`${endpoint}\` is not an endpoint: ${rule}`);
  }
  const tls = url.protocol === "https:";
  return { target: `${url.hostname}:${url.port || (tls ? 443 : 80)}`, tls, loopback: isLoopback(url.hostname) };
}

/** Settings from options and environment; options win. @internal */
export function readSettings(options: ConnectionOptions, env: NodeJS.ProcessEnv = process.env): Settings {
  const endpoint = options.endpoint ?? (env.TOOLPLANE_ENDPOINT || "http://127.0.0.1:7420");
  const { target, tls, loopback } = readEndpoint(endpoint);
  const token = readToken(options, env);
  if (token !== undefined && !tls && !loopback && !options.allowInsecureToken) {
    throw new SettingsError(
      `a token to ${target} over clear text could be read by others: use an \`https://\` endpoint, or allowInsecureToken`,
    );
  }
  const [caFile, certFile, keyFile] = [
    options.caFile ?? env.TOOLPLANE_CA_FILE,
    options.certFile ?? env.TOOLPLANE_CERT_FILE,
    options.keyFile ?? env.TOOLPLANE_KEY_FILE,
  ];
  if (!tls && (caFile || certFile)) throw new SettingsError("certificates need an `https://` endpoint");
  if (Boolean(certFile) !== Boolean(keyFile)) throw new SettingsError("a certificate needs its key, and a key its certificate");
  const settings: Settings = { target, tls };
  if (token !== undefined) settings.token = token;
  if (caFile) settings.ca = readFile(caFile, "the certificates to trust");
  if (certFile) settings.cert = readFile(certFile, "the certificate");
  if (keyFile) settings.key = readFile(keyFile, "the private key");
  const name = options.serverName ?? env.TOOLPLANE_SERVER_NAME;
  if (name) settings.serverName = name;
  return settings;
}

function readToken(options: ConnectionOptions, env: NodeJS.ProcessEnv): string | undefined {
  // An option of either kind outweighs the environment as a whole.
  const given = options.token !== undefined || options.tokenFile !== undefined;
  const inline = given ? options.token : env.TOOLPLANE_TOKEN || undefined;
  const file = given ? options.tokenFile : env.TOOLPLANE_TOKEN_FILE || undefined;
  const text = inline ?? (file === undefined ? undefined : readFile(file, "the token").toString("utf8"));
  if (text === undefined) return undefined;
  const token = text.trim();
  if (token === "") throw new SettingsError("the token is empty");
  if (!/^[\x21-\x7e]+$/.test(token)) throw new SettingsError("the token holds characters a header cannot carry");
  return token;
}

function channelCredentials(settings: Settings): ChannelCredentials {
  if (!settings.tls) return credentials.createInsecure();
  try {
    return credentials.createSsl(settings.ca ?? null, settings.key ?? null, settings.cert ?? null);
  } catch (error) {
    throw new SettingsError(`cannot use the certificates: ${(error as Error).message}`);
  }
}

/** How long a first connection is tried, in milliseconds, unless it is said otherwise. */
const CONNECT_MS = 5_000;

/** An open connection; every client below shares it. @internal */
export class Connection {
  readonly #channel: Channel;
  readonly #token: string | undefined;
  readonly invocations: InvocationServiceClient;
  readonly surfaces: SurfaceServiceClient;
  readonly permissions: PermissionServiceClient;
  readonly workers: WorkerServiceClient;
  /** Whether there is a cluster. */
  readonly reach: Reach;

  constructor(settings: Settings, { connectMs = CONNECT_MS, log = toStandardError }: { connectMs?: number; log?: Log } = {}) {
    const options: ChannelOptions = {
      "grpc.max_receive_message_length": MAX_ANSWER_BYTES,
      "grpc.keepalive_time_ms": 20_000,
      "grpc.keepalive_timeout_ms": 10_000,
      "grpc.initial_reconnect_backoff_ms": 100,
      "grpc.max_reconnect_backoff_ms": 2_000,
      // Retries are ours: they keep the idempotency key, and they end with the caller's deadline.
      "grpc.enable_retries": 0,
      "grpc.primary_user_agent": "toolplane-typescript",
      // Each connection is its own, so that closing one ends it, and a thread's does not wait for another's.
      "grpc.use_local_subchannel_pool": 1,
    };
    if (settings.serverName !== undefined) options["grpc.ssl_target_name_override"] = settings.serverName;
    const ours = channelCredentials(settings);
    this.#channel = new Channel(settings.target, ours, options);
    this.#token = settings.token;
    this.reach = new Reach(`${settings.tls ? "https" : "http"}://${settings.target}`, connectMs, log);
    const shared = { channelOverride: this.#channel };
    this.invocations = new InvocationServiceClient(settings.target, ours, shared);
    this.surfaces = new SurfaceServiceClient(settings.target, ours, shared);
    this.permissions = new PermissionServiceClient(settings.target, ours, shared);
    this.workers = new WorkerServiceClient(settings.target, ours, shared);
  }

  /** What goes along with a request: who asks, and the trace it belongs to. */
  metadata(): Metadata {
    const metadata = new Metadata();
    if (this.#token !== undefined) metadata.set("authorization", `Bearer ${this.#token}`);
    for (const [name, value] of Object.entries(ambientTrace())) metadata.set(name, value);
    return metadata;
  }

  /** Ends the connection once nothing is under way on it. */
  close(): void {
    this.#channel.close();
  }

  /** Never shows the token. */
  toJSON(): object {
    return { target: this.#channel.getTarget() };
  }
}
