// `@modelcontextprotocol/sdk`, in an older session.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  McpError,
} from "@modelcontextprotocol/sdk/types.js";

import { CLIENT, complain, complete, drive, notified } from "./drive.mjs";

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

function transport({ server }) {
  if (server.command) return new StdioClientTransport({ ...server, stderr: "ignore" });
  const requestInit = { headers: { Authorization: `Bearer ${server.token}` } };
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
}

async function connect(job, bare) {
  const client = new Client(CLIENT, { capabilities: bare ? {} : CAPABILITIES });
  client.onerror = complain;
  client.fallbackNotificationHandler = notified;
  let desk;
  if (!bare) {
    for (const schema of [ElicitRequestSchema, CreateMessageRequestSchema, ListRootsRequestSchema]) {
      client.setRequestHandler(schema, ({ method, params }, { signal }) => desk.answer(method, params, signal));
    }
  }
  await client.connect(transport(job));
  return {
    list: async () => (await client.listTools()).tools,
    async call({ tool, arguments: args, progress, cancel }, its, signal) {
      desk = its;
      const onprogress = progress || cancel === "started" ? (told) => its.progressed(told) : undefined;
      return complete(await client.callTool({ name: tool, arguments: args }, undefined, { signal, onprogress }));
    },
    close: () => client.close(),
  };
}

function refusal(error) {
  if (!(error instanceof McpError)) return undefined;
  const { code, message, data } = error;
  return { code, message, data };
}

await drive({ connect, refusal });
