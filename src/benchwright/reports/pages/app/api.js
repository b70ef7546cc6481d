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

/** @param {string} method @param {string} path @param {RequestInit & { whole?: boolean }} options of fetch @returns {Promise<any>} */
async function send(method, path, options) {
  let response;
  try {
    response = await fetch(`/api${path}`, { method, credentials: "omit", cache: "no-store", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server does not answer.", "Check that benchwright serve is still running.");
  }
  const text = await response.text().catch(() => "");
  if (response.ok && options.whole && text !== "") return text;
  const body = parsed(text);
  if (response.ok && body !== null) return body;
  const told = body?.error ?? { message: `The server answered with status ${response.status}.`, hint: null };
  throw new Refused(response.status, told.message, told.hint);
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Exchange a code, or the token of a person, for the token of this tab. @param {string} code */
export async function exchange(code) {
  const { token, read_only } = await send("POST", "/token", { body: JSON.stringify({ code }) });
  keep({ token, readOnly: read_only });
}

/** Let this tab in: with the code in its address, or with the token of another tab. The address loses the code, so that a reload or a
 *  bookmark does not send it again. */
export async function enter() {
  const code = new URLSearchParams(location.search).get("code");
  let refused = null;
  if (code !== null) {
    try {
      await exchange(code);
    } catch (error) {
      if (error.status === 0) throw error; // the code is still good
      refused = error;
    }
    history.replaceState(null, "", location.pathname + location.hash);
  }
  if (!hasToken()) await askOtherTabs();
  answerOtherTabs();
  if (refused !== null && !hasToken()) throw refused; // a tab that has a token needs no code
}

/** @param {{ token: string, readOnly: boolean }} session */
function keep({ token, readOnly }) {
  sessionStorage.setItem(KEY, token);
  sessionStorage.setItem(`${KEY}.read_only`, String(readOnly));
}

function forget() {
  sessionStorage.removeItem(KEY);
  sessionStorage.removeItem(`${KEY}.read_only`);
}

/** Tabs of this server hand their token to new ones. Pages of other servers, also on this machine, have another channel. */
const tabs = new BroadcastChannel(KEY);
const ANSWER_MS = 300;

function askOtherTabs() {
  return new Promise((done) => {
    const late = setTimeout(finish, ANSWER_MS); // no other tab is open
    function finish() {
      clearTimeout(late);
      tabs.removeEventListener("message", hear);
      done(undefined);
    }
    /** @param {MessageEvent} event */
    function hear({ data }) {
      if (typeof data?.token !== "string") return;
      keep(data);
      finish();
    }
    tabs.addEventListener("message", hear);
    tabs.postMessage("token?");
  });
}

function answerOtherTabs() {
  tabs.addEventListener("message", ({ data }) => {
    if (data === "token?" && hasToken()) tabs.postMessage({ token: sessionStorage.getItem(KEY), readOnly: readOnly() });
  });
}

/** Whether this tab has a token. */
export function hasToken() {
  return sessionStorage.getItem(KEY) !== null;
}

/** Whether the token of this tab changes nothing. */
export function readOnly() {
  return sessionStorage.getItem(`${KEY}.read_only`) !== "false";
}

/** @param {string} method @param {string} path @param {object} options */
async function withToken(method, path, options) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  try {
    return await send(method, path, { headers, ...options });
  } catch (error) {
    if (error.status === 401) forget(); // of an earlier start of the server
    throw error;
  }
}

/** Read JSON. @param {string} path below /api @param {AbortSignal} signal @returns {Promise<any>} */
export const get = (path, signal) => withToken("GET", path, { signal });

/** Read JSON as it was sent: parsed, long integers would lose digits. @param {string} path below /api @param {AbortSignal} signal @returns {Promise<string>} */
export const getText = (path, signal) => withToken("GET", path, { signal, whole: true });

/** Read events until the stream ends. @param {string} path below /api @param {(value: any) => void} each */
export async function stream(path, each) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY)}` };
  const response = await fetch(`/api${path}`, { headers, credentials: "omit", cache: "no-store" });
  if (!response.ok || response.body === null) throw new Refused(response.status, "The server refused live updates.", null);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    const parts = (text + value).split("\n\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      if (part.startsWith("event: error")) throw new Refused(503, "The server cannot read the records.", null);
      if (part.startsWith("data: ")) each(JSON.parse(part.slice(6)));
    }
  }
}

/** Change something. @param {string} path below /api @param {object} body @returns {Promise<any>} */
export const post = (path, body) => withToken("POST", path, { body: JSON.stringify(body) });
