// Asks a gateway with the npm package of OpenAI, and prints what came of it as lines of JSON.
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder, baseURL, key, slowKey, model, toolModel] = process.argv.slice(2);
const OpenAI = createRequire(join(folder, "here.js"))("openai");

const client = (apiKey, timeout = 30_000) =>
  new OpenAI({ baseURL, apiKey, timeout, maxRetries: 0 });
const ada = client(key);
const asking = (max_completion_tokens, more = {}) => ({
  model,
  messages: [{ role: "user", content: "What is the weather like?" }],
  max_completion_tokens,
  seed: 5,
  ignore_eos: true,
  ...more,
});
const create = (who, body) => who.chat.completions.create(body);
const tools = [{ type: "function", function: { name: "weather", description: "of a city" } }];

async function failure(what) {
  try {
    await what();
    return { name: "none" };
  } catch (error) {
    return { name: error.constructor.name, status: error.status, message: error.message };
  }
}

const scenarios = {
  async whole() {
    const answer = await create(ada, asking(20));
    return { text: answer.choices[0].message.content, tokens: answer.usage.completion_tokens };
  },
  async stream() {
    let text = "";
    let tokens = 0;
    const options = { stream: true, stream_options: { include_usage: true } };
    for await (const chunk of await create(ada, asking(20, options))) {
      text += chunk.choices[0]?.delta?.content ?? "";
      tokens = chunk.usage?.completion_tokens ?? tokens;
    }
    return { text, tokens };
  },
  async models() {
    return { names: (await ada.models.list()).data.map((entry) => entry.id).sort() };
  },
  async tool() {
    const answer = await create(ada, asking(20, { model: toolModel, tools }));
    return answer.choices[0].message.tool_calls[0].function;
  },
  async streamedTool() {
    let text = "";
    for await (const chunk of await create(
      ada,
      asking(20, { model: toolModel, tools, stream: true }),
    )) {
      text += chunk.choices[0]?.delta?.tool_calls?.[0]?.function?.arguments ?? "";
    }
    return { arguments: text };
  },
  unknownModel: () => failure(() => create(ada, asking(1, { model: "nowhere" }))),
  badRequest: () => failure(() => create(ada, asking(1, { n: 2 }))),
  wrongKey: () => failure(() => create(client("wrong-key"), asking(1))),
  async tooMany() {
    await create(client(slowKey), asking(1));
    return failure(() => create(client(slowKey), asking(1)));
  },
  timeout: () => failure(() => create(client(key, 300), asking(8000))),
  async cancel() {
    const stream = await create(ada, asking(8000, { stream: true }));
    let chunks = 0;
    for await (const _ of stream) {
      if (++chunks === 5) stream.controller.abort();
    }
    return { chunks };
  },
};

for (const [scenario, run] of Object.entries(scenarios)) {
  console.log(JSON.stringify({ scenario, ...(await run()) }));
}
