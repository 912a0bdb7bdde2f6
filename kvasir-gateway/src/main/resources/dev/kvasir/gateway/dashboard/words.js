// Numbers and reasons as people say them; nothing here knows the page.

const UNKNOWN = "–";
const WHOLE = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const DECIMALS = [0, 1, 2].map((digits) =>
  new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));

/** Three digits, or all of a larger number. */
const three = (value) => DECIMALS[value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2].format(value);

export const whole = (value) => (Number.isFinite(value) ? WHOLE.format(value) : UNKNOWN);

export function seconds(value) {
  if (!Number.isFinite(value)) return UNKNOWN;
  if (value >= 600) return `${three(value / 60)} min`;
  if (value >= 0.9995) return `${three(value)} s`;
  return `${value >= 0.00995 ? whole(value * 1000) : three(value * 1000)} ms`;
}

export const share = (value) =>
  Number.isFinite(value) ? `${WHOLE.format(value * 100)} %` : UNKNOWN;

/** Small speeds would be lost as whole numbers. */
export const speed = (value) =>
  Number.isFinite(value) ? (value > 0 && value < 9.95 ? DECIMALS[1] : WHOLE).format(value) : UNKNOWN;

export function bytes(value) {
  if (!Number.isFinite(value)) return UNKNOWN;
  const units = ["B", "kB", "MB", "GB", "TB", "PB"];
  let unit = 0;
  for (; value >= 999.5 && unit < units.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? whole(value) : three(value)} ${units[unit]}`;
}

export function duration(value) {
  const minutes = Math.floor(value / 60);
  if (minutes < 1) return `${Math.floor(value)} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  const days = Math.floor(hours / 24);
  return days < 1 ? `${hours} h ${minutes % 60} min` : `${days} d ${hours % 24} h`;
}

export const clock = (millis) =>
  new Date(millis).toLocaleTimeString("en-GB", { hour12: false });

export const plural = (count, one, many) => `${whole(count)} ${count === 1 ? one : many}`;

const REASONS = {
  DISABLED: "prefill elsewhere is switched off",
  BELOW_THRESHOLD: "there was too little to compute for a move",
  P_UNAVAILABLE: "no other instance could hand over to it",
  P_NO_KV_SPACE: "no other instance had room for its blocks",
  OFFLOAD_CAP: "the others already prefill for as many as they may",
  D_IDLE: "{d} had nothing that this would disturb",
  P_NOT_LESS_LOADED: "the other instance had as much to do",
  P_OVERLOADED: "the other instance had far too much to do",
  COST_EXCEEDS_BENEFIT: "a move would have cost more than it gains",
  MEETS_SLO: "it is in time there, and nobody else is late for it",
  OFFLOAD_MEETS_SLO: "only by way of {p} is it in time",
  P_IDLE_D_BUSY: "{p} was idle while {d} was busy",
  P_LIGHTER_D_BUSY: "{p} had less to do than {d}",
  OFFLOAD_CHEAPER: "{p} has less of it to compute, or computes faster",
  FORCED: "prefill elsewhere is the rule",
  OFFLOAD_FAILED_FALLBACK_COLO: "the prefill elsewhere failed, so {d} did all of it",
  KV_PULL_FAILED_RECOMPUTE: "what was computed elsewhere did not arrive; {d} computed it again",
};

export function reason(decision) {
  const words = REASONS[decision.reason] ?? decision.reason;
  return words
    .replaceAll("{p}", () => decision.prefill || "the other instance")
    .replaceAll("{d}", () => decision.decode);
}

export const routeClass = (name) => name.toLowerCase().replace(/_.*/, "");

/** What the gateway found of a prompt; its class alone does not say whether it is cached or short. */
export function prompt(decision) {
  const { promptTokens, cachedTokens } = decision;
  if (cachedTokens > 0) return `cached ${share(cachedTokens / promptTokens)}`;
  return decision.routeClass === "WARM" ? `short: ${plural(promptTokens, "token", "tokens")}` : "cold";
}

export const ROLES = { BOTH: "", PREFILL: "prefill only", DECODE: "decode only" };
export const STATES = { READY: "ready", DRAINING: "draining", DOWN: "down" };
export const WARNINGS = {
  READY: "",
  DRAINING: "Ends what it has and gets nothing new.",
  DOWN: "Does not answer. Requests go to the others until it does.",
};
