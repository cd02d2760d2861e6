// What the table of cases expects of which client, and whether an outcome is
// that. The programs in `clients/` only report; they do not judge.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";

const TASKS = { requiredCapabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };

/** What calls of tools get that can only be tasks, where there are none. */
const WITHOUT_TASKS = {
  session: { absent: true },
  rounds: { protocolError: -32021, data: TASKS },
};

/**
 * The case as it is for one run: what holds for an era goes before what holds
 * for all, and what holds for a version before both.
 */
export function forRun(wanted, { era, version, client }, placeholders) {
  const { needsTask, session, rounds, tasks, clients, ...common } = wanted;
  const without = needsTask && WITHOUT_TASKS[era] && { expect: WITHOUT_TASKS[era] };
  const byEra = { session, rounds, tasks }[era];
  const merged = { ...common, ...without, ...byEra, ...wanted[version], ...clients?.[client] };
  const filled = JSON.stringify(merged).replace(/\$\{(\w+)\}/g, (_, name) => placeholders[name]);
  return JSON.parse(filled);
}

/** The tools that a client must see: all that the cases call, but the absent. */
export function listed(cases) {
  const present = cases.filter(({ expect }) => !expect.absent);
  return [...new Set(present.map(({ tool }) => tool))].sort();
}

/** What is wrong with an outcome, in words; nothing if it is as expected. */
export function judge(wanted, outcome, { era, wire }) {
  // rmcp, which speaks HTTP in sessions, sorts them.
  const keepsOrder = !(era === "session" && wire === "http");
  const { expect } = wanted;
  const wrong = [];
  const must = (right, words) => right || wrong.push(words);
  const same = (what, is, should) =>
    must(isDeepStrictEqual(is, should), `${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`);

  const { asked, progress, ...rest } = outcome;
  const whole = JSON.stringify(rest);
  const refused = expect.absent || expect.protocolError === -32021;
  const questions = refused ? [] : Object.keys(wanted.answers ?? {});
  same("what was asked", asked.map(({ key }) => key).sort(), questions.sort());
  for (const [key, schema] of Object.entries(wanted.schemas ?? {})) {
    const shown = asked.find((question) => question.key === key)?.params.requestedSchema;
    same("the form", shown, schema);
    const fields = (form) => Object.keys(form?.properties ?? {});
    if (keepsOrder) same("the order of its fields", fields(shown), fields(schema));
  }
  judgeProgress(wanted.progress, progress, must, same);

  if (expect.cancelled) {
    must(outcome.cancelled, `not cancelled: ${whole}`);
    if (outcome.cancelled && era === "tasks") same("the task", outcome.ends, expect.ends ?? "cancelled");
    else if (outcome.cancelled) same("what is left at the server", outcome.left, 0);
    return wrong;
  }
  if (expect.absent || expect.protocolError) {
    const { code, message, data } = outcome.error ?? {};
    must(outcome.error, `no protocol error: ${whole}`);
    same("the code", code, expect.absent ? -32602 : expect.protocolError);
    const words = expect.absent ? wanted.tool : (expect.words ?? "");
    must(message?.includes(words), `the words are "${message}", without "${words}"`);
    if (expect.data) same("the data", data, expect.data);
    if (expect.never) must(!whole.includes(expect.never), `"${expect.never}" got out: ${whole}`);
    return wrong;
  }

  const { content, structuredContent, isError, meta } = outcome;
  if (!content) return [...wrong, `no result: ${whole}`];
  same("isError", isError, "toolError" in expect);
  const [first] = content;
  const words = expect.toolError ?? expect.text;
  if (words !== undefined) same("the text", first, { type: "text", text: words });
  if (expect.matches) must(new RegExp(expect.matches).test(first?.text), `the text is ${JSON.stringify(first)}`);
  if (expect.content) same("the content", content, expect.content);
  if (expect.structured) same("the structured content", structuredContent, expect.structured);
  if (expect.members) same("its members", Object.keys(structuredContent ?? {}).sort(), expect.members);
  for (const [key, value] of Object.entries(expect.meta ?? {})) same(`the _meta ${key}`, meta?.[key], value);
  if (expect.file) same("the file", readFileSync(wanted.arguments.file, "utf8"), expect.file);
  if (era === "tasks") same("that it was a task", outcome.task, expect.task ?? true);
  return wrong;
}

/**
 * The ids of the questions at URLs that somebody agreed to: in a session the
 * server says of each that it is over.
 */
export function agreed(cases, outcomes) {
  return cases.flatMap(({ case: name, answers }) =>
    (outcomes.find((line) => line.case === name)?.asked ?? [])
      .filter(({ key, params }) => params?.mode === "url" && answers[key].action === "accept")
      .map(({ params }) => params.elicitationId),
  );
}

/** Progress must grow, and say in the end what it should. */
function judgeProgress(wanted, told, must, same) {
  if (!wanted) return;
  const done = told.map(({ progress }) => progress);
  must(done.length > 0, "no progress was told");
  must(done.every((value, i) => i === 0 || value > done[i - 1]), `progress does not grow: ${done}`);
  const { includes, ...wantedLast } = wanted;
  if (includes) must(told.some((one) => isDeepStrictEqual(one, includes)), `no such progress: ${JSON.stringify(told)}`);
  const last = told.at(-1) ?? {};
  for (const [member, value] of Object.entries(wantedLast)) {
    same(`the last progress's ${member}`, last[member === "last" ? "progress" : member], value);
  }
}
