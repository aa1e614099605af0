// Compiles `src` to `dist`, from nothing: what is no longer in `src` is not left behind.

import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
rmSync(join(root, "dist"), { recursive: true, force: true });
const compiler = join(root, "node_modules/typescript/bin/tsc");
process.exitCode = spawnSync(process.execPath, [compiler, "-p", root], { stdio: "inherit" }).status ?? 1;
