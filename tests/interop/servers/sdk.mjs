// A server of `@modelcontextprotocol/server`, which asks in rounds.

import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, acceptedContent, createMcpHandler, inputRequired } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import * as z from "zod";

const FORM = { type: "object", properties: { name: { type: "string" } }, required: ["name"] };

function text(words) {
  return { content: [{ type: "text", text: words }] };
}

async function count({ n }, context) {
  const { progressToken } = context.mcpReq._meta ?? {};
  for (let progress = 1; progress <= n; progress += 1) {
    const params = { progressToken, progress, total: n, message: `${progress} of ${n}` };
    if (progressToken !== undefined) await context.mcpReq.notify({ method: "notifications/progress", params });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return text("counted");
}

/** Asks twice, one after the other, and carries the first answer in the state. */
async function greet(_, context) {
  const { inputResponses } = context.mcpReq;
  const [first, second] = ["first", "second"].map((key) => acceptedContent(inputResponses, key)?.name);
  const known = context.mcpReq.requestState();
  const ask = (key, requestState) => {
    const inputRequests = { [key]: inputRequired.elicit({ message: `The ${key}?`, requestedSchema: FORM }) };
    return inputRequired({ inputRequests, ...(requestState && { requestState }) });
  };
  if (known && second) return text(`Hello, ${known} ${second}`);
  if (first) return ask("second", first);
  return inputResponses ? text("nobody to greet") : ask("first");
}

function server() {
  const made = new McpServer({ name: "sdk", version: "2" }, { capabilities: { tools: {} } });
  const any = z.object({});
  made.registerTool("echo", { inputSchema: z.object({ message: z.string() }) }, ({ message }) => text(message));
  made.registerTool("count", { inputSchema: z.object({ n: z.number() }) }, count);
  made.registerTool("greet", { inputSchema: any }, greet);
  made.registerTool("fails", { inputSchema: any }, () => {
    throw new Error("no way");
  });
  return made;
}

if (process.argv[2] === "stdio") {
  serveStdio(server);
} else {
  const http = createServer(toNodeHandler(createMcpHandler(server)));
  http.listen(Number(process.argv[2]), "127.0.0.1");
}
