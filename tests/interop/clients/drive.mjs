// What the programs in this folder have in common: each connects a client that
// others wrote, and this module has it do the cases that it is given on stdin.
// Nothing is judged here; every outcome goes to stdout, one line each.

import { setMaxListeners } from "node:events";
import { text } from "node:stream/consumers";

const CASE_MS = 30_000;
const SETTLED_MS = 10_000;

/** The one thing that a client is known by in this suite. */
export const CLIENT = { name: "interop", version: "1" };

/** What arrives without being asked for, or is complained about. */
const unexpected = [];

/** The questions at URLs that the server says are over. */
const completed = [];

/** Takes a notification that the client has no handler for. */
export async function notified({ method, params }) {
  if (method === "notifications/elicitation/complete") completed.push(params.elicitationId);
  else complain(`notification ${method}`);
}

/** Notes that the client said something that it should not have to say. */
export function complain(what) {
  unexpected.push(what instanceof Error ? `${what.name}: ${what.message}` : String(what));
}

// Calls that are made at the same time listen to one signal.
setMaxListeners(0);

console.warn = (...words) => complain(words.join(" "));
console.error = console.warn;
process.on("unhandledRejection", complain);

function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}

/** Whoever answers the questions of one case. */
export class Desk {
  asked = [];
  progress = [];
  #answers;
  #stop;
  #cancelWhen;
  #over = new AbortController();

  constructor({ answers = {}, cancel }, stop) {
    this.#answers = answers;
    this.#cancelWhen = cancel;
    this.#stop = stop;
  }

  /** Answers a question; `signal` tells that it is no longer asked. */
  async answer(method, params, signal) {
    const key = keyOf(method, params);
    this.asked.push({ key, params });
    const answer = this.#answers[key];
    this.#happened("asked");
    if (answer === "never") await this.#withdrawn(signal);
    if (answer === undefined) throw new Error(`nobody expects the question "${key}"`);
    if (typeof answer === "string") return { action: "accept", content: { answer } };
    const { after, ...response } = answer;
    if (after) await new Promise((resolve) => setTimeout(resolve, after));
    return response;
  }

  /** Notes that the server told how far the call is. */
  progressed({ progress, total, message }) {
    this.progress.push({ progress, total, message });
    this.#happened("started");
  }

  /** Notes that the call has become a task. */
  created() {
    this.#happened("started");
  }

  /** Nobody answers any more. */
  close() {
    this.#over.abort();
  }

  #happened(what) {
    if (this.#cancelWhen === what) this.#stop();
  }

  #withdrawn(signal) {
    return new Promise((_, reject) => {
      const gone = () => reject(new Error("the question is withdrawn"));
      for (const end of [signal, this.#over.signal]) {
        if (end?.aborted) gone();
        end?.addEventListener("abort", gone);
      }
    });
  }
}

/** How the table of cases names a question. */
function keyOf(method, params) {
  if (method === "sampling/createMessage") {
    const [first] = [params.messages[0].content].flat();
    return `model: ${first.text}`;
  }
  return method === "roots/list" ? "roots" : params.message;
}

/** A result as the client handed it over. */
export function complete({ content, structuredContent, isError, _meta }) {
  return { content, structuredContent, isError: isError ?? false, meta: _meta };
}

/**
 * Reads the job, connects, and does all cases.
 *
 * `connect(job, bare, deskOf)` gives `list()`, `call(case, desk, signal)`, which
 * gives an outcome or throws, and `close()`; `refusal(error)` gives the JSON-RPC
 * error that a thrown error stands for, if it does; `atOnce` is how many calls
 * are made at the same time.
 */
export async function drive({ connect, refusal, atOnce = 1 }) {
  const job = JSON.parse(await text(process.stdin));
  const client = await connect(job, false);
  const bare = await connect(job, true);
  say({ tools: (await client.list()).map(({ name }) => name) });
  const left = [...job.cases];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      say({ case: next.case, ...(await one(next.bare ? bare : client, next, refusal)) });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  await client.close();
  await bare.close();
  say({ completed, unexpected });
  process.exit(0);
}

async function one(client, wanted, refusal) {
  const stop = new AbortController();
  const desk = new Desk(wanted, () => stop.abort());
  let late;
  const never = new Promise((_, reject) => {
    late = setTimeout(() => reject(new Error(`no outcome after ${CASE_MS} ms`)), CASE_MS);
  });
  let outcome;
  try {
    outcome = await Promise.race([client.call(wanted, desk, stop.signal), never]);
  } catch (error) {
    const refused = refusal(error);
    if (stop.signal.aborted) outcome = { cancelled: true, ...(await settled(client, wanted)) };
    else if (refused) outcome = { error: refused };
    else outcome = { broken: `${error.name}: ${error.message}` };
  }
  clearTimeout(late);
  desk.close();
  return { ...outcome, asked: desk.asked, progress: desk.progress };
}

/** What a cancelled call has left behind at the server, once it has settled. */
async function settled(client, wanted) {
  if (client.ended) return { ends: await client.ended(wanted) };
  const deadline = Date.now() + SETTLED_MS;
  for (;;) {
    const { structuredContent } = await client.call({ tool: "stats" }, new Desk({}));
    const { live, resident } = structuredContent;
    if (live + resident === 0 || Date.now() > deadline) return { left: live + resident };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
