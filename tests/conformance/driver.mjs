// What the suite starts as a client, with the URL of its server as the last argument:
// has our client do what the scenario wants to see. The library does most of it, by
// way of `foreign_client`; the terminal tool what is about a person at a form, and
// about what a tool says of its arguments.
//
//     node driver.mjs FOLDER_OF_PROGRAMS URL

import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const RUN_MS = 25_000;

const [folder, url] = process.argv.slice(2);
const context = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");

function run(program, args, input) {
  const { status, stdout, stderr, error } = spawnSync(join(folder, program), args, { input, encoding: "utf8", timeout: RUN_MS });
  process.stdout.write(stdout ?? "");
  process.stderr.write(stderr ?? "");
  if (error || status !== 0) {
    console.error(`${program} ended with ${error?.message ?? status}`);
    process.exit(1);
  }
  return stdout;
}

/** Calls tools one after the other, over one connection. */
function library(...calls) {
  const cases = calls.map(({ tool, ...rest }, i) => ({ case: `${i} ${tool}`, tool, ...rest }));
  const said = run("foreign_client", [], JSON.stringify({ server: { url }, cases }));
  const outcomes = said.split("\n").filter((line) => line.startsWith('{"') && line.includes('"case"'));
  const wrong = outcomes.filter((line) => JSON.parse(line).error);
  if (wrong.length || outcomes.length !== cases.length) process.exit(1);
}

/** Calls a tool from a terminal that is none. */
function terminal(tool, args, answers) {
  const files = mkdtempSync(join(tmpdir(), "conformance-"));
  process.on("exit", () => rmSync(files, { recursive: true, force: true }));
  process.env.MCP_TASKS_BOOK = join(files, "book");
  const flags = ["--http", url, "--json"];
  if (answers) {
    writeFileSync(join(files, "answers.json"), JSON.stringify(answers));
    flags.push("--answers", join(files, "answers.json"));
  }
  run("mcp-tasks", ["call", tool, JSON.stringify(args), ...flags]);
}

/** What the tools of the server say of their arguments. */
function schemas() {
  const lines = run("mcp-tasks", ["tools", "--http", url, "--json"]).trim().split("\n");
  return Object.fromEntries(lines.map((line) => JSON.parse(line)).map((tool) => [tool.name, tool.input_schema]));
}

const confirm = { confirm: { action: "accept", content: { confirmed: true } } };

/** What is done, by scenario. */
const DONE = {
  initialize: () => library(),
  tools_call: () => {
    library({ tool: "add_numbers", arguments: { a: 2, b: 3 } });
    terminal("add_numbers", { a: 2, b: 3 });
  },
  // Nothing is filled in: the defaults count.
  "elicitation-sep1034-client-defaults": () => terminal("test_client_elicitation_defaults", {}, { "question-1": {} }),
  "sse-retry": () => library({ tool: "test_reconnection" }),
  "request-metadata": () => library(),
  "sep-2322-client-request-state": () =>
    library(
      { tool: "test_mrtr_echo_state", answers: confirm },
      { tool: "test_mrtr_unrelated" },
      { tool: "test_mrtr_no_state", answers: confirm },
      { tool: "test_mrtr_no_result_type" },
    ),
  "http-standard-headers": () => library({ tool: "test_headers" }),
  "http-custom-headers": () => library(...context.toolCalls.map(({ name, arguments: args }) => ({ tool: name, arguments: args }))),
  "http-invalid-tool-headers": () => {
    // Whatever is listed may be called.
    for (const tool of Object.keys(schemas())) library({ tool, arguments: { region: "us-west1" } });
  },
  "json-schema-ref-no-deref": () => schemas(),
  "json-schema-2020-12-preservation": () => terminal("json_schema_echo", { schema: schemas().json_schema_2020_12_tool }),
};

const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
if (!(scenario in DONE)) {
  console.error(`there is nothing to do for ${scenario}`);
  process.exit(1);
}
DONE[scenario]();
