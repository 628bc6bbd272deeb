// The official TypeScript clients: JSON {url, key, calls, client} in, what it saw out.
// client: "1" is the SDK's first generation, "legacy", "auto" and "pin" are the modes of the second.

import { readFileSync } from "node:fs";

const task = JSON.parse(readFileSync(0, "utf8"));
const options = { requestInit: { headers: { Authorization: `Bearer ${task.key}` } } };
const info = { name: "tests", version: "1.0.0" };

async function connected() {
  if (task.client === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    const transport = new StreamableHTTPClientTransport(new URL(task.url), options);
    const client = new Client(info);
    await client.connect(transport);
    return [client, transport];
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const mode = task.client === "pin" ? { pin: "2026-07-28" } : task.client;
  const transport = new StreamableHTTPClientTransport(new URL(task.url), options);
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(transport);
  return [client, transport];
}

const [client, transport] = await connected();
const { tools } = await client.listTools();
const answers = {};
for (const [name, args] of task.calls) {
  const result = await client.callTool({ name, arguments: args });
  answers[name] = { isError: Boolean(result.isError), value: JSON.parse(result.content[0].text) };
}
const { resources } = await client.listResources();
const contents = [];
for (const resource of resources) {
  contents.push(JSON.parse((await client.readResource({ uri: resource.uri })).contents[0].text));
}
const { prompts } = await client.listPrompts();
const messages = [];
for (const prompt of prompts) {
  const got = await client.getPrompt({ name: prompt.name, arguments: { topic: "tea" } });
  messages.push(got.messages[0].content.text);
}
const seen = {
  version: transport.protocolVersion ?? client.getNegotiatedProtocolVersion?.() ?? null,
  server: client.getServerVersion()?.name ?? null,
  instructions: client.getInstructions() ?? null,
  tools: tools.map((tool) => tool.name),
  answers,
  resources: resources.map((resource) => resource.uri),
  contents,
  prompts: prompts.map((prompt) => prompt.name),
  messages,
};
await client.close();
process.stdout.write(JSON.stringify(seen));
