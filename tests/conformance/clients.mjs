// Runs the public conformance suite against our client, the library and the terminal
// tool, as each revision of MCP requires it of clients, and counts what passed. The
// suite is the server; `driver.mjs` is what it starts.
//
//     npm ci --ignore-scripts
//     node clients.mjs ../../target/debug [SCENARIO...]

import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { EXPECTED, ELSEWHERE } from "./expected_of_clients.mjs";
import { findNode, required, suite } from "./suite.mjs";

const SCENARIO_MS = 60_000;
const AT_ONCE = 2;

const here = dirname(fileURLToPath(import.meta.url));
const results = join(here, "results-clients");

function fail(words) {
  console.error(`conformance: ${words}`);
  process.exit(1);
}

/** Runs one scenario and gives its checks, and what the suite has said. */
function run({ revision, scenario }) {
  const folder = join(results, revision);
  const command = `${process.execPath} ${join(here, "driver.mjs")} ${programs}`;
  const args = [join(suite, "dist/index.js"), "client", "--command", command, "--scenario", scenario];
  args.push("--spec-version", revision, "--output-dir", folder);
  return new Promise((done) => {
    execFile(node, args, { timeout: SCENARIO_MS, maxBuffer: 1 << 26 }, (error, stdout, stderr) => {
      const folders = existsSync(folder) ? readdirSync(folder) : [];
      const written = folders.find((name) => name.startsWith(`${scenario}-2`));
      const checks = written && join(folder, written, "checks.json");
      const read = checks && existsSync(checks) ? JSON.parse(readFileSync(checks, "utf8")) : [];
      done({ checks: read, broke: error && `the suite ended with ${error.signal ?? error.code}\n${(stdout + stderr).slice(-3000)}` });
    });
  });
}

const [given, ...chosen] = process.argv.slice(2);
if (!given) fail("usage: node clients.mjs FOLDER_OF_PROGRAMS [SCENARIO...]");
const programs = resolve(given);
for (const program of ["foreign_client", "mcp-tasks"]) {
  if (!existsSync(join(programs, program))) fail(`${join(programs, program)} is missing: cargo build --workspace`);
}
if (/\s/.test(here + programs)) fail("the suite cannot start programs in folders whose names have spaces");
if (!existsSync(suite)) fail("the suite is not installed: npm ci --ignore-scripts in tests/conformance");

const node = findNode();
rmSync(results, { recursive: true, force: true });
const runs = Object.entries(EXPECTED).flatMap(([revision, scenarios]) =>
  Object.entries(scenarios)
    .filter(([scenario]) => !chosen.length || chosen.includes(scenario))
    .map(([scenario, success]) => ({ revision, scenario, success })),
);
if (!runs.length) fail(`there is no scenario ${chosen}`);
const left = [...runs];
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let next = left.shift(); next; next = left.shift()) next.outcome = await run(next);
  }),
);

const troubles = [];
const row = (...cells) => console.log(cells.map((cell, i) => String(cell)[i < 2 ? "padEnd" : "padStart"](i === 1 ? 40 : 12)).join(""));
row("revision", "scenario", "scored", "expected", "success", "failure", "warning");
const scored = Object.fromEntries(Object.keys(EXPECTED).map((revision) => [revision, required(revision, "client")]));
for (const { revision, scenario, success, outcome } of runs) {
  const { checks, broke } = outcome;
  const count = (status) => checks.filter((check) => check.status === status).length;
  const [passed, failed, warned] = ["SUCCESS", "FAILURE", "WARNING"].map(count);
  row(revision, scenario, scored[revision].has(scenario) ? "yes" : "no", success, passed, failed, warned);
  const wrong = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const words = wrong.map((check) => `${check.id}: ${check.errorMessage ?? check.description}`);
  if (passed !== success) words.unshift(`${passed} checks passed, ${success} must`);
  if (broke) words.push(broke);
  troubles.push(...words.map((word) => `${revision} ${scenario}: ${word}`));
}
if (!chosen.length) {
  for (const [revision, scenarios] of Object.entries(scored)) {
    const missing = [...scenarios].filter((scenario) => !(scenario in EXPECTED[revision]) && !ELSEWHERE.prefix(scenario));
    troubles.push(...missing.map((scenario) => `${revision} ${scenario}: it is scored, and expected_of_clients.mjs does not know it`));
    const skipped = [...scenarios].filter(ELSEWHERE.prefix).length;
    console.log(`   ${revision}: ${scenarios.size - skipped} of ${scenarios.size} scored scenarios; the others, ${ELSEWHERE.why}`);
  }
}
if (troubles.length) console.log(["", ...troubles, "", `The checks are in ${results}`].join("\n"));
process.exit(troubles.length ? 1 : 0);
