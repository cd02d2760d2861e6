// The fixture server with an inbox, and a client that gives it tasks.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const LISTENING_MS = 20_000;
const SETTLED_MS = 10_000;
const SECRET = "wonderland";

const CAPABILITIES = {
  elicitation: { form: {}, url: {} },
  extensions: { "io.modelcontextprotocol/tasks": {} },
};

/** Starts a server; `flags` come before those that it needs. */
export async function start(binary, ...flags) {
  const args = [...flags, "--http", "127.0.0.1:0", "--token", `alice=${SECRET}`, "--inbox"];
  const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  const origin = await new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the server does not listen yet")), LISTENING_MS);
    child.on("error", reject);
    child.on("exit", (code, signal) => reject(new Error(`the server ended with ${code ?? signal}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const found = /^inbox at (http:\S+)\/inbox$/.exec(line)?.[1];
      if (!found) return;
      clearTimeout(late);
      resolve(found);
    });
  });
  return new Server(origin, () => {
    process.off("exit", kill);
    child.kill("SIGKILL");
  });
}

class Server {
  #last = 0;

  constructor(origin, stop) {
    this.origin = origin;
    this.inbox = `${origin}/inbox`;
    this.credentials = { username: "anybody", password: SECRET };
    this.stop = stop;
  }

  async request(method, params) {
    const name = params.taskId ?? params.name;
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": CAPABILITIES,
    };
    const response = await fetch(`${this.origin}/mcp`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        authorization: `Bearer ${SECRET}`,
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        "mcp-name": name,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: ++this.#last, method, params: { ...params, _meta: meta } }),
    });
    const { result, error } = await response.json();
    if (error) throw new Error(`${method} ${name}: ${error.message}`);
    return result;
  }

  get(taskId) {
    return this.request("tasks/get", { taskId });
  }

  /** Calls a tool, and gives its task's id once it asks. */
  async asks(name, args = {}) {
    const { taskId } = await this.request("tools/call", { name, arguments: args });
    await this.until(taskId, (task) => task.status === "input_required");
    return taskId;
  }

  answer(taskId, key, content) {
    return this.request("tasks/update", { taskId, inputResponses: { [key]: { action: "accept", content } } });
  }

  async until(taskId, is) {
    const end = Date.now() + SETTLED_MS;
    for (;;) {
      const task = await this.get(taskId);
      if (is(task)) return task;
      if (Date.now() > end) throw new Error(`the task stays as it is: ${JSON.stringify(task)}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** What the tool says in the end. */
  async result(taskId) {
    const { result } = await this.until(taskId, (task) => task.status === "completed");
    return result.structuredContent ?? result.content[0].text;
  }
}
