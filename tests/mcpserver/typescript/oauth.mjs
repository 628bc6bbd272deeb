// The TypeScript clients' own OAuth, from a bare 401: the address for the browser goes out on a line of JSON, the address
// to which the browser was sent back comes in on a line, and what the client saw goes out on the last line.

import { createInterface } from "node:readline";

const [, , url, generation] = process.argv;
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`);
const kept = {};

const provider = {
  redirectUrl: "http://127.0.0.1:7777/callback",
  clientMetadata: {
    client_name: "TypeScript Helper",
    redirect_uris: ["http://127.0.0.1:7777/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  },
  state: () => "a-state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => { kept.client = client; },
  tokens: () => kept.tokens,
  saveTokens: (tokens) => { kept.tokens = tokens; },
  redirectToAuthorization: (address) => { kept.address = address.toString(); },
  saveCodeVerifier: (verifier) => { kept.verifier = verifier; },
  codeVerifier: () => kept.verifier,
  saveDiscoveryState: (state) => { kept.discovery = state; },
  discoveryState: () => kept.discovery,
};

async function fresh() {
  if (generation === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return [new Client({ name: "tests", version: "1" }), new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })];
  }
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const options = { versionNegotiation: { mode: "auto" } };
  return [new Client({ name: "tests", version: "1" }, options), new StreamableHTTPClientTransport(new URL(url), { authProvider: provider })];
}

let [client, transport] = await fresh();
let refused = null;
try {
  await client.connect(transport);
} catch (error) {
  refused = error.constructor.name;
}
say({ refused, address: kept.address });
const back = new URL((await lines.next()).value).searchParams;
await (generation === "1" ? transport.finishAuth(back.get("code")) : transport.finishAuth(back));
const first = kept.tokens;

[client, transport] = await fresh();
await client.connect(transport);
const { tools } = await client.listTools();
// A token that the server no longer takes makes the client refresh by itself.
kept.tokens = { ...first, access_token: "cpa_stale" };
const again = await client.callTool({ name: "recall", arguments: {} });
say({
  tools: tools.map((tool) => tool.name),
  called: !again.isError,
  scope: first.scope,
  renewed: kept.tokens.refresh_token !== first.refresh_token,
});
await client.close();
process.exit(0);
