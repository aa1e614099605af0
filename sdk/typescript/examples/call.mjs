// Calls a tool. The cluster is that of TOOLPLANE_ENDPOINT (default http://127.0.0.1:7420), as for the command line.
import { connect } from "toolplane";

const tools = await connect();
console.log((await tools.call("text.word_count", { path: "words.txt" })).value);
tools.close();
