// What people do at the inbox. Each case has a server and a browser context of
// its own; what holds for every page is checked in `run.mjs`.

import assert from "node:assert/strict";

const TABS = 80;

/** The card of a tool. */
const card = (page, tool) => page.locator(".card", { has: page.getByRole("heading", { name: tool, exact: true }) });

/** Presses Tab until this has the focus, as somebody without a mouse does. */
async function tabTo(page, locator) {
  for (let tabs = 0; tabs < TABS; tabs++) {
    await page.keyboard.press("Tab");
    if (await locator.evaluate((element) => element === document.activeElement)) return;
  }
  throw new Error(`no Tab leads to ${locator}`);
}

/** Waits until what has changed is on the screen. */
const frame = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

const note = (page) => page.getByRole("status").first();

export const cases = {
  async "a form is filled in and sent by keyboard alone"({ server, open, shot }) {
    const task = await server.asks("form");
    const page = await open();
    const form = card(page, "form");
    await shot(page, "list");
    const type = async (name, text) => {
      await tabTo(page, form.getByLabel(name, { exact: true }));
      await page.keyboard.press("ControlOrMeta+A");
      await page.keyboard.type(text);
    };
    await type("Name (required)", "Ada");
    await type("Short name (required)", "ada");
    await type("Email", "ada@example.org");
    await type("Link", "https://example.org/");
    await tabTo(page, form.getByLabel("Day", { exact: true }));
    await page.keyboard.type("07282026");
    await tabTo(page, form.getByLabel("Date and time"));
    await page.keyboard.type("072820260930AM");
    await type("Percent", "25");
    await tabTo(page, form.getByRole("group", { name: "Careful" }).getByLabel("Yes"));
    await page.keyboard.press("ArrowDown");
    await tabTo(page, form.getByRole("group", { name: "Level (required)" }).getByLabel("low"));
    await page.keyboard.press("Space");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, form.getByRole("group", { name: "Levels (required)" }).getByLabel("low"));
    await page.keyboard.press("Space");
    await tabTo(page, form.getByRole("button", { name: "Answer" }));
    await page.keyboard.press("Enter");
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.equal(await form.count(), 0);
    assert.ok(await note(page).evaluate((element) => element === document.activeElement), "the note has the focus");
    const { moment, ...rest } = await server.result(task);
    assert.match(moment, /^2026-07-28T09:30:00\+05:30$/);
    assert.deepEqual(rest, {
      name: "Ada", short: "ada", remark: "none", email: "ada@example.org", link: "https://example.org/",
      day: "2026-07-28", ratio: 0.5, percent: 25, careful: false, level: "high", window: "tonight", levels: ["low"],
    });
  },

  async "the browser says at once what is missing, and declining needs nothing"({ server, open }) {
    const task = await server.asks("ask1");
    const page = await open();
    const form = card(page, "ask1");
    await form.getByRole("button", { name: "Answer" }).click();
    assert.equal(await form.locator("input:invalid").count(), 1);
    assert.equal((await server.get(task)).status, "input_required");
    await form.getByRole("button", { name: "Decline" }).click();
    await note(page).filter({ hasText: "You declined" }).waitFor();
    await page.getByText("No open questions").waitFor();
    assert.equal(await server.result(task), "declined");
    assert.equal(await page.title(), "Inbox \u00b7 fixtures");
  },

  async "a question that comes leaves alone what somebody is typing"({ server, open, shot }) {
    const first = await server.asks("ask1");
    const page = await open();
    await page.getByText("New questions appear by themselves.").waitFor();
    const field = card(page, "ask1").getByRole("textbox");
    await field.pressSequentially("half an ans");
    await server.asks("confirm");
    await card(page, "confirm").waitFor();
    await note(page).filter({ hasText: "A new question: confirm" }).waitFor();
    assert.equal(await page.title(), "(2) Inbox \u00b7 fixtures");
    await page.keyboard.type("wer");
    assert.equal(await field.inputValue(), "half an answer");
    assert.ok(await field.evaluate((element) => element === document.activeElement), "the focus stays");
    await shot(page, "arrived");
    // The answer to another leaves it alone, too.
    await card(page, "confirm").getByRole("button", { name: "Confirm" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.equal(await field.inputValue(), "half an answer");
    await field.press("Enter");
    await page.getByText("No open questions").waitFor();
    assert.equal(await server.result(first), "got: half an answer");
  },

  async "what is answered elsewhere goes away, unless somebody is at it"({ server, open, shot }) {
    const idle = await server.asks("choose");
    const busy = await server.asks("ask1");
    const page = await open();
    await page.getByText("New questions appear by themselves.").waitFor();
    const form = card(page, "ask1");
    await form.getByRole("textbox").fill("mine");
    await server.answer(idle, "light", {});
    await card(page, "choose").waitFor({ state: "detached" });
    await server.answer(busy, "answer", { answer: "theirs" });
    await form.getByText("This question was answered elsewhere").waitFor();
    assert.equal(await form.getByRole("textbox").inputValue(), "mine");
    assert.ok(await form.getByRole("button", { name: "Answer" }).isDisabled());
    await shot(page, "answered elsewhere");
    await note(page).filter({ hasText: "Answered elsewhere, or asked no more: choose." }).waitFor();
    await form.getByRole("button", { name: "Close" }).click();
    const none = page.getByText("No open questions");
    await none.waitFor();
    assert.equal(await form.count(), 0);
    assert.ok(await none.evaluate((element) => element === document.activeElement), "the focus is not lost");
  },

  async "what somebody is typing stays where it is on the screen"({ server, open }) {
    await server.asks("ask1");
    const page = await open({ viewport: { width: 1000, height: 500 } });
    await page.getByText("New questions appear by themselves.").waitFor();
    const field = card(page, "ask1").getByRole("textbox");
    await field.click();
    const before = await field.boundingBox();
    // It is longer than the window, and comes above.
    await server.asks("form");
    await card(page, "form").waitFor();
    await frame(page);
    const after = await field.boundingBox();
    assert.ok(Math.abs(after.y - before.y) < 2, `it went from ${before.y} to ${after.y}`);
  },

  async "what is said of an answer is seen where somebody is in a long list"({ server, open, shot }) {
    for (const tool of ["confirm", "form", "form", "ask1"]) await server.asks(tool);
    const page = await open({ viewport: { width: 1000, height: 500 } });
    const last = card(page, "confirm");
    await last.getByRole("button", { name: "Confirm" }).scrollIntoViewIfNeeded();
    const before = await page.evaluate(() => window.scrollY);
    await last.getByRole("button", { name: "Confirm" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    const { y } = await note(page).boundingBox();
    assert.ok(y >= 0 && y < 100, `it is at ${y}`);
    assert.ok(before - (await page.evaluate(() => window.scrollY)) < 500, "nobody is sent back to the top");
    await shot(page, "answered far below");
    // Later it is in nobody's way.
    await page.evaluate(() => {
      const now = Date.now;
      Date.now = () => now() + 60_000;
    });
    await card(page, "form").last().getByLabel("Remark", { exact: true }).fill("on we go");
    const { y: later } = await note(page).boundingBox();
    assert.ok(later < 0, `it is at ${later}`);
  },

  async "one's own answer is not taken for somebody else's, whichever news comes first"({ server, open }) {
    const page = await open();
    await page.getByText("New questions appear by themselves.").waitFor();
    await server.asks("ask2");
    const form = card(page, "ask2");
    await form.getByText("The first?").waitFor();
    await page.evaluate(() => {
      window.said = [];
      const watch = () => window.said.push(document.getElementById("inbox").innerText);
      new MutationObserver(watch).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    await form.getByRole("textbox").fill("1");
    // The next question is there before the reply to this answer.
    await page.route("**/inbox?", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      const response = await route.fetch();
      await page.getByText("The second?").waitFor();
      await route.fulfill({ response });
    });
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    await page.getByText("The first?").waitFor({ state: "detached" });
    const said = await page.evaluate(() => window.said);
    assert.deepEqual(said.filter((words) => words.includes("answered elsewhere")), []);
  },

  async "what went wrong on the way does not look like an answer"({ server, open, shot }) {
    const task = await server.asks("ask1");
    const page = await open({ expected: "ERR_FAILED" });
    const form = card(page, "ask1");
    await form.getByRole("textbox").fill("mine");
    const colour = () => note(page).evaluate((element) => getComputedStyle(element).backgroundColor);
    await page.route("**/inbox?", (route) => (route.request().method() === "POST" ? route.abort() : route.continue()));
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "The server cannot be reached" }).waitFor();
    assert.equal(await form.getByRole("textbox").inputValue(), "mine");
    const failed = await colour();
    await shot(page, "not sent");
    await page.unroute("**/inbox?");
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.notEqual(await colour(), failed);
    assert.equal(await server.result(task), "got: mine");
  },

  async "questions come by themselves again after a proxy has said that there is no server"({ server, open }) {
    const page = await open({ expected: "status of 502" });
    await page.getByText("New questions appear by themselves.").waitFor();
    let refused = 0;
    await page.route("**/inbox?events", (route) => (refused++ ? route.continue() : route.fulfill({ status: 502 })));
    await page.reload();
    await page.getByText("The connection is lost").waitFor();
    await page.getByText("New questions appear by themselves.").waitFor();
    await server.asks("confirm");
    await card(page, "confirm").waitFor();
  },

  async "more tabs can be open than a browser has connections"({ server, open }) {
    const first = await open();
    await first.getByText("New questions appear by themselves.").waitFor();
    const look = (page, hidden) =>
      page.evaluate((hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
      }, hidden);
    // Connections are those of one browser: all tabs are of one context.
    let last = first;
    for (let tabs = 1; tabs <= 7; tabs++) {
      await look(last, true);
      last = await first.context().newPage();
      await last.goto(server.inbox);
    }
    await server.asks("confirm");
    await card(last, "confirm").waitFor();
    assert.equal(await card(first, "confirm").count(), 0);
    await look(first, false);
    await card(first, "confirm").waitFor();
    assert.equal(await first.title(), "(1) Inbox \u00b7 fixtures");
  },

  async "whoever is signed out meanwhile loses nothing and is told"({ server, open, shot }) {
    const task = await server.asks("ask1");
    await server.asks("confirm");
    const page = await open();
    await page.getByText("New questions appear by themselves.").waitFor();
    const form = card(page, "ask1");
    await form.getByRole("textbox").fill("mine");
    const signIn = { contentType: "text/html", body: "<h1>Sign in</h1>" };
    let shown = 0;
    await page.route("**/inbox?", (route) => (shown++, route.fulfill(signIn)));
    await server.asks("choose");
    while (!shown) await frame(page);
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "you are signed out, it seems" }).waitFor();
    assert.equal(await form.getByRole("textbox").inputValue(), "mine");
    assert.equal(await page.getByText("answered elsewhere").count(), 0);
    await card(page, "confirm").waitFor();
    await shot(page, "signed out");
    await page.unroute("**/inbox?");
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.equal(await server.result(task), "got: mine");
    await card(page, "choose").waitFor();
  },

  async "whoever signs in again beside the page hears of new questions again"({ server, open }) {
    await server.asks("ask1");
    const page = await open({ expected: "status of 401" });
    const url = /\/inbox\?(events)?$/;
    let looks = 0;
    await page.route(url, (route) => {
      if (!route.request().url().endsWith("events")) looks++;
      return route.fulfill({ status: 401 });
    });
    await page.reload();
    await page.getByText("The connection is lost").waitFor();
    while (!looks) await frame(page);
    await page.unroute(url);
    const form = card(page, "ask1");
    await form.getByRole("textbox").fill("mine");
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    await page.getByText("New questions appear by themselves.").waitFor();
  },

  async "what is wrong is said at the field and above, and nothing is lost"({ server, open, shot }) {
    await server.asks("confirm");
    const task = await server.asks("form");
    const page = await open();
    const form = card(page, "form");
    await form.getByLabel("Name (required)", { exact: true }).fill("Ada");
    await form.getByLabel("Short name (required)", { exact: true }).fill("ada");
    await form.getByLabel("Email", { exact: true }).fill("nobody");
    await form.getByRole("group", { name: "Level (required)" }).getByLabel("high").check();
    await form.getByRole("button", { name: "Answer" }).click();
    const summary = form.getByRole("alert");
    await summary.waitFor();
    assert.ok(await summary.evaluate((element) => element === document.activeElement), "the summary has the focus");
    assert.match(await page.title(), /^Error: /);
    await shot(page, "error");
    const email = form.getByLabel("Email", { exact: true });
    assert.equal(await email.getAttribute("aria-invalid"), "true");
    assert.equal(await email.inputValue(), "nobody");
    assert.equal(await form.getByLabel("Name (required)", { exact: true }).inputValue(), "Ada");
    await summary.getByRole("link", { name: /^Email must be a mail address/ }).press("Enter");
    assert.ok(await email.evaluate((element) => element === document.activeElement), "the link leads there");
    await email.fill("");
    await form.getByRole("group", { name: "Levels (required)" }).getByLabel("low").check();
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.equal((await server.result(task)).name, "Ada");
    await card(page, "confirm").waitFor();
  },

  async "everything works without JavaScript"({ server, open, shot }) {
    const task = await server.asks("form");
    const sure = await server.asks("confirm");
    const page = await open({ javaScriptEnabled: false, colorScheme: "dark" });
    const form = card(page, "form");
    await form.getByLabel("Name (required)", { exact: true }).fill("Ada");
    await form.getByLabel("Short name (required)", { exact: true }).fill("ada");
    await form.getByLabel("Date and time").fill("2026-07-28T09:30");
    await form.getByRole("group", { name: "Level (required)" }).getByLabel("high").check();
    await form.getByRole("button", { name: "Answer" }).click();
    await form.getByRole("link", { name: /^Moment needs its offset from UTC/ }).waitFor();
    await shot(page, "error without script");
    await form.getByLabel("Offset from UTC").selectOption("+02:00");
    await form.getByRole("group", { name: "Levels (required)" }).getByLabel("low").check();
    await form.getByRole("button", { name: "Answer" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    assert.equal((await server.result(task)).moment, "2026-07-28T09:30:00+02:00");
    await card(page, "confirm").getByRole("button", { name: "Dismiss" }).click();
    await note(page).filter({ hasText: "You dismissed" }).waitFor();
    assert.equal(await server.result(sure), "dismissed");
    assert.equal(new URL(page.url()).pathname, "/inbox");
  },

  async "a page to open is named before it is opened, in a tab of its own"({ server, open, shot }) {
    const task = await server.asks("open_url");
    const page = await open();
    const form = card(page, "open_url");
    await form.getByText("This leads to example.org").waitFor();
    await shot(page, "url");
    const link = form.getByRole("link");
    assert.equal(await link.getAttribute("href"), "https://example.org/in");
    assert.equal(await link.getAttribute("target"), "_blank");
    assert.equal(await link.getAttribute("rel"), "noopener noreferrer");
    await form.getByRole("button", { name: "Agree" }).click();
    await note(page).filter({ hasText: "Your answer was recorded." }).waitFor();
    await server.result(task);
  },

  async "questions of one tool are told apart by what they ask"({ server, open, shot }) {
    await server.asks("askpar");
    const page = await open();
    await page.getByRole("group", { name: "askpar", description: "The left one?" }).getByRole("textbox").fill("1");
    await page.getByRole("group", { name: "askpar", description: "The right one?" }).getByRole("textbox").fill("2");
    await shot(page, "twins");
  },

  async "it fits a window of 320 pixels, in light and in dark"({ server, open, shot }) {
    for (const tool of ["form", "open_url", "choose"]) await server.asks(tool);
    for (const colorScheme of ["light", "dark"]) {
      const page = await open({ viewport: { width: 320, height: 640 }, colorScheme });
      await card(page, "form").waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      assert.ok(width <= 320, `it is ${width} pixels wide`);
      await shot(page, `narrow ${colorScheme}`);
    }
    const page = await open({ viewport: { width: 1000, height: 800 }, colorScheme: "dark" });
    await shot(page, "dark");
  },

  async "an empty inbox says so"({ open, shot }) {
    const page = await open();
    await page.getByText("When a tool has a question for you, it is here.").waitFor();
    await shot(page, "empty");
  },
};
