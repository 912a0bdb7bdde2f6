// Asks the server, with the key of this tab where it wants one.

const KEY = "kvasir-key";

/** Told when the server wants a key, or another one. */
export const keys = new EventTarget();

export function useKey(key) {
  sessionStorage.setItem(KEY, key);
}

export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem(KEY);
  if (key) headers.set("authorization", `Bearer ${key}`);
  const answer = await fetch(path, { ...options, headers, cache: "no-store" });
  if (answer.status === 401) {
    sessionStorage.removeItem(KEY);
    keys.dispatchEvent(new CustomEvent("wanted", { detail: { refused: key !== null } }));
  }
  return answer;
}

/** What the server says is wrong, in its own words. */
export async function complaint(answer) {
  try {
    return (await answer.json()).error.message;
  } catch {
    return `the server answers with status ${answer.status}`;
  }
}
