// Puts one state of the server on the page. All of it goes in as text; only what changed is touched.

import { Spark } from "./spark.js";
import * as words from "./words.js";

const DECISIONS_FIRST = matchMedia("(min-width: 62rem)").matches ? 12 : 6;

const byId = (id) => document.getElementById(id);
const sparks = {
  ttft: new Spark(byId("ttft"), "accent"),
  itl: new Spark(byId("itl"), "violet"),
};

/** Writes values into the fields of an element, by their names. */
function fill(element, values) {
  for (const [name, value] of Object.entries(values)) {
    const field = element.querySelector(`[data-f="${name}"]`);
    if (field.textContent !== value) field.textContent = value;
  }
}

function bar(element, used) {
  element.style.setProperty("--used", Number.isFinite(used) ? used : 0);
}

/** Makes the list hold one element for each item, in order, keeping those that are there. */
function list(parent, items, update) {
  const old = new Map([...parent.children].map((child) => [child.dataset.key, child]));
  items.forEach((item, place) => {
    let child = old.get(item.key);
    if (!child) {
      child = byId(item.template).content.firstElementChild.cloneNode(true);
      child.dataset.key = item.key;
    }
    old.delete(item.key);
    if (parent.children[place] !== child) parent.insertBefore(child, parent.children[place] ?? null);
    update(child, item.value);
  });
  for (const child of old.values()) child.remove();
}

export function show(state) {
  about(state);
  latency("ttft", state.ttft);
  latency("itl", state.itl);
  glance(state);
  instances(state.instances);
  tiers(state);
  decisions(state);
}

function about(state) {
  fill(byId("about"), {
    models: state.models.join(", "),
    version: `version ${state.version}`,
    uptime: `up ${words.duration(state.uptimeSeconds)}`,
  });
}

function latency(id, value) {
  const { count, p50Seconds, p90Seconds, p99Seconds } = value.lastMinute;
  fill(byId(id), {
    p50: words.seconds(p50Seconds),
    p90: count === 0 ? "none in the last minute" : `p90 ${words.seconds(p90Seconds)}`,
    p99: count === 0 ? "" : `p99 ${words.seconds(p99Seconds)}`,
  });
  sparks[id].show(value);
}

function sum(items, of) {
  return items.reduce((total, item) => total + (of(item) ?? 0), 0);
}

function glance(state) {
  const prompt = sum(state.decisions, (decision) => decision.promptTokens);
  const cached = sum(state.decisions, (decision) => decision.cachedTokens);
  const waiting = sum(state.instances, (instance) => instance.waiting);
  fill(byId("glance").querySelector("dl"), {
    cached: words.share(cached / prompt),
    cachedNote: prompt === 0 ? "no prompts yet" : "of prompts",
    speed: words.speed(sum(state.instances, (instance) => instance.tokensPerSecond)),
    running: words.whole(sum(state.instances, (instance) => instance.running)),
    waiting: waiting === 0 ? "none waiting" : `and ${words.whole(waiting)} waiting`,
  });
}

function instances(all) {
  const ready = all.filter((instance) => instance.availability === "READY").length;
  const count = ready === all.length ? "all ready" : `${ready} of ${all.length} ready`;
  fill(byId("instances"), { count: all.length === 0 ? "none yet" : count });
  const items = all.map((value) => ({ key: value.name, template: "t-instance", value }));
  list(byId("instances").querySelector(".list"), items, (card, value) => {
    card.dataset.is = value.availability.toLowerCase();
    const warning = words.WARNINGS[value.availability];
    fill(card, {
      name: value.name,
      role: words.ROLES[value.role],
      state: words.STATES[value.availability],
      url: value.url,
      warning,
      kv: `${words.whole(value.kvBlocksUsed)} of ${words.whole(value.kvBlocksTotal)} blocks`,
      running: words.whole(value.running),
      waiting: words.whole(value.waiting),
      prefill: words.whole(value.prefillTokens),
      decoding: words.whole(value.decodeStreams),
      full: words.share(value.kvBlocksUsed / value.kvBlocksTotal),
      speed: words.speed(value.tokensPerSecond),
      hits: words.share(value.hitRate),
      requests: words.whole(value.requests),
    });
    card.querySelector(".warn").hidden = warning === "";
    bar(card.querySelector(".bar"), value.kvBlocksUsed / value.kvBlocksTotal);
  });
}

function tiers(state) {
  const items = [];
  for (const value of state.tiers) {
    items.push({ key: `tier ${value.name}`, template: "t-tier", value });
    for (const edge of state.edges.filter((edge) => edge.from === value.name)) {
      const key = `edge ${edge.from} ${edge.to}`;
      items.push({ key, template: "t-edge", value: edge });
    }
  }
  byId("tiers").hidden = items.length === 0;
  const parent = byId("tiers").querySelector(".list");
  list(parent, items, (row, value) => ("load" in value ? edge : tier)(row, value));
}

function tier(row, value) {
  const limited = value.blocksTotal > 0;
  const used = words.whole(value.blocksUsed);
  fill(row, {
    name: value.name,
    blocks: limited ? `${used} of ${words.whole(value.blocksTotal)} blocks` : `${used} blocks, no limit`,
    bytes: words.bytes(value.bytes),
    hits: words.whole(value.hits),
    in: words.bytes(value.bytesIn),
    out: words.bytes(value.bytesOut),
  });
  row.querySelector(".bar").hidden = !limited;
  bar(row.querySelector(".bar"), value.blocksUsed / value.blocksTotal);
}

function edge(row, { from, to, load, totals }) {
  const depths = { waiting: load.waiting, onDeck: load.onDeck, moving: load.moving };
  for (const [stage, depth] of Object.entries(depths)) {
    row.querySelector(`[data-s="${stage}"]`).classList.toggle("busy", depth > 0);
    depths[stage] = words.whole(depth);
  }
  const lost = ["evicted", "filtered", "cancelled", "refused"];
  fill(row, {
    name: `from ${from} to ${to}:`,
    ...depths,
    completed: words.whole(totals.completed),
    failed: `${words.whole(totals.failed)}\u00a0failed`,
    losses: lost.map((end) => `${words.whole(totals[end])}\u00a0${end}`).join(" · "),
  });
  row.classList.toggle("failing", totals.failed > 0);
}

function decisions(state) {
  const section = byId("decisions");
  const [nothing, table] = section.querySelectorAll(".card");
  const all = state.decisions;
  const more = byId("more");
  nothing.hidden = all.length > 0;
  table.hidden = all.length === 0;
  fill(section, {
    count: all.length === 0 ? "" : `the last ${all.length}, newest first`,
    curl: curl(state.models[0] ?? ""),
  });
  more.hidden = all.length <= DECISIONS_FIRST;
  const open = more.getAttribute("aria-expanded") === "true";
  more.textContent = open ? "Show fewer" : `Show all ${all.length}`;
  const shown = open ? all : all.slice(0, DECISIONS_FIRST);
  const items = shown.map((value) => ({
    key: `${value.request} ${value.timeMillis}`, template: "t-decision", value,
  }));
  list(table.querySelector("tbody"), items, decision);
  more.onclick = () => {
    more.setAttribute("aria-expanded", String(!open));
    decisions(state);
  };
}

function decision(row, value) {
  const cached = value.promptTokens > 0 ? value.cachedTokens / value.promptTokens : 0;
  row.dataset.is = words.routeClass(value.routeClass);
  row.classList.toggle("moved", value.prefill !== "");
  fill(row, {
    time: words.clock(value.timeMillis),
    request: value.request,
    prefill: value.prefill ? `${value.prefill} → ` : "",
    decode: value.decode,
    class: words.prompt(value),
    why: words.reason(value),
    cached: `${words.share(cached)} of ${words.whole(value.promptTokens)}`,
    here: words.seconds(value.colocateSeconds),
    elsewhere: words.seconds(value.offloadSeconds),
    ttft: words.seconds(value.ttftSeconds),
    total: words.seconds(value.totalSeconds),
  });
  row.querySelector(".why").title = value.reason.toLowerCase();
  row.querySelector("code").title = value.request;
  bar(row.querySelector(".bar"), cached);
}

function curl(model) {
  const body = { model, messages: [{ role: "user", content: "What is a KV cache?" }] };
  return `curl ${location.origin}/v1/chat/completions -H 'content-type: application/json' \\\n`
    + `  -d '${JSON.stringify(body)}'`;
}
