// Has our client call the tools of servers that others wrote, unmodified, or made
// with nothing but their SDKs, over the transports that each speaks, and judges what
// it was told.
//
// What is called and what must come of it is in `servers.json`. `run.mjs` installs
// what the lock files say; this uses it.
//
//     node servers.mjs ../../target/debug/foreign_client [SERVER...]

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { isDeepStrictEqual } from "node:util";

import { findNode, findPython } from "./programs.mjs";

const LISTENING_MS = 60_000;
const RUN_MS = 120_000;
const AT_ONCE = 2;

const here = dirname(fileURLToPath(import.meta.url));

function fail(words) {
  console.error(`interop: ${words}`);
  process.exit(1);
}

const everything = join(here, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const example = join(here, "node_modules/@modelcontextprotocol/sdk/dist/esm/examples/server/simpleStreamableHttp.js");
const ours = (file) => join(here, "servers", file);

/** How each is started: with the port for HTTP, or over stdio. Some speak HTTP alone. */
const SERVERS = {
  everything: {
    package: "npm @modelcontextprotocol/server-everything",
    start: (port) => [findNode(), everything, port ? "streamableHttp" : "stdio"],
  },
  example: { package: "npm @modelcontextprotocol/sdk", wires: ["http"], start: () => [findNode(), example] },
  sdk: { package: "npm @modelcontextprotocol/server", start: (port) => [findNode(), ours("sdk.mjs"), port ?? "stdio"] },
  mcp: { package: "PyPI mcp", start: (port) => [findPython(), ours("mcp_server.py"), port ?? "stdio"] },
  fastmcp: { package: "PyPI fastmcp", start: (port) => [findPython(), ours("fastmcp_server.py"), port ?? "stdio"] },
};

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.on("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Starts a server that speaks HTTP, and waits until somebody answers there. */
async function start(name) {
  const port = await freePort();
  const [program, ...args] = SERVERS[name].start(String(port));
  const server = spawn(program, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, PORT: String(port), MCP_PORT: String(port) } });
  process.on("exit", () => server.kill("SIGKILL"));
  let said = "";
  server.stderr.on("data", (data) => (said += data));
  const url = `http://127.0.0.1:${port}/mcp`;
  const late = Date.now() + LISTENING_MS;
  for (;;) {
    if (server.exitCode !== null) throw new Error(`the server ended with ${server.exitCode}\n${said}`);
    if (Date.now() > late) throw new Error(`the server does not listen yet\n${said}`);
    const answers = await fetch(url, { method: "OPTIONS" }).then(() => true, () => false);
    if (answers) return { reach: { url }, stop: () => server.kill("SIGKILL") };
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Has our client do its cases, and gives every line that it said. */
function work(client, job) {
  const child = spawn(client, [], { stdio: ["pipe", "pipe", "pipe"], timeout: RUN_MS });
  process.on("exit", () => child.kill("SIGKILL"));
  const lines = [];
  let said = "";
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(JSON.parse(line)));
  child.stderr.on("data", (data) => (said += data));
  child.stdin.end(JSON.stringify(job));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ lines, said, ended: code ?? signal }));
  });
}

/** Whether all that is wanted is there: of objects the members that are named. */
function has(is, wanted) {
  if (wanted === null || typeof wanted !== "object" || Array.isArray(wanted)) return isDeepStrictEqual(is, wanted);
  return Object.entries(wanted).every(([name, value]) => has(is?.[name], value));
}

/** What is wrong with an outcome, in words; nothing if it is as expected. */
function judge({ expect }, outcome) {
  const wrong = [];
  const whole = JSON.stringify(outcome).slice(0, 1500);
  const { text, asked = [], fields, progress, messages, ...rest } = expect;
  const must = (right, words) => right || wrong.push(`${words}: ${whole}`);
  const words = outcome.asked.map((question) => question.words).sort();
  must(isDeepStrictEqual(words, [...asked].sort()), `asked was ${words}, not ${asked}`);
  if (fields) must(outcome.asked.some(({ form }) => Object.keys(form?.properties ?? {}).length === fields), `no form of ${fields} fields`);
  must(outcome.asked.every(({ problem }) => problem === null), "a question could not be read");
  if (text) must(outcome.result?.content.some((block) => block.text?.includes(text)), `no text with "${text}"`);
  if (progress) {
    const done = outcome.progress.map(([done]) => done);
    const grows = done.every((value, i) => i === 0 || value > done[i - 1]);
    must(grows && done.length > 1 && done.at(-1) <= progress, `progress is ${done}`);
    must(outcome.progress.every(([, total]) => total === progress), `the total is not ${progress}`);
  }
  if (messages) must(messages.every((message) => outcome.messages.includes(message)), `no message ${messages}`);
  must(has(outcome, rest), `not ${JSON.stringify(rest)}`);
  return wrong;
}

/** One server over one transport: what became of each case. */
async function drive({ name, wire }, client, { cases, server: wanted, tools }) {
  const server = wire === "http" ? await start(name) : undefined;
  const reach = server?.reach ?? { command: SERVERS[name].start() };
  const told = cases.map(({ expect, ...rest }) => rest);
  const { lines, said, ended } = await work(client, { server: reach, cases: told });
  server?.stop();
  const results = cases.map((each) => {
    const outcomes = lines.filter((line) => line.case === each.case);
    return { name: each.case, wrong: outcomes.length === 1 ? judge(each, outcomes[0]) : [`${outcomes.length} outcomes`] };
  });
  const troubles = [];
  const is = lines.find((line) => line.server)?.server;
  if (!has(is, wanted)) troubles.push(`the server is ${JSON.stringify(is)}, not ${JSON.stringify(wanted)}`);
  const seen = lines.find((line) => line.tools)?.tools.map((tool) => tool.name) ?? [];
  const missing = tools.filter((tool) => !seen.includes(tool));
  if (missing.length) troubles.push(`not listed: ${missing}`);
  if (ended !== 0 || !lines.at(-1)?.end) troubles.push(`the client ended with ${ended}\n${said.slice(-3000)}`);
  return { results, troubles };
}

process.setMaxListeners(0);
const [given, ...chosen] = process.argv.slice(2);
if (!given) fail("usage: node servers.mjs PATH_OF_FOREIGN_CLIENT [SERVER...]");
const client = resolve(given);
if (!existsSync(client)) fail(`${client} is missing: cargo build -p mcp-tasks-tests --bin foreign_client`);
if (!existsSync(everything) || !existsSync(example) || !existsSync(findPython())) fail("the servers are not installed: run.mjs does that");
const unknown = chosen.find((name) => !(name in SERVERS));
if (unknown) fail(`there is no server ${unknown}; there are: ${Object.keys(SERVERS).join(", ")}`);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));

const table = JSON.parse(readFileSync(join(here, "servers.json"), "utf8"));
const names = Object.keys(SERVERS).filter((name) => !chosen.length || chosen.includes(name));
const runs = names.flatMap((name) => (SERVERS[name].wires ?? ["http", "stdio"]).map((wire) => ({ name, wire })));
const finished = new Map();
const left = [...runs];
const worker = async () => {
  for (let run = left.shift(); run; run = left.shift()) {
    const begun = Date.now();
    const done = await drive(run, client, table[run.name]).catch((error) => ({ results: [], troubles: [error.message] }));
    finished.set(run, { ...done, seconds: (Date.now() - begun) / 1000 });
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const row = (...cells) => console.log(cells.map((cell, i) => (i < 3 ? String(cell).padEnd(12) : String(cell).padStart(9))).join(""));
row("server", "version", "transport", "cases", "passed", "failed", "seconds");
const words = [];
let failures = 0;
for (const run of runs) {
  const { results, troubles, seconds } = finished.get(run);
  const failed = results.filter(({ wrong }) => wrong.length);
  row(run.name, table[run.name].server.protocol, run.wire, results.length, results.length - failed.length, failed.length + troubles.length, seconds.toFixed(1));
  const where = `${run.name}, ${run.wire}`;
  for (const { name, wrong } of failed) words.push(`${where}: ${name}: ${wrong.join("; ")}`);
  words.push(...troubles.map((trouble) => `${where}: ${trouble}`));
  failures += failed.length + troubles.length;
}
if (words.length) console.log(["", ...words, ""].join("\n"));
process.exit(failures ? 1 : 0);
