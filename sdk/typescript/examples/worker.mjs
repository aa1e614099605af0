// Serves a tool until it is ended with Ctrl-C or SIGTERM.
import { Worker } from "toolplane";
import { z } from "zod";

const worker = new Worker(process.env.WORKER_NAME ?? "acme");
worker.tool(
  "word_count",
  { description: "Counts the words of a text.", input: z.object({ text: z.string() }), readOnly: true, openWorld: false },
  ({ text }) => text.split(/\s+/).filter(Boolean).length,
);
await worker.run();
