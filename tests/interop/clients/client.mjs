// `@modelcontextprotocol/client`, in rounds of 2026-07-28 or in an older session.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { CLIENT, complain, complete, drive, notified } from "./drive.mjs";

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

function transport({ server }) {
  if (server.command) return new StdioClientTransport({ ...server, stderr: "ignore" });
  const requestInit = { headers: { Authorization: `Bearer ${server.token}` } };
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
}

async function connect(job, bare) {
  const client = new Client(CLIENT, {
    capabilities: bare ? {} : CAPABILITIES,
    ...(job.era === "session"
      ? { supportedProtocolVersions: [job.version] }
      : { versionNegotiation: { mode: { pin: job.version } } }),
  });
  client.onerror = complain;
  client.fallbackNotificationHandler = notified;
  let desk;
  if (!bare) {
    for (const method of ["elicitation/create", "sampling/createMessage", "roots/list"]) {
      client.setRequestHandler(method, ({ params }, context) => desk.answer(method, params, context?.mcpReq?.signal));
    }
  }
  await client.connect(transport(job));
  return {
    list: async () => (await client.listTools()).tools,
    async call({ tool, arguments: args, progress, cancel }, its, signal) {
      desk = its;
      const onprogress = progress || cancel === "started" ? (told) => its.progressed(told) : undefined;
      return complete(await client.callTool({ name: tool, arguments: args }, { signal, onprogress }));
    },
    close: () => client.close(),
  };
}

function refusal(error) {
  if (!(error instanceof ProtocolError)) return undefined;
  const { code, message, data } = error;
  return { code, message, data };
}

await drive({ connect, refusal });
