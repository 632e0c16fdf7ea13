// Sends answers, shows what the server made of them. The server makes all HTML.
"use strict";
(() => {
  const page = document.getElementById("page");
  const work = document.getElementById("work");
  const status = document.getElementById("status");
  const problem = document.getElementById("alert");
  const skip = document.getElementById("skip");
  const keys = document.getElementById("keys");
  const RETRY_MS = 1500;
  let busy = false;

  const say = (text) => { status.textContent = text; };
  const warn = (text) => { problem.textContent = text; problem.hidden = !text; };
  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  // Not randomUUID: browsers keep that from pages on plain HTTP of another machine.
  const newId = () => Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");

  // One body, with one id, until there is an answer: the server counts it once.
  async function post(path, body) {
    for (;;) {
      try {
        return await fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body });
      } catch {
        warn(page.dataset.offline);
        await pause(RETRY_MS);
      }
    }
  }

  async function send(path, values) {
    if (busy) return;
    busy = true;
    work.setAttribute("aria-busy", "true");
    say(page.dataset.saving);
    const body = { id: newId(), rater: page.dataset.rater, lang: page.dataset.lang, ...values };
    const answer = await post(path, JSON.stringify(body));
    const text = await answer.text();
    busy = false;
    work.removeAttribute("aria-busy");
    if (!answer.ok) {
      say("");
      warn(`${page.dataset.failed} ${text}`);
      return;
    }
    const told = JSON.parse(text);
    warn(told.kept ? "" : told.said);
    say(told.kept ? told.said : "");
    work.innerHTML = told.html; // made and escaped by the server
    watchImage();
    document.getElementById("card").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  }

  function watchImage() {
    const image = document.getElementById("image");
    if (!image) return;
    const failed = () => {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = page.dataset.imageFailed;
      image.replaceWith(note);
    };
    if (image.complete && !image.naturalWidth) failed();
    else image.addEventListener("error", failed);
  }

  const pair = () => document.getElementById("card").dataset.pair;
  const note = () => document.getElementById("note").value;

  function press(button) {
    if (button.disabled) return;
    if (button.dataset.grade) send("/answer/grade", { pair: pair(), grade: Number(button.dataset.grade), note: note() });
    else if (button.id === "open-skip") { if (!busy) skip.showModal(); }
    else if (button.id === "undo") send("/answer/undo", { of: button.dataset.of });
    else if (button.id === "reveal") send("/answer/reveal", { of: button.dataset.of });
    else if (button.dataset.why) { skip.close(); send("/answer/skip", { pair: pair(), why: button.dataset.why, note: note() }); }
    else if ("close" in button.dataset) skip.close();
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (button) press(button);
  });

  // By the key's place too: other alphabets and layouts put other signs there.
  function isKey(event, wanted) {
    const places = [`Digit${wanted}`, `Numpad${wanted}`, `Key${wanted.toUpperCase()}`];
    return event.key.toLowerCase() === wanted || (!/^[a-z0-9]$/i.test(event.key) && places.includes(event.code));
  }

  function openNote(event) {
    const box = work.querySelector(".note-box");
    if (!box) return;
    event.preventDefault();
    box.open = true;
    document.getElementById("note").focus();
  }

  document.addEventListener("keydown", (event) => {
    if (event.repeat || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (event.target.id === "note" && event.key === "Escape") { document.getElementById("card").focus(); return; }
    if (!keys.checked || event.target.closest("input:not([type=checkbox]), textarea, select")) return;
    if (!skip.open && isKey(event, "n")) { openNote(event); return; }
    const place = skip.open ? skip : work;
    const button = [...place.querySelectorAll("button[data-keys]")].find((b) => b.dataset.keys.split(" ").some((key) => key && isKey(event, key)));
    if (button) { event.preventDefault(); press(button); }
  });

  keys.checked = localStorage.getItem("relgate-keys") !== "off";
  keys.addEventListener("change", () => localStorage.setItem("relgate-keys", keys.checked ? "on" : "off"));
  window.addEventListener("beforeunload", (event) => { if (busy) event.preventDefault(); });
  watchImage();
  document.getElementById("card").focus({ preventScroll: true });
  page.dataset.ready = "";
})();
