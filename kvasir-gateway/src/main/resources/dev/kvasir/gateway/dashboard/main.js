// Asks for the figures once a second while the page is seen, and says so when they stop coming.

import { startPrompt } from "./prompt.js";
import { ask, complaint, keys, useKey } from "./server.js";
import { show } from "./view.js";
import { clock } from "./words.js";

const EVERY_MILLIS = 1000;
const RETRY_MILLIS_MAX = 5000;
const PATIENCE_MILLIS = 5000;

const link = document.getElementById("link");
const notice = document.getElementById("notice");
const keyForm = document.getElementById("key");
const prompt = startPrompt(document.getElementById("prompt"));

let failures = 0;
let lastSeen = null;
let timer = null;
let asking = false;

function say(state, words) {
  link.dataset.is = state;
  if (link.textContent !== words) link.textContent = words;
  document.body.classList.toggle("stale", state !== "live");
}

function note(words) {
  notice.hidden = words === "";
  if (notice.textContent !== words) notice.textContent = words;
}

function lost(why) {
  failures++;
  say("gone", "not connected");
  const since = lastSeen === null ? "" : ` The figures are those of ${clock(lastSeen)}.`;
  note(`${why}${since} Trying again by itself.`);
}

async function refresh() {
  if (asking) return;
  asking = true;
  clearTimeout(timer);
  try {
    const answer = await ask("/dashboard/state", { signal: AbortSignal.timeout(PATIENCE_MILLIS) });
    if (answer.ok) {
      take(await answer.json());
    } else if (answer.status === 401) {
      say("waiting", "needs a key");
      return;
    } else {
      lost(`The server does not tell its figures: ${await complaint(answer)}.`);
    }
  } catch (failure) {
    if (failure instanceof TypeError || failure instanceof DOMException) {
      lost("The server does not answer.");
    } else {
      throw failure;
    }
  } finally {
    asking = false;
  }
  const wait = Math.min(EVERY_MILLIS * 2 ** Math.max(0, failures - 1), RETRY_MILLIS_MAX);
  if (!document.hidden) timer = setTimeout(refresh, wait);
}

function take(state) {
  failures = 0;
  lastSeen = Date.now();
  keyForm.hidden = true;
  say("live", "live");
  note("");
  document.body.classList.remove("blank");
  show(state);
  prompt.models(state.models);
}

keys.addEventListener("wanted", (event) => {
  keyForm.querySelector("label").textContent = event.detail.refused
    ? "That key was not accepted. Try another one."
    : "This server asks for a key.";
  note("");
  if (!keyForm.hidden) return;
  keyForm.hidden = false;
  keyForm.querySelector("input").focus();
});

keyForm.addEventListener("submit", (event) => {
  event.preventDefault();
  const input = keyForm.querySelector("input");
  useKey(input.value.trim());
  input.value = "";
  refresh();
});

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) refresh();
});
window.addEventListener("online", refresh);
refresh();
