// Writes `src/gen` anew from `proto/` at the root of the repository; with `--check`, says whether it would change.
// Nothing but packages of npm is needed: the compiler is `buf`, the generator `ts-proto`.

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const checked = join(root, "src/gen");
const check = process.argv.includes("--check");

/** Every file below a folder, with its text. */
function files(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      return [relative(folder, path), readFileSync(path, "utf8")];
    }),
  );
}

function generate(folder) {
  const plugin = join(root, "node_modules/.bin/protoc-gen-ts_proto");
  const template = JSON.stringify({
    version: "v2",
    plugins: [
      {
        local: plugin,
        out: folder,
        strategy: "all",
        include_imports: true,
        opt: [
          "esModuleInterop=true",
          "importSuffix=.js",
          "env=node",
          "forceLong=bigint",
          "oneof=unions-value",
          "outputServices=grpc-js",
          "outputJsonMethods=false",
          "outputIndex=false",
          "useExactTypes=false",
          "unrecognizedEnum=false",
          // The versions of the tools are those of package-lock.json, not of the machine.
          "annotateFilesWithVersion=false",
        ],
      },
    ],
  });
  const buf = join(root, "node_modules/.bin/buf");
  execFileSync(buf, ["generate", join(root, "../../proto"), "--template", template], { cwd: root, stdio: "inherit" });
}

if (check) {
  const folder = mkdtempSync(join(tmpdir(), "toolplane-gen-"));
  try {
    generate(folder);
    const [fresh, old] = [files(folder), files(checked)];
    const names = new Set([...fresh.keys(), ...old.keys()]);
    const stale = [...names].filter((name) => fresh.get(name) !== old.get(name));
    if (stale.length > 0) {
      console.error(`not fresh: ${stale.join(", ")}; run \`npm run generate\``);
      process.exitCode = 1;
    } else {
      console.log(`${fresh.size} generated files are fresh`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else {
  rmSync(checked, { recursive: true, force: true });
  generate(checked);
  console.log(`${files(checked).size} files written`);
}
