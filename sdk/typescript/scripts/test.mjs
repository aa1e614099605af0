// Runs the tests: `unit` needs nothing, `cluster` (and no word) a cluster at TOOLPLANE_ENDPOINT in which everybody may do everything.

import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const [kind] = process.argv.slice(2);
const kinds = kind ? [kind] : ["unit", "cluster"];
if (kinds.includes("cluster") && !process.env.TOOLPLANE_ENDPOINT) {
  console.error("set TOOLPLANE_ENDPOINT to the address of a cluster for the tests, or run `npm run test:unit`");
  process.exit(2);
}
const files = kinds.flatMap((kind) => {
  const folder = join(root, "test", kind);
  return readdirSync(folder).filter((name) => name.endsWith(".test.mjs")).map((name) => join(folder, name));
});

/** One after the other: the cluster and the machine are shared. */
function run(program, args) {
  const { status } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", join(root, "test/types")]);
run(process.execPath, ["--test", "--test-concurrency=1", "--test-timeout=180000", ...files]);
