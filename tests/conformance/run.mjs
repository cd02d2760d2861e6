// Runs the tasks scenarios of the public conformance suite against the fixture
// server, and what another scenario checks of subscriptions, and counts what
// passed.
//
// The suite's exit code is not enough: a scenario that was skipped exits 0, and
// a server that answers every call with an error passes several checks. So
// each scenario must write exactly as many SUCCESS checks as it is known to
// have, and no others.
//
//     npm ci --ignore-scripts
//     node run.mjs ../../target/debug/fixtures [SCENARIO...]

import { execFile, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

// The checks of each scenario in the pinned version of the suite: how many, or
// which, where the rest needs tools that the fixture server has no use for. Not
// run: `tasks-status-notifications`, which the suite itself skips, and
// `tasks-mrtr-composition`, which needs questions before a task exists.
const EXPECTED = {
  "tasks-lifecycle": 9,
  "tasks-capability-negotiation": 5,
  "tasks-wire-fields": 4,
  "tasks-request-state-removal": 3,
  "tasks-mrtr-input": 4,
  "tasks-request-headers": 5,
  "tasks-dispatch-and-envelope": 9,
  "tasks-required-task-error": 3,
  "server-stateless": [
    "sep-2575-server-sends-subscription-ack",
    "sep-2575-server-tags-subscription-id",
    "sep-2575-server-honors-notification-filter",
  ],
};
const NODE_MAJOR = 22;
const LISTENING_MS = 20_000;
const SCENARIO_MS = 120_000;

const here = dirname(fileURLToPath(import.meta.url));
const results = join(here, "results");
const suite = join(here, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

function fail(words) {
  console.error(`conformance: ${words}`);
  process.exit(1);
}

/** A Node that is new enough for the suite: this one, or that of the lock file. */
function findNode() {
  if (Number(process.versions.node.split(".")[0]) >= NODE_MAJOR) return process.execPath;
  const { platform, arch } = process;
  const node = join(here, "node_modules", `node-${platform}-${arch}`, "bin/node");
  if (existsSync(node)) return node;
  return fail(`this Node is ${process.version}, the suite needs ${NODE_MAJOR}, and package.json brings none for ${platform}-${arch}`);
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

/** Runs one scenario and reads the checks that it wrote. */
function check(node, url, scenario) {
  const folder = join(results, scenario);
  // Not `--spec-version`: with it extension scenarios are skipped.
  const args = [suite, "server", "--url", url, "--scenario", scenario, "--output-dir", folder];
  return new Promise((resolve) => {
    execFile(node, args, { timeout: SCENARIO_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const [run] = existsSync(folder) ? readdirSync(folder) : [];
      const written = run && join(folder, run, "checks.json");
      if (written && existsSync(written)) return resolve(JSON.parse(readFileSync(written, "utf8")));
      console.error(`${scenario} wrote no checks\n${error ?? ""}\n${stdout}${stderr}`);
      resolve([]);
    });
  });
}

const [binary, ...chosen] = process.argv.slice(2);
if (!binary) fail("usage: node run.mjs PATH_OF_FIXTURES [SCENARIO...]");
if (!existsSync(binary)) fail(`${binary} is missing: cargo build -p mcp-tasks-tests --bin fixtures`);
if (!existsSync(suite)) fail("the suite is not installed: npm ci --ignore-scripts in tests/conformance");
const unknown = chosen.find((scenario) => !(scenario in EXPECTED));
if (unknown) fail(`there is no scenario ${unknown}; there are: ${Object.keys(EXPECTED).join(", ")}`);

const node = findNode();
rmSync(results, { recursive: true, force: true });
const { server, said, url: listening } = start(binary);
const url = await listening.catch((error) => fail(`the fixture server failed: ${error.message}\n${said.join("\n")}`));

const row = (...cells) => console.log(cells.map((cell, i) => (i ? String(cell).padStart(9) : cell.padEnd(30))).join(""));
row("scenario", "expected", "success", "failure", "warning", "other", "seconds");
const troubles = [];
let passed = 0;
let failed = 0;
for (const scenario of chosen.length ? chosen : Object.keys(EXPECTED)) {
  const begun = Date.now();
  const chosenChecks = Array.isArray(EXPECTED[scenario]) ? EXPECTED[scenario] : undefined;
  const checks = (await check(node, url, scenario)).filter(({ id }) => chosenChecks?.includes(id) ?? true);
  const count = (status) => checks.filter((check) => check.status === status).length;
  const [success, failure, warning] = ["SUCCESS", "FAILURE", "WARNING"].map(count);
  const other = checks.length - success - failure - warning;
  const expected = chosenChecks?.length ?? EXPECTED[scenario];
  row(scenario, expected, success, failure, warning, other, ((Date.now() - begun) / 1000).toFixed(1));
  for (const check of checks.filter((check) => check.status !== "SUCCESS")) {
    troubles.push(`${scenario}: ${check.status} ${check.id}: ${check.errorMessage ?? check.description}`);
  }
  if (success !== expected) troubles.push(`${scenario}: ${success} checks passed, ${expected} must`);
  passed += success;
  failed += Math.max(Math.abs(expected - success), checks.length - success);
}
if (server.exitCode !== null || server.signalCode !== null) {
  troubles.push(`the fixture server ended with ${server.exitCode ?? server.signalCode}`);
  failed += 1;
}
if (troubles.length) {
  console.log(["", ...troubles, "", "The server said:", ...said, `The checks are in ${results}`].join("\n"));
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
