// Drives every tool of the fixture server with clients that others wrote,
// unmodified, over the transports that each speaks, and judges what they got.
//
// What is called, what is answered to which question, and what must come of it
// is in `tools.json`, for all clients; rmcp's client reads the same table, in
// `tests/tests/interop`. Where a client is at fault, the table says so in words,
// and what holds for that client alone; nothing is loosened for the others.
//
//     node run.mjs [--installed] ../../target/debug/fixtures [CLIENT...]

import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { agreed, forRun, judge, listed } from "./judge.mjs";
import { findNode, findPython, venv } from "./programs.mjs";

const LISTENING_MS = 20_000;
const RUN_MS = 180_000;
const AT_ONCE = 3;
const TOKEN = { name: "alice", secret: "wonderland" };

const here = dirname(fileURLToPath(import.meta.url));

function fail(words) {
  console.error(`interop: ${words}`);
  process.exit(1);
}

const CLIENTS = {
  client: { package: "npm @modelcontextprotocol/client", program: [findNode, "client.mjs"] },
  "ext-tasks": { package: "npm @modelcontextprotocol/ext-tasks", program: [findNode, "ext-tasks.mjs"] },
  sdk: { package: "npm @modelcontextprotocol/sdk", program: [findNode, "sdk.mjs"] },
  mcp: { package: "PyPI mcp", program: [findPython, "mcp_client.py"] },
};

const RUNS = [
  { client: "client", era: "rounds", version: "2026-07-28" },
  { client: "client", era: "session", version: "2025-11-25" },
  { client: "client", era: "session", version: "2025-06-18" },
  { client: "ext-tasks", era: "tasks", version: "2026-07-28" },
  { client: "sdk", era: "session", version: "2025-11-25" },
  { client: "mcp", era: "rounds", version: "2026-07-28" },
  { client: "mcp", era: "session", version: "2025-11-25" },
].flatMap((run) => ["http", "stdio"].map((wire) => ({ ...run, wire })));

/** Installs what the lock files say, and nothing else. */
function install() {
  const run = (program, ...args) => execFileSync(program, args, { cwd: here, stdio: ["ignore", "inherit", "inherit"] });
  run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error");
  run("python3", "-m", "venv", "--clear", venv);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"];
  run(findPython(), ...pip, "--only-binary", ":all:", "-r", "requirements.txt");
}

/** Starts a server that speaks HTTP, and gives how to reach it and to end it. */
function start(binary) {
  const args = ["--http", "127.0.0.1:0", "--token", `${TOKEN.name}=${TOKEN.secret}`];
  const server = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
  process.on("exit", () => server.kill("SIGKILL"));
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("the server does not listen yet")), LISTENING_MS);
    server.on("error", reject);
    server.on("exit", (code, signal) => reject(new Error(`the server ended with ${code ?? signal}`)));
    createInterface({ input: server.stderr }).on("line", (line) => {
      const url = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (!url) return;
      clearTimeout(late);
      const ended = () => server.exitCode ?? server.signalCode;
      resolve({ reach: { url, token: TOKEN.secret }, ended, stop: () => server.kill() });
    });
  });
}

/** Has a client do its cases, and gives every line that it said. */
function work(program, job) {
  const [find, file] = program;
  const child = spawn(find(), [join(here, "clients", file)], { stdio: ["pipe", "pipe", "pipe"], timeout: RUN_MS });
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

/** One client in one era over one transport: what became of each case. */
async function drive(run, binary, table) {
  const folder = mkdtempSync(join(tmpdir(), "interop-"));
  const cases = table.cases.map((wanted, number) => {
    const file = join(folder, `${number}.txt`);
    const caller = run.wire === "http" ? TOKEN.name : "anonymous";
    if (wanted.file) writeFileSync(file, wanted.file);
    return forRun(wanted, run, { file, caller });
  });
  const server = run.wire === "http" ? await start(binary) : undefined;
  const reach = server?.reach ?? { command: binary, args: ["--stdio"] };
  const told = cases.map(({ expect, ...rest }) => rest);
  const { lines, said, ended } = await work(CLIENTS[run.client].program, { ...run, server: reach, cases: told });
  const troubles = [];
  if (server?.ended() != null) troubles.push(`the server ended with ${server.ended()}`);
  server?.stop();

  const results = cases.map((wanted) => {
    const outcomes = lines.filter((line) => line.case === wanted.case);
    const wrong = outcomes.length === 1 ? judge(wanted, outcomes[0], run) : [`${outcomes.length} outcomes`];
    return { name: wanted.case, wrong, note: wanted.because };
  });
  rmSync(folder, { recursive: true });
  const wanted = listed(cases);
  const elsewhere = (tool) => table.elsewhere.prefixes.some((prefix) => tool.startsWith(prefix));
  const seen = lines.find((line) => line.tools)?.tools.sort() ?? [];
  const tools = seen.filter((tool) => wanted.includes(tool) || !elsewhere(tool));
  if (String(tools) !== String(wanted)) {
    const only = (these, those) => these.filter((tool) => !those.includes(tool)).join(", ") || "none";
    troubles.push(`tools that no case calls: ${only(tools, wanted)}; that are not listed: ${only(wanted, tools)}`);
  }
  if (run.era === "session") {
    const over = lines.find((line) => line.completed)?.completed ?? [];
    const ids = agreed(cases, lines);
    if (String(over.sort()) !== String(ids.sort())) troubles.push(`over are the URLs of ${over}, agreed to were ${ids}`);
  }
  const complaints = lines.find((line) => line.unexpected)?.unexpected ?? ["it did not come to its end"];
  const known = table.complaints[run.client] ?? [];
  const notes = new Set();
  for (const words of complaints) {
    const note = known.find(({ words: like }) => words.includes(like));
    if (note) notes.add(`${note.words}: ${note.because}`);
    else troubles.push(`unexpected at the client: ${words}`);
  }
  if (ended !== 0) troubles.push(`the client ended with ${ended}\n${said}`);
  return { results, troubles, notes };
}

process.setMaxListeners(0);
const args = process.argv.slice(2);
const installed = args[0] === "--installed" && args.shift();
const [given, ...chosen] = args;
if (!given) fail("usage: node run.mjs [--installed] PATH_OF_FIXTURES [CLIENT...]");
const binary = resolve(given);
if (!existsSync(binary)) fail(`${binary} is missing: cargo build -p mcp-tasks-tests --bin fixtures`);
const unknown = chosen.find((client) => !(client in CLIENTS));
if (unknown) fail(`there is no client ${unknown}; there are: ${Object.keys(CLIENTS).join(", ")}`);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
if (!installed) install();
for (const [name, { program: [find] }] of Object.entries(CLIENTS)) {
  if (!existsSync(find())) fail(`${find()} is missing, which ${name} needs: leave out --installed`);
}

const table = JSON.parse(readFileSync(join(here, "tools.json"), "utf8"));
const runs = RUNS.filter(({ client }) => !chosen.length || chosen.includes(client));
const finished = new Map();
const left = [...runs];
const worker = async () => {
  for (let run = left.shift(); run; run = left.shift()) {
    const begun = Date.now();
    const done = await drive(run, binary, table).catch((error) => ({ results: [], troubles: [error.message], notes: [] }));
    finished.set(run, { ...done, seconds: (Date.now() - begun) / 1000 });
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, worker));

const row = (...cells) => console.log(cells.map((cell, i) => (i < 4 ? String(cell).padEnd(12) : String(cell).padStart(9))).join(""));
row("client", "era", "version", "transport", "cases", "passed", "noted", "failed", "seconds");
const words = [];
const total = { passed: 0, noted: 0, failed: 0 };
for (const run of runs) {
  const { results, troubles, notes, seconds } = finished.get(run);
  const failed = results.filter(({ wrong }) => wrong.length);
  const noted = results.filter(({ wrong, note }) => !wrong.length && note);
  const passed = results.length - failed.length - noted.length;
  const missing = results.length === table.cases.length ? 0 : 1;
  const { client, era, version, wire } = run;
  row(client, era, version, wire, results.length, passed, noted.length, failed.length + troubles.length, seconds.toFixed(1));
  const where = `${client}, ${version}, ${wire}`;
  for (const { name, wrong } of failed) words.push(`${where}: ${name}: ${wrong.join("; ")}`);
  for (const { name, note } of noted) words.push(`${where}: ${name}: noted: ${note}`);
  for (const note of notes) words.push(`${where}: noted: ${note}`);
  words.push(...troubles.map((trouble) => `${where}: ${trouble}`));
  total.passed += passed;
  total.noted += noted.length;
  total.failed += failed.length + troubles.length + missing;
}
if (words.length) console.log(["", ...words, ""].join("\n"));
console.log(`${total.passed} passed, ${total.noted} noted, ${total.failed} failed`);
process.exit(total.failed ? 1 : 0);
