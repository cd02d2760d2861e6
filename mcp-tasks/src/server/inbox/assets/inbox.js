// Spares reloading the inbox, which works without this, too: questions come and
// go by themselves, and answers are sent without leaving the page. What somebody
// is typing stays, and so does the focus.
"use strict";

(() => {
  const inbox = document.getElementById("inbox");
  if (!inbox) return;
  const cards = document.getElementById("cards");
  const note = document.getElementById("note");
  const live = document.getElementById("live");

  const changed = (control) => {
    if (control.type === "hidden") return false;
    if (control.type === "radio" || control.type === "checkbox") return control.checked !== control.defaultChecked;
    if (control.tagName === "SELECT") {
      const first = [...control.options].findIndex((option) => option.defaultSelected);
      return control.selectedIndex !== Math.max(first, 0) && !control.dataset.guessed;
    }
    return "defaultValue" in control && control.value !== control.defaultValue;
  };
  const inUse = (card) =>
    card.contains(document.activeElement) || [...card.querySelectorAll("input, select, textarea")].some(changed);

  // The note stays in sight by itself: nothing is scrolled to it. Once there was time
  // to read it, it is in nobody's way.
  const TO_READ = 5000;
  let saidAt = Date.now();
  const goOn = () => {
    if (Date.now() - saidAt > TO_READ) note.classList.add("read");
  };
  cards.addEventListener("focusin", goOn);
  cards.addEventListener("input", goOn);
  const say = (words, { kind = "", focus = false } = {}) => {
    saidAt = Date.now();
    note.className = `note ${kind}`.trim();
    note.textContent = words;
    if (focus) note.focus({ preventScroll: true });
  };

  // What somebody looks at stays where it is, whatever comes and goes above it.
  const inPlace = (change) => {
    const seen = [...cards.children].filter((card) => card.getBoundingClientRect().bottom > 0);
    const focused = document.activeElement;
    const candidates = cards.contains(focused) ? [focused, ...seen] : window.scrollY > 0 ? seen : [];
    const places = candidates.map((element) => [element, element.getBoundingClientRect().top]);
    const result = change();
    const kept = places.find(([element]) => element.isConnected);
    if (kept) window.scrollBy(0, kept[0].getBoundingClientRect().top - kept[1]);
    return result;
  };

  // Cards whose answer is under way: what becomes of them the reply says.
  const sending = new Set();

  // A question that somebody still looks at is not taken away under their hands.
  const end = (card) => {
    if (card.classList.contains("over")) return;
    card.classList.add("over");
    const words = document.createElement("p");
    words.className = "error";
    words.setAttribute("role", "status");
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => {
      const next = card.nextElementSibling ?? card.previousElementSibling;
      card.remove();
      count();
      (next?.querySelector("h2") ?? document.getElementById("count")).focus();
    });
    const buttons = card.querySelector(".buttons");
    for (const button of buttons.querySelectorAll("button")) button.disabled = true;
    buttons.before(words);
    buttons.append(close);
    words.textContent = "This question was answered elsewhere, or is asked no more.";
  };

  const count = () => {
    const open = cards.querySelectorAll(".card:not(.over)").length;
    const words = open === 0 ? "No open questions" : open === 1 ? "1 open question" : `${open} open questions`;
    document.getElementById("count").textContent = words;
    document.getElementById("empty").hidden = cards.childElementCount > 0;
    document.getElementById("final").hidden = open === 0;
    document.title = `${open ? `(${open}) ` : ""}Inbox \u00b7 ${inbox.dataset.server}`;
  };

  // Takes over what a fetched page shows. `gone` is a card that may be taken away
  // whatever state it is in, `shown` one that is to be as it is there. Gives the
  // cards that have come, and those that have gone.
  let merges = 0;
  const merge = (page, { gone, shown } = {}) => {
    merges += 1;
    const wanted = [...page.querySelectorAll("#cards > .card")];
    const ids = new Set(wanted.map((card) => card.id));
    const left = [];
    for (const card of [...cards.children]) {
      if (ids.has(card.id) || sending.has(card.id)) continue;
      if (card.id !== gone && inUse(card)) {
        end(card);
        continue;
      }
      card.remove();
      if (!card.classList.contains("over")) left.push(card);
    }
    const fresh = [];
    let before = cards.firstElementChild;
    for (const card of wanted) {
      const here = document.getElementById(card.id);
      if (here && card.id === shown) {
        const next = document.importNode(card, true);
        // It is given the focus when it is there.
        next.querySelector("[autofocus]")?.removeAttribute("autofocus");
        if (here === before) before = next;
        here.replaceWith(next);
        guess(next);
      } else if (here) {
        here.querySelector("[data-live]").replaceWith(document.importNode(card.querySelector("[data-live]"), true));
        // Tokens are good for some days; pages stay open for longer.
        here.querySelector("[name=token]").value = card.querySelector("[name=token]").value;
      } else {
        const next = document.importNode(card, true);
        cards.insertBefore(next, before);
        guess(next);
        fresh.push(next);
        continue;
      }
      before = document.getElementById(card.id).nextElementSibling;
    }
    inbox.dataset.digest = page.getElementById("inbox").dataset.digest;
    document.getElementById("more").hidden = page.getElementById("more").hidden;
    count();
    // Whoever was signed out may be in again, without having left this page.
    listen();
    return { fresh, left };
  };

  const KEPT = "What you typed is still here.";
  const ELSEWHERE = `Nothing was recorded: you are signed out, it seems. ${KEPT} Sign in again in another tab, then try again.`;
  const UNHEARD = `The server cannot be reached, or wants you to sign in again, in another tab. It may not have heard your answer. ${KEPT} Try again.`;

  const isInbox = (page) => page.getElementById("inbox") !== null;
  const read = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

  const named = (list) => {
    const tools = [...new Set(list.map((card) => card.querySelector("h2").textContent))];
    return tools.length > 3 ? `${tools.slice(0, 3).join(", ")} and more` : tools.join(", ");
  };
  const news = ({ fresh, left }) => {
    const words = [];
    if (fresh.length === 1) words.push(`A new question: ${named(fresh)}.`);
    if (fresh.length > 1) words.push(`${fresh.length} new questions: ${named(fresh)}.`);
    if (left.length) words.push(`Answered elsewhere, or asked no more: ${named(left)}.`);
    return words.join(" ");
  };

  // Fetches what there is, and gives the status that it came with, if any.
  let looking = null;
  const look = () => {
    looking ??= (async () => {
      try {
        for (;;) {
          const before = merges;
          const response = await fetch("?", { cache: "no-store" });
          if (!response.ok) return response.status;
          const page = await read(response);
          // A page to sign in at, say: it tells nothing of questions.
          if (!isInbox(page)) return undefined;
          // An answer has been sent meanwhile: this may be from before it.
          if (before !== merges) continue;
          inPlace(() => {
            const words = news(merge(page));
            // What went wrong with one's own answer comes first.
            const isRead = !note.classList.contains("bad") || Date.now() - saidAt > TO_READ;
            if (words && isRead) say(words);
          });
          return response.status;
        }
      } catch {
        // The next event, or the first after the connection is back, tries again.
        return undefined;
      } finally {
        looking = null;
      }
    })();
    return looking;
  };

  cards.addEventListener("submit", (event) => {
    const form = event.target;
    const button = event.submitter;
    if (!button || !window.URLSearchParams) return;
    event.preventDefault();
    const card = form.closest(".card");
    const body = new URLSearchParams(new FormData(form));
    body.set(button.name, button.value);
    const buttons = [...card.querySelectorAll("button")];
    for (const each of buttons) each.disabled = true;
    sending.add(card.id);
    const release = () => {
      for (const each of buttons) each.disabled = false;
    };
    fetch("?", { method: "POST", body, cache: "no-store" })
      .then(async (response) => {
        const page = await read(response);
        sending.delete(card.id);
        if (!isInbox(page)) {
          release();
          const words = page.getElementById("refusal")?.textContent ?? (response.ok ? ELSEWHERE : `The server said ${response.status}. ${KEPT}`);
          say(words, { kind: "bad", focus: true });
          look();
          return;
        }
        const theirs = page.getElementById("note");
        if (response.ok) {
          inPlace(() => {
            merge(page, { gone: card.id });
            say(theirs.textContent, { kind: theirs.classList.contains("bad") ? "bad" : "good" });
          });
          note.focus({ preventScroll: true });
          return;
        }
        inPlace(() => {
          merge(page, { shown: card.id });
          say("");
        });
        document.title = page.title;
        document.getElementById(card.id)?.querySelector(".errors")?.focus();
      })
      .catch(() => {
        sending.delete(card.id);
        release();
        say(UNHEARD, { kind: "bad", focus: true });
        look();
      });
  });

  // Where somebody is, their browser knows better than the server.
  const guess = (root) => {
    for (const select of root.querySelectorAll("select[data-offset-of]")) {
      const time = document.getElementById(select.dataset.offsetOf);
      if (select.value && !select.dataset.guessed) continue;
      const choose = () => {
        const minutes = -(time.value ? new Date(time.value) : new Date()).getTimezoneOffset();
        const two = (number) => String(number).padStart(2, "0");
        const size = Math.abs(minutes);
        const offset = `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
        const option = [...select.options].find((known) => known.value === offset);
        if (option) option.selected = true;
        select.dataset.guessed = "yes";
      };
      // An optional field that is empty stays empty.
      time.addEventListener("change", () => {
        if (!select.value || select.dataset.guessed) choose();
      });
      select.addEventListener("change", () => delete select.dataset.guessed);
      choose();
    }
  };

  const about = (milliseconds) => {
    const minutes = Math.round(Math.max(milliseconds, 0) / 60000);
    if (minutes < 1) return "less than a minute";
    const [amount, unit] =
      minutes < 60 ? [minutes, "minute"] : minutes < 1440 ? [minutes / 60, "hour"] : [minutes / 1440, "day"];
    const whole = Math.round(amount);
    return `${whole} ${unit}${whole === 1 ? "" : "s"}`;
  };
  setInterval(() => {
    for (const time of cards.querySelectorAll("time")) {
      const from = Date.parse(time.dateTime) - Date.now();
      time.textContent = about("since" in time.dataset ? -from : from);
    }
  }, 30000);

  guess(document);
  // What was said of the last answer is not said again.
  if (location.search) history.replaceState(null, "", location.pathname);

  const SOON = 5000;
  const LATE = 60000;
  let pause = SOON;
  let newest = inbox.dataset.digest;
  // Whoever is not let in any more is not asked for a password again and again.
  let isOut = false;
  const lookAgain = async () => {
    const status = await look();
    isOut = status === 401 || status === 403;
  };

  let events = null;
  const listen = () => {
    // Browsers have six connections for one server, and more tabs: one that nobody
    // sees leaves its own to the others.
    if (events || document.hidden) return;
    const source = new EventSource("?events");
    events = source;
    source.addEventListener("open", () => {
      live.textContent = live.dataset.on;
      pause = SOON;
      isOut = false;
    });
    // After a lost connection browsers come back by themselves, but not after a
    // reply that is no stream, such as a proxy's while the server starts.
    source.addEventListener("error", () => {
      live.textContent = live.dataset.off;
      if (source.readyState !== EventSource.CLOSED) return;
      events = null;
      setTimeout(async () => {
        await lookAgain();
        if (!isOut) listen();
      }, pause);
      pause = Math.min(2 * pause, LATE);
    });
    source.addEventListener("questions", async (event) => {
      newest = event.data;
      // A page that is being fetched may be older than this.
      await looking;
      if (newest === event.data && newest !== inbox.dataset.digest) look();
    });
  };
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      events?.close();
      events = null;
    } else {
      listen();
    }
  });
  // The title of a tab that nobody sees still counts.
  setInterval(() => {
    if (document.hidden && !isOut) lookAgain();
  }, LATE);
  listen();
})();
