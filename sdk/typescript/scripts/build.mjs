// Compiles `src` to `dist`, from nothing: what is no longer in `src` is not left behind. The old one stays in place until the new one is
// whole, for programs that are about to load it.

import { spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [dist, made, old] = ["dist", `dist.new-${process.pid}`, `dist.old-${process.pid}`].map((name) => join(root, name));
const compiler = join(root, "node_modules/typescript/bin/tsc");
process.exitCode = spawnSync(process.execPath, [compiler, "-p", root, "--outDir", made], { stdio: "inherit" }).status ?? 1;
if (process.exitCode === 0) {
  if (existsSync(dist)) renameSync(dist, old);
  renameSync(made, dist);
}
[made, old].forEach((folder) => rmSync(folder, { recursive: true, force: true }));
