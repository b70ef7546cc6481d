// The only way to data: requests with the token of this tab.

const KEY = "benchwright.token";

/** A request that the server refused, or did not answer. */
export class Refused extends Error {
  /** @param {number} status 0: no answer @param {string} message @param {string | null} hint */
  constructor(status, message, hint) {
    super(message);
    this.status = status;
    this.hint = hint;
  }
}

/** @param {string} method @param {string} path @param {object} options of fetch @returns {Promise<any>} */
async function send(method, path, options) {
  let response;
  try {
    response = await fetch(`/api${path}`, { method, credentials: "omit", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer.", "Check that benchwright serve is still running.");
  }
  const body = await response.json().catch(() => null);
  if (response.ok && body !== null) return body;
  const told = body?.error ?? { message: `The server answered with status ${response.status}.`, hint: null };
  throw new Refused(response.status, told.message, told.hint);
}

/** Exchange the code in the address for a token. The address loses the code, so that a reload or a bookmark does not send it again. */
export async function enter() {
  const code = new URLSearchParams(location.search).get("code");
  if (code === null) return;
  let refused = null;
  try {
    const { token } = await send("POST", "/token", { body: JSON.stringify({ code }) });
    sessionStorage.setItem(KEY, token);
  } catch (error) {
    if (error.status === 0) throw error; // the code is still good
    refused = error;
  }
  history.replaceState(null, "", location.pathname + location.hash);
  if (refused !== null && !hasToken()) throw refused; // a tab that has a token needs no code
}

/** Whether this tab has a token. */
export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

/** Read JSON. @param {string} path below /api @param {AbortSignal} signal @returns {Promise<any>} */
export async function get(path, signal) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  try {
    return await send("GET", path, { headers, signal });
  } catch (error) {
    if (error.status === 401) sessionStorage.removeItem(KEY); // of an earlier start of the server
    throw error;
  }
}
