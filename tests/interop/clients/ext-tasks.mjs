// `@modelcontextprotocol/ext-tasks`: the extension, with
// `@modelcontextprotocol/client` beneath it.

import { Client, ProtocolError, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import {
  JsonRpcResponseError,
  TaskCancelledError,
  createTaskSessionFromClient,
  resultFromTaskOutcome,
  TaskFailedError,
} from "@modelcontextprotocol/ext-tasks/client";

import { CLIENT, complain, complete, drive, notified } from "./drive.mjs";

const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };
const METHODS = { elicitation: "elicitation/create", sampling: "sampling/createMessage", roots: "roots/list" };

function transport({ server }) {
  if (server.command) return new StdioClientTransport({ ...server, stderr: "ignore" });
  const requestInit = { headers: { Authorization: `Bearer ${server.token}` } };
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit });
}

/**
 * Sends requests on a connected client's own transport, past the client, which
 * does not know the extension's results; the package asks its host for this.
 */
function dispatchOn(wire) {
  const waiting = new Map();
  const pass = wire.onmessage;
  wire.onmessage = (message, extra) => {
    const resolve = message.method === undefined && waiting.get(message.id);
    if (!resolve) return pass(message, extra);
    waiting.delete(message.id);
    const { result, error } = message;
    resolve(error ? { kind: "error", error } : { kind: "result", result });
  };
  let last = 0;
  return (request, { signal } = {}) => {
    const id = `task-${++last}`;
    return new Promise((resolve, reject) => {
      waiting.set(id, resolve);
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(id)) return;
        reject(signal.reason);
        if (wire instanceof StdioClientTransport) {
          const params = { requestId: id };
          wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params }).catch(complain);
        }
      });
      wire.send({ jsonrpc: "2.0", id, ...request }, { requestSignal: signal }).catch(reject);
    });
  };
}

async function connect(job, bare) {
  const client = new Client(CLIENT, {
    capabilities: bare ? {} : CAPABILITIES,
    versionNegotiation: { mode: { pin: job.version } },
  });
  client.onerror = complain;
  client.fallbackNotificationHandler = notified;
  const wire = transport(job);
  await client.connect(wire);
  const session = createTaskSessionFromClient(client, {
    endpointId: "fixtures",
    rawDispatch: dispatchOn(wire),
    v2RequestFraming: {
      protocolVersion: job.version,
      clientInfo: CLIENT,
      clientCapabilities: bare ? {} : CAPABILITIES,
    },
    onInputRequest: ({ kind, params }, { applicationContext, signal }) =>
      applicationContext.answer(METHODS[kind], params, signal),
    onError: complain,
  });
  const last = new Map();
  return {
    list: async () => (await client.listTools()).tools,
    async call({ case: name, tool, arguments: args, signal: sent }, desk, signal) {
      const execution = await session.callTool(tool, args, { applicationContext: desk });
      const task = execution.kind === "task";
      if (task) {
        const { taskId } = execution.handle;
        last.set(name, taskId);
        // The session's own signal would only end the waiting.
        signal?.addEventListener("abort", () => execution.cancel().catch(complain));
        desk.created();
        if (sent) await session.callTool("send_signal", { task_id: taskId, ...sent }, { applicationContext: desk });
      }
      const { outcome } = await execution.settle({ close: false });
      return { ...complete(resultFromTaskOutcome(outcome)), task };
    },
    ended: async ({ case: name }) => {
      const task = session.task(last.get(name));
      for (;;) {
        const { status } = await task.snapshot();
        if (status !== "working" && status !== "input_required") return status;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },
    async close() {
      await session.close();
      await client.close();
    },
  };
}

function refusal(error) {
  if (error instanceof TaskCancelledError) return undefined;
  const known = [JsonRpcResponseError, TaskFailedError, ProtocolError];
  if (!known.some((kind) => error instanceof kind)) return undefined;
  const { code, message, data } = error;
  return { code, message, data };
}

await drive({ connect, refusal, atOnce: 12 });
