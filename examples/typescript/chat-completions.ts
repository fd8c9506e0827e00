/** Asks an agent through the `openai` package: npm run completions -- "Which files are there?" [MODEL] */
import OpenAI from "openai";

const [message = "Which files are there?", model = "glasshouse/agent"] = process.argv.slice(2);

const client = new OpenAI({
  baseURL: `${process.env.GLASSHOUSE_URL ?? "http://127.0.0.1:8000"}/v1`,
  apiKey: process.env.GLASSHOUSE_KEY,
});

// `glasshouse/agent` is the built-in agent with the default model; a model's own id is that model without tools.
const stream = await client.chat.completions.create({
  model,
  messages: [{ role: "user", content: message }],
  stream: true,
});
for await (const chunk of stream) {
  process.stdout.write(chunk.choices[0]?.delta.content ?? "");
}
process.stdout.write("\n");
