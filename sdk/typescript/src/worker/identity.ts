/**
 * Who a worker is: a directory with its id and its journal, which one process has at a time.
 *
 * Whether an earlier process is gone is the kernel's word: each listens at a socket in its directory for as long as it lives. Nobody
 * answers at the socket of a process that is gone, on the machine and since the boot it was made in; of any other nothing is known.
 */

import { randomBytes } from "node:crypto";
import { link, mkdir, open, readdir, readFile, readlink, rm, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { homedir, hostname } from "node:os";
import { join } from "node:path";

import { SettingsError } from "../errors.js";
import { Journal } from "./journal.js";

/** A directory that this process has. */
export interface Identity {
  readonly workerId: string;
  /** New at every start. */
  readonly incarnation: string;
  /** Every process of an earlier start is gone. */
  readonly previousDead: boolean;
  readonly journal: Journal;
  /** Closes the journal, and lets another process have the directory. */
  release(): Promise<void>;
}

/** Most processes of one name on one machine. */
const MOST = 1_000;

/** No scheduler gives a longer lease, in milliseconds. */
const LONGEST_LEASE_MS = 3_600_000;

interface Owner {
  socket: string;
  machine: string;
}

/** Where workers of a name keep what they know, unless they are told. */
export function defaultFolder(name: string, env: NodeJS.ProcessEnv = process.env): string {
  const state = env.TOOLPLANE_STATE_DIR || join(env.XDG_STATE_HOME || join(homedir(), ".local/state"), "toolplane");
  return join(state, "workers", name);
}

/** Takes the directory of a worker: the one of its id, or the first of its name that no other process has. */
export async function takeIdentity(name: string, folder: string, workerId: string | undefined): Promise<Identity> {
  if (workerId !== undefined) {
    const taken = await take(join(folder, workerId.replace(/[^\w.-]/g, "_")), workerId);
    if (taken) return taken;
    throw new SettingsError(`another process is the worker \`${workerId}\` already; give each an id of its own`);
  }
  for (let at = 1; at <= MOST; at += 1) {
    const taken = await take(join(folder, String(at)), undefined, name);
    if (taken) return taken;
  }
  throw new SettingsError(`${MOST} processes have directories in ${folder} already`);
}

async function take(folder: string, id: string | undefined, name = "worker"): Promise<Identity | undefined> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const machine = await thisMachine();
  const owners = await owned(folder);
  const newest = owners.at(-1);
  const before = newest === undefined ? "none" : await stateOf(folder, newest, machine);
  if (before === "alive") return undefined;
  const incarnation = randomBytes(8).toString("hex");
  const server = await listen(folder, `${incarnation}.sock`);
  // The number after the newest can be taken once: of two processes that start together, one has it. It comes with all it says.
  const [draft, next] = [join(folder, `${incarnation}.draft`), ownerPath(folder, (newest ?? 0) + 1)];
  await writeFile(draft, JSON.stringify({ socket: `${incarnation}.sock`, machine } satisfies Owner), { flush: true } as object);
  const won = await link(draft, next).then(
    () => true,
    () => false,
  );
  await rm(draft, { force: true });
  if (!won) {
    await closed(server);
    return undefined;
  }
  await tidy(folder, owners, before === "unknown", incarnation);
  const journal = await Journal.at(join(folder, "endings"));
  const release = async (): Promise<void> => {
    await journal.close();
    await closed(server);
  };
  const workerId = id ?? (await keptId(folder, name));
  // A crash of before the first call leaves nothing behind; neither does a first start.
  const previousDead = before !== "unknown" && !(await hasDoubt(folder));
  return { workerId, incarnation, previousDead, journal, release };
}

function ownerPath(folder: string, owner: number): string {
  return join(folder, `owner.${String(owner).padStart(9, "0")}`);
}

/** The numbers of the processes that have had a directory, in order. */
async function owned(folder: string): Promise<number[]> {
  const names = (await readdir(folder)).filter((name) => /^owner\.\d+$/.test(name));
  return names.map((name) => Number(name.slice(6))).sort((a, b) => a - b);
}

async function stateOf(folder: string, owner: number, machine: string): Promise<"alive" | "gone" | "unknown"> {
  // One that is no longer there was of a process before the one that takes its place now.
  const text = await readFile(ownerPath(folder, owner), "utf8").catch(() => "{}");
  const said = JSON.parse(text) as Partial<Owner>;
  if (said.socket === undefined) return "unknown";
  if (await answers(folder, said.socket)) return "alive";
  return said.machine === machine ? "gone" : "unknown";
}

/** Removes what earlier processes left. One of which nothing is known is noted: a later start knows no more about it. */
async function tidy(folder: string, owners: number[], doubt: boolean, incarnation: string): Promise<void> {
  if (doubt) await writeFile(join(folder, "doubt"), incarnation);
  for (const owner of owners) await rm(ownerPath(folder, owner), { force: true });
  const sockets = (await readdir(folder)).filter((name) => name.endsWith(".sock") && name !== `${incarnation}.sock`);
  for (const socket of sockets) await rm(join(folder, socket), { force: true });
}

/** Whether a process may be left of which nothing is known. After the longest lease there is, it holds none any more. */
async function hasDoubt(folder: string): Promise<boolean> {
  const noted = await stat(join(folder, "doubt")).catch(() => undefined);
  return noted !== undefined && Date.now() - noted.mtimeMs < LONGEST_LEASE_MS;
}

async function keptId(folder: string, name: string): Promise<string> {
  const path = join(folder, "worker_id");
  const kept = (await readFile(path, "utf8").catch(() => "")).trim();
  if (kept !== "") return kept;
  const made = `${name}-${randomBytes(6).toString("hex")}`;
  await writeFile(path, made, { flush: true } as object);
  return made;
}

/** The machine since its boot: a socket made elsewhere or before says nothing here. */
async function thisMachine(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  return `${hostname()} ${boot.trim()}`;
}

/** Sockets have short paths only; through the directory's own handle any directory will do. */
async function withPath<T>(folder: string, name: string, use: (path: string) => Promise<T>): Promise<T> {
  const path = join(folder, name);
  if (Buffer.byteLength(path) < 100 || process.platform !== "linux") return await use(path);
  const handle = await open(folder, "r");
  try {
    const short = `/proc/self/fd/${handle.fd}`;
    await readlink(short);
    return await use(`${short}/${name}`);
  } finally {
    await handle.close();
  }
}

async function listen(folder: string, name: string): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  await withPath(folder, name, async (path) => {
    await new Promise<void>((listening, failed) => {
      server.once("error", failed);
      server.listen(path, listening);
    });
  });
  return server;
}

async function answers(folder: string, name: string): Promise<boolean> {
  return await withPath(folder, name, async (path) => {
    return await new Promise<boolean>((answer) => {
      const socket = connect(path);
      socket.once("connect", () => (socket.destroy(), answer(true)));
      socket.once("error", () => answer(false));
    });
  });
}

async function closed(server: Server): Promise<void> {
  await new Promise<void>((done) => server.close(() => done()));
}
