// A worker with a tool that stops when it is asked to, and one that keeps the whole thread.

import { Worker } from "toolplane";

const worker = new Worker("acme", { folder: process.argv[2], register: false });
worker.tool("listens", { description: "Listens." }, (_args, { signal }) => new Promise((_, stop) => signal.addEventListener("abort", () => stop(signal.reason))));
worker.tool("deaf", { description: "Does not listen." }, () => {
  for (;;);
});
await worker.run();
