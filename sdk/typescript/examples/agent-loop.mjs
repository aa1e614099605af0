// An agent loop with Anthropic's Messages API, and no package of the vendor: ANTHROPIC_API_KEY, MODEL and a task.
// The loops of OpenAI and Gemini differ in the list they take (`forOpenAI`, `forGemini`) and in the request; `answers` knows all of them.
import { connect } from "toolplane";

const url = process.env.ANTHROPIC_BASE_URL ?? "https://api.anthropic.com";
const headers = { "content-type": "application/json", "anthropic-version": "2023-06-01", "x-api-key": process.env.ANTHROPIC_API_KEY };
const task = process.argv.slice(2).join(" ") || "How many words are in words.txt?";

const tools = await connect();
const messages = [{ role: "user", content: task }];
for (;;) {
  const body = { model: process.env.MODEL, max_tokens: 1024, messages, tools: await tools.forAnthropic() };
  const response = await fetch(`${url}/v1/messages`, { method: "POST", headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const message = await response.json();
  messages.push({ role: "assistant", content: message.content });
  const answers = await tools.answers(message);
  if (answers.length === 0) {
    console.log(message.content.map((block) => block.text ?? "").join(""));
    break;
  }
  messages.push(...answers);
}
tools.close();
