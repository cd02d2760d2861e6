// The inbox in a real browser: what people do there, by keyboard, with and
// without JavaScript. On every page it is checked that nothing comes from
// elsewhere, that the console is silent, and that axe finds nothing.
//
//     node run.mjs [--installed] [--shots FOLDER] ../../target/debug/fixtures [WORD...]
//
// With words, the cases whose names have one of them.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const NODE_MAJOR = 20;
const CASE_MS = 60_000;
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

const here = dirname(fileURLToPath(import.meta.url));

function fail(words) {
  console.error(`inbox: ${words}`);
  process.exit(1);
}

const args = process.argv.slice(2);
const installed = args[0] === "--installed" && args.shift();
const shots = args[0] === "--shots" ? resolve(args.splice(0, 2)[1]) : undefined;
const [given, ...words] = args;
if (!given) fail("usage: node run.mjs [--installed] [--shots FOLDER] PATH_OF_FIXTURES [WORD...]");
const binary = resolve(given);
if (!existsSync(binary)) fail(`${binary} is missing: cargo build -p mcp-tasks-tests --bin fixtures`);
if (!existsSync(CHROMIUM)) fail(`${CHROMIUM} is missing: install Chromium, or name it in CHROMIUM`);
if (!installed) {
  const npm = ["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  execFileSync("npm", npm, { cwd: here, stdio: ["ignore", "inherit", "inherit"] });
}
if (Number(process.versions.node.split(".")[0]) < NODE_MAJOR) {
  // That of the lock file is new enough.
  const node = join(here, "node_modules", `node-${process.platform}-${process.arch}`, "bin/node");
  if (!existsSync(node)) fail(`this Node is ${process.version}, ${NODE_MAJOR} is needed, and package.json brings none for this machine`);
  const again = [fileURLToPath(import.meta.url), "--installed", ...(shots ? ["--shots", shots] : []), binary, ...words];
  process.exit(spawnSync(node, again, { stdio: "inherit" }).status ?? 1);
}

const { chromium } = await import("playwright-core");
const { start } = await import("./server.mjs");
const { cases } = await import("./cases.mjs");
const axe = createRequire(import.meta.url)("axe-core").source;

/** What axe finds wrong on a page, in words. */
async function inaccessible(page) {
  await page.evaluate(axe);
  const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
  const { violations } = await page.evaluate((values) => axe.run(document, { runOnly: { type: "tag", values } }), tags);
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)}`));
}

/** Runs one case, and gives all that was wrong. */
async function check(name, browser) {
  const troubles = [];
  const server = await start(binary);
  const contexts = [];
  const open = async ({ expected, ...options } = {}) => {
    const scripted = options.javaScriptEnabled ?? true;
    const context = await browser.newContext({
      httpCredentials: { ...server.credentials, origin: server.origin },
      locale: "en-US",
      timezoneId: "Asia/Kolkata",
      viewport: { width: 1000, height: 800 },
      ...options,
    });
    contexts.push(context);
    context.setDefaultTimeout(10_000);
    context.on("request", (request) => {
      if (!request.url().startsWith(`${server.origin}/`)) troubles.push(`a request to ${request.url()}`);
    });
    context.on("console", (message) => {
      // What a browser says of every answer that does not fit, and of what a case brings about.
      const known = ["status of 422", expected].some((words) => words && message.text().includes(words));
      const unfit = known && message.location().url.startsWith(server.inbox);
      if (["error", "warning"].includes(message.type()) && !unfit) troubles.push(`in the console: ${message.text()}`);
    });
    context.on("weberror", (error) => troubles.push(`in the script: ${error.error().message}`));
    const page = await context.newPage();
    page.scripted = scripted;
    await page.goto(server.inbox);
    return page;
  };
  const shot = async (page, title) => {
    if (page.scripted) troubles.push(...(await inaccessible(page)).map((words) => `${title}: ${words}`));
    if (shots) await page.screenshot({ path: join(shots, `${title.replaceAll(" ", "-")}.png`), fullPage: true });
  };
  let late;
  const patience = new Promise((_, reject) => {
    late = setTimeout(() => reject(new Error(`it takes more than ${CASE_MS} ms`)), CASE_MS);
  });
  try {
    await Promise.race([cases[name]({ server, open, shot }), patience]);
    for (const page of contexts.flatMap((context) => context.pages()).filter((page) => page.scripted))
      troubles.push(...(await inaccessible(page)).map((words) => `at the end: ${words}`));
  } catch (error) {
    troubles.push(error.stack);
    for (const page of contexts.flatMap((context) => context.pages())) await shot(page, `failed ${name.slice(0, 40)}`);
  }
  clearTimeout(late);
  for (const context of contexts) await context.close();
  server.stop();
  return troubles;
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
if (shots) mkdirSync(shots, { recursive: true });
const chosen = Object.keys(cases).filter((name) => !words.length || words.some((word) => name.includes(word)));
if (!chosen.length) fail(`no case has any of these words: ${words.join(", ")}`);
// Its profile is a fresh folder, which goes with it.
const browser = await chromium.launch({ executablePath: CHROMIUM, args: FLAGS });
console.log(`Chromium ${browser.version()}`);
let failed = 0;
for (const name of chosen) {
  const begun = Date.now();
  const troubles = await check(name, browser).catch((error) => [error.stack]);
  failed += troubles.length ? 1 : 0;
  console.log(`${troubles.length ? "FAILED" : "ok    "} ${name} (${((Date.now() - begun) / 1000).toFixed(1)} s)`);
  for (const trouble of troubles) console.log(`       ${trouble}`);
}
await browser.close();
console.log(`${chosen.length - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
