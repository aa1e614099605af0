// Several calls at once, accepted as a whole; one waits for another.
import { connect } from "toolplane";

const tools = await connect();
const { results } = await tools.batch(
  [
    { name: "text.word_count", args: { path: "words.txt" } },
    { name: "text.word_count", args: { path: "words.txt" }, dependsOn: [0] },
  ],
  { maxParallel: 4, onFailure: "cancel_dependent" },
);
for (const result of results) console.log(result.error?.message ?? result.text.trim());
tools.close();
