// Keeps the owner's figures up to date.
"use strict";
(() => {
  const EVERY_MS = 3000;
  const figures = document.getElementById("figures");
  const problem = document.getElementById("alert");
  const live = document.getElementById("live");

  async function look() {
    if (!live.checked || document.hidden || figures.contains(document.activeElement)) return;
    try {
      const answer = await fetch("/owner/figures");
      const text = await answer.text();
      problem.hidden = answer.ok;
      if (answer.ok) figures.innerHTML = text;
      else problem.textContent = text;
    } catch {
      problem.hidden = false;
      problem.textContent = "relgate cannot be reached; the figures are those from before.";
    }
  }
  setInterval(look, EVERY_MS);
})();
