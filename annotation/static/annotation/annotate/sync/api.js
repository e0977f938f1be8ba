// The server's queue over HTTP. One error for "not reached", one for everything it refuses.

/** The server was not reached, or was too busy to answer: try again later. */
export class Unreachable extends Error {}

/** Somebody is kept out, which is the same as not reached until that has changed. barrier:
 *  "signedOut", "otherPerson" in the same browser, "removed" from the project, or "forbidden" by
 *  one's role. */
export class KeptOut extends Unreachable {
  constructor(barrier) {
    super(barrier);
    this.barrier = barrier;
  }
}

/** The server said no: {status, code, message, fields, details}. */
export class Refused extends Error {
  constructor(status, { code, message, fields = {}, details = {} }) {
    super(message);
    Object.assign(this, { status, code, fields, details });
  }
}

const PATIENCE = 15_000; // milliseconds until a request counts as not answered

export class Api {
  /** personId: whose page this is; the server answers nobody else in its name. */
  constructor(projectId, personId) {
    this.project = `/api/projects/${projectId}`;
    this.person = String(personId);
  }

  next = () => this.#send("POST", `${this.project}/next/`);
  peek = () => this.#send("GET", `${this.project}/peek/`);
  hints = (ask) => this.#send("GET", `${this.project}/asks/${ask}/hints/`);
  history = ({ search = "", cursor = "" } = {}) =>
    this.#send("GET", `${this.project}/history/?${query({ search, cursor })}`);
  document = (sentence) => this.#send("GET", `/api/sentences/${sentence}/document/`);
  answers = (submission) => this.#send("GET", `/api/submissions/${submission}/`);
  later = (lease, body) => this.#send("POST", `/api/leases/${lease}/later/`, body);
  release = (lease, token) => this.#send("POST", `/api/leases/${lease}/release/`, { token });
  takeUpSkip = (lease) => this.#send("DELETE", `/api/leases/${lease}/skip/`);
  saveDraft = (lease, body) => this.#send("PUT", `/api/leases/${lease}/draft/`, body);
  heartbeat = (lease, token) => this.#send("POST", `/api/leases/${lease}/heartbeat/`, { token });
  findings = (lease, answers) => this.#send("POST", `/api/leases/${lease}/findings/`, { answers });
  submit = (lease, body, key) => this.#send("POST", `/api/leases/${lease}/submit/`, body, key);
  skip = (lease, body) => this.#send("POST", `/api/leases/${lease}/skip/`, body);
  reopen = (submission) => this.#send("POST", `/api/submissions/${submission}/reopen/`);
  flag = (sentence, comment) => this.#send("POST", `/api/sentences/${sentence}/flag/`, { comment });

  /** The parsed answer, or null where there is none to give. */
  async #send(method, url, body, key) {
    const headers = { Accept: "application/json", "Tandem-Person": this.person };
    if (method !== "GET") headers["X-CSRFToken"] = cookie("csrftoken");
    if (body !== undefined) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const ask = () => this.#ask(url, { method, headers, body: JSON.stringify(body) });
    try {
      return await ask();
    } catch (error) {
      if (error.status !== 404) throw error;
      await this.peek(); // throws KeptOut where it is the person who is out
      return ask(); // in case somebody was let in again between the two
    }
  }

  async #ask(url, options) {
    const response = await reach(url, { ...options, signal: AbortSignal.timeout(PATIENCE) });
    const { status } = response;
    if (status >= 500) throw new Unreachable(`The server answered ${status}.`);
    if (status === 204) return null;
    const data = await readJson(response);
    if (response.ok) return data;
    const barrier = this.#barrier(status, url, data.error ?? {});
    throw barrier ? new KeptOut(barrier) : new Refused(status, data.error ?? {});
  }

  /** What keeps the person out, or null where the server refused only what was asked. */
  #barrier(status, url, { code, message = "" }) {
    if (code === "other_person") return "otherPerson";
    if (status === 401 || message.startsWith("CSRF")) return "signedOut";
    if (status === 403) return "forbidden";
    return status === 404 && url.startsWith(this.project) ? "removed" : null;
  }
}

/** Parameters of an address; empty ones are left out. */
function query(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
}

async function reach(url, options) {
  try {
    return await fetch(url, options);
  } catch (error) {
    throw new Unreachable(error.message);
  }
}

async function readJson(response) {
  try {
    return await response.json();
  } catch (error) {
    throw new Unreachable(`The answer was cut off: ${error.message}`);
  }
}

function cookie(name) {
  const found = document.cookie.split("; ").find((part) => part.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
