// The prompt box: a conversation that goes to the server like anybody's, and what came of it.

import { ask, complaint } from "./server.js";
import * as words from "./words.js";

const TOKENS_MAX = 256;
const TURNS_MAX = 20;

export function startPrompt(section) {
  const box = new PromptBox(section);
  return { models: (names) => box.offer(names) };
}

class PromptBox {
  constructor(section) {
    const part = (id) => section.querySelector(id);
    this.form = part("form");
    this.talk = part("#talk");
    this.question = part("#question");
    this.model = part("#model");
    this.buttons = { send: part("#send"), stop: part("#stop"), anew: part("#anew") };
    this.welcome = this.talk.firstElementChild;
    this.messages = [];
    this.abort = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
    this.question.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.form.requestSubmit();
    });
    this.buttons.stop.addEventListener("click", () => this.abort?.abort());
    this.buttons.anew.addEventListener("click", () => this.restart());
  }

  offer(names) {
    const known = [...this.model.options].map((option) => option.value);
    if (known.join("\n") === names.join("\n")) return;
    const chosen = this.model.value;
    this.model.replaceChildren(...names.map((name) => new Option(name, name)));
    if (names.includes(chosen)) this.model.value = chosen;
    this.model.hidden = names.length < 2;
  }

  restart() {
    this.messages = [];
    this.talk.replaceChildren(this.welcome);
    this.show();
    this.question.focus();
  }

  show() {
    this.buttons.send.hidden = this.abort !== null;
    this.buttons.stop.hidden = this.abort === null;
    this.buttons.anew.hidden = this.abort !== null || this.messages.length === 0;
  }

  async send() {
    const question = this.question.value.trim();
    if (question === "" || this.abort !== null) return;
    this.abort = new AbortController();
    this.messages = [...this.messages, { role: "user", content: question }].slice(-2 * TURNS_MAX);
    this.question.value = "";
    const turn = new Turn(this.talk, question);
    this.show();
    try {
      await this.stream(turn);
    } catch (failure) {
      turn.fail(failure.name === "AbortError" ? "stopped" : "the connection broke");
    } finally {
      this.abort = null;
      // A question without an answer is not asked again with the next one.
      if (turn.text === "") this.messages.pop();
      else this.messages.push({ role: "assistant", content: turn.text });
      turn.end();
      this.show();
    }
  }

  async stream(turn) {
    const answer = await ask("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", "x-kvasir-explain": "1" },
      body: JSON.stringify({
        model: this.model.value,
        messages: this.messages,
        max_tokens: TOKENS_MAX,
        stream: true,
        stream_options: { include_usage: true },
      }),
      signal: this.abort.signal,
    });
    if (!answer.ok) {
      turn.fail(await complaint(answer));
      return;
    }
    turn.ranOn(answer.headers);
    for await (const text of events(answer.body)) {
      if (text === "[DONE]") return;
      const chunk = JSON.parse(text);
      if (chunk.error) {
        turn.fail(chunk.error.message);
        return;
      }
      turn.add(chunk.choices?.[0]?.delta?.content ?? "");
      if (chunk.usage) turn.used(chunk.usage);
    }
    turn.fail("the answer broke off");
  }
}

/** A question, its answer as it comes, and where it came from. */
class Turn {
  constructor(talk, question) {
    this.talk = talk;
    this.text = "";
    this.began = performance.now();
    this.first = null;
    this.place = "";
    this.element = document.getElementById("t-turn").content.firstElementChild.cloneNode(true);
    this.field("question").textContent = question;
    this.field("answer").setAttribute("aria-busy", "true");
    if (talk.querySelector("article") === null) talk.replaceChildren();
    talk.append(this.element);
    while (talk.children.length > TURNS_MAX) talk.firstElementChild.remove();
    this.follow(true);
  }

  field(name) {
    return this.element.querySelector(`[data-f="${name}"]`);
  }

  /** Scrolls to the end, unless the reader has scrolled up. */
  follow(always = false) {
    const left = this.talk.scrollHeight - this.talk.scrollTop - this.talk.clientHeight;
    if (always || left < 80) this.talk.scrollTop = this.talk.scrollHeight;
  }

  add(text) {
    if (text === "") return;
    this.first ??= performance.now();
    this.text += text;
    this.field("answer").textContent = this.text;
    this.follow();
  }

  ranOn(headers) {
    const decode = headers.get("x-kvasir-instance");
    const prefill = headers.get("x-kvasir-prefill-instance");
    const reason = headers.get("x-kvasir-reason");
    if (decode) this.place = ` on ${decode}`;
    if (prefill) this.place += `, its prompt on ${prefill}`;
    if (reason) {
      const said = words.reason({ reason: reason.toUpperCase(), decode, prefill });
      this.field("why").textContent = `There because ${said}`;
    }
  }

  used(usage) {
    const prompt = usage.prompt_tokens;
    const cached = usage.prompt_tokens_details?.cached_tokens ?? 0;
    const bar = this.element.querySelector(".bar");
    bar.hidden = false;
    bar.style.setProperty("--used", prompt > 0 ? cached / prompt : 0);
    this.field("cache").textContent =
      `${words.whole(cached)} of ${words.plural(prompt, "prompt token", "prompt tokens")} cached`;
    const wrote = (performance.now() - (this.first ?? performance.now())) / 1000;
    const rate = wrote > 0 ? (usage.completion_tokens - 1) / wrote : NaN;
    const waited = this.first === null ? NaN : (this.first - this.began) / 1000;
    this.field("where").textContent =
      `${words.plural(usage.completion_tokens, "token", "tokens")}${this.place}, `
      + `the first after ${words.seconds(waited)}, then ${words.speed(rate)} a second`;
    this.follow();
  }

  fail(why) {
    this.element.classList.add("failed");
    this.field("where").textContent = `Not answered to the end: ${why}.`;
    this.follow();
  }

  end() {
    this.field("answer").setAttribute("aria-busy", "false");
  }
}

/** The data of each server-sent event of a stream. */
async function* events(stream) {
  let rest = "";
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split(/\r?\n\r?\n/);
    rest = parts.pop();
    for (const part of parts) {
      if (part.startsWith("data: ")) yield part.slice("data: ".length);
    }
  }
}
