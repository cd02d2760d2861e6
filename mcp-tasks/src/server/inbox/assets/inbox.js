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

  const say = (words, focus) => {
    note.textContent = words;
    if (focus) note.focus();
  };

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
      card.remove();
      note.focus();
      count();
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
    document.title = `${open ? `(${open}) ` : ""}Inbox \u00b7 ${inbox.dataset.server}`;
  };

  // Takes over what a fetched page shows. `gone` is a card that may be taken away
  // whatever state it is in, `shown` one that is to be as it is there.
  const merge = (page, { gone, shown } = {}) => {
    const wanted = [...page.querySelectorAll("#cards > .card")];
    const ids = new Set(wanted.map((card) => card.id));
    for (const card of [...cards.children]) {
      if (ids.has(card.id)) continue;
      if (card.id === gone || !inUse(card)) card.remove();
      else end(card);
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
    return fresh;
  };

  const read = async (response) => new DOMParser().parseFromString(await response.text(), "text/html");

  let looking = null;
  const look = () => {
    looking ??= (async () => {
      try {
        const response = await fetch("?", { cache: "no-store" });
        if (!response.ok) return;
        const fresh = merge(await read(response));
        if (fresh.length) {
          const tools = fresh.map((card) => card.querySelector("h2").textContent).join(", ");
          say(fresh.length === 1 ? `A new question: ${tools}` : `${fresh.length} new questions: ${tools}`);
        }
      } catch {
        // The next event, or the first after the connection is back, tries again.
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
    const release = () => {
      for (const each of buttons) each.disabled = false;
    };
    fetch("?", { method: "POST", body, cache: "no-store" }).then(
      async (response) => {
        const page = await read(response);
        if (!page.getElementById("inbox")) {
          release();
          say(page.getElementById("refusal")?.textContent ?? `The server said ${response.status}.`, true);
          return;
        }
        if (response.ok) {
          merge(page, { gone: card.id });
          say(page.getElementById("note").textContent, true);
          return;
        }
        merge(page, { shown: card.id });
        say("");
        document.title = page.title;
        document.getElementById(card.id)?.querySelector(".errors")?.focus();
      },
      () => {
        release();
        say("Nothing was sent: the server cannot be reached. What you typed is still here; try again.", true);
      },
    );
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
  const events = new EventSource("?events");
  events.addEventListener("open", () => (live.textContent = live.dataset.on));
  events.addEventListener("error", () => (live.textContent = live.dataset.off));
  events.addEventListener("questions", (event) => {
    if (event.data !== inbox.dataset.digest) look();
  });
})();
