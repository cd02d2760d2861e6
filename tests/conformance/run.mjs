// Runs the public conformance suite against the fixture server, as each revision
// of MCP requires it, and counts what passed.
//
// The suite's exit code is not enough: a scenario that was skipped exits 0, and
// a server that answers every call with an error passes several checks. So
// each scenario must write exactly the checks that it is known to have
// (expected.mjs).
//
//     npm ci --ignore-scripts
//     node run.mjs ../../target/debug/fixtures [REVISION...]

import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { EXPECTED } from "./expected.mjs";
import { findNode, required, suite } from "./suite.mjs";

const LISTENING_MS = 20_000;
const REVISION_MS = 180_000;

const here = dirname(fileURLToPath(import.meta.url));
const results = join(here, "results");
const program = join(suite, "dist/index.js");

function fail(words) {
  console.error(`conformance: ${words}`);
  process.exit(1);
}

/** Starts the server and gives its URL once it listens. */
function start(binary) {
  const server = spawn(binary, ["--http", "127.0.0.1:0"], { stdio: ["ignore", "ignore", "pipe"] });
  const said = [];
  process.on("exit", () => server.kill("SIGKILL"));
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
  const url = new Promise((resolve, reject) => {
    const late = setTimeout(() => reject(new Error("it does not listen yet")), LISTENING_MS);
    server.on("error", reject);
    server.on("exit", (code, signal) => reject(new Error(`it ended with ${code ?? signal}`)));
    createInterface({ input: server.stderr }).on("line", (line) => {
      said.push(line);
      const address = /^listening on (http:\S+)$/.exec(line)?.[1];
      if (!address) return;
      clearTimeout(late);
      resolve(address);
    });
  });
  return { server, said, url };
}

/** Runs everything that a revision requires and gives the checks by scenario. */
function run(node, url, revision) {
  const folder = join(results, revision);
  const args = [program, "server", "--url", url, "--requirements", revision, "--output-dir", folder];
  return new Promise((resolve) => {
    execFile(node, args, { timeout: REVISION_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const written = new Map();
      for (const run of existsSync(folder) ? readdirSync(folder) : []) {
        const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(run)?.[1];
        const checks = join(folder, run, "checks.json");
        if (scenario && existsSync(checks)) written.set(scenario, JSON.parse(readFileSync(checks, "utf8")));
      }
      resolve({ written, broke: error && `the suite ended with ${error.signal ?? error.code}\n${stdout}${stderr}` });
    });
  });
}

const [binary, ...chosen] = process.argv.slice(2);
if (!binary) fail("usage: node run.mjs PATH_OF_FIXTURES [REVISION...]");
if (!existsSync(binary)) fail(`${binary} is missing: cargo build -p mcp-tasks-tests --bin fixtures`);
if (!existsSync(program)) fail("the suite is not installed: npm ci --ignore-scripts in tests/conformance");
const unknown = chosen.find((revision) => !(revision in EXPECTED));
if (unknown) fail(`there is no revision ${unknown}; there are: ${Object.keys(EXPECTED).join(", ")}`);

const node = findNode();
rmSync(results, { recursive: true, force: true });
const { server, said, url: listening } = start(binary);
const url = await listening.catch((error) => fail(`the fixture server failed: ${error.message}\n${said.join("\n")}`));

const row = (...cells) => console.log(cells.map((cell, i) => (i ? String(cell).padStart(9) : cell.padEnd(46))).join(""));
const troubles = [];
const sums = [];
for (const revision of chosen.length ? chosen : Object.keys(EXPECTED)) {
  const begun = Date.now();
  const { written, broke } = await run(node, url, revision);
  if (broke) troubles.push(`${revision}: ${broke}`);
  const scored = required(revision, "server");
  const scenarios = new Set([...Object.keys(EXPECTED[revision]), ...scored, ...written.keys()]);
  const notes = [];
  const sum = { scored: 0, green: 0, expected: 0, success: 0, failure: 0, warning: 0, skipped: 0 };
  row(`-- ${revision}`, "scored", "expected", "success", "failure", "warning", "skipped");
  for (const scenario of scenarios) {
    const known = EXPECTED[revision][scenario];
    const expected = typeof known === "number" ? { success: known } : known ?? { success: 0 };
    const checks = written.get(scenario) ?? [];
    const count = (status) => checks.filter((check) => check.status === status).length;
    const [success, failure, warning, skipped] = ["SUCCESS", "FAILURE", "WARNING", "SKIPPED"].map(count);
    const isScored = scored.has(scenario);
    row(scenario, isScored ? "yes" : "no", expected.success, success, failure, warning, skipped);
    const wrong = [];
    if (!known) wrong.push("expected.mjs does not know it");
    if (!written.has(scenario)) wrong.push("it wrote no checks");
    if (success !== expected.success) wrong.push(`${success} checks passed, ${expected.success} must`);
    for (const status of ["FAILURE", "WARNING", "SKIPPED"]) {
      const of = checks.filter((check) => check.status === status);
      if (of.length === (expected[status] ?? 0)) continue;
      wrong.push(`${of.length} ${status}, not ${expected[status] ?? 0}`);
      wrong.push(...of.map((check) => `${check.id}: ${check.errorMessage ?? check.description}`));
    }
    troubles.push(...wrong.map((words) => `${revision} ${scenario}: ${words}`));
    if (expected.why) notes.push(`${scenario}: ${expected.why}`);
    sum.expected += expected.success;
    sum.success += success;
    sum.failure += failure;
    sum.warning += warning;
    sum.skipped += skipped;
    if (isScored) sum.scored += 1;
    if (isScored && failure === 0 && success > 0) sum.green += 1;
  }
  row("", "", sum.expected, sum.success, sum.failure, sum.warning, sum.skipped);
  for (const note of notes) console.log(`   ${note}`);
  const seconds = ((Date.now() - begun) / 1000).toFixed(1);
  const checks = `${sum.success} of ${sum.expected} checks passed, ${sum.failure} failed, ${sum.warning} warned, ${sum.skipped} skipped`;
  sums.push(`${revision}: ${sum.green} of ${sum.scored} scored scenarios without a failure; ${checks} (${seconds} s)`);
}
if (server.exitCode !== null || server.signalCode !== null) {
  troubles.push(`the fixture server ended with ${server.exitCode ?? server.signalCode}`);
}
if (troubles.length) {
  console.log(["", ...troubles, "", "The server said:", ...said, `The checks are in ${results}`].join("\n"));
}
console.log(["", ...sums].join("\n"));
process.exit(troubles.length ? 1 : 0);
