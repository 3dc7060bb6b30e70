import { EventSource } from "eventsource";
import { PdError, isErrorCode, messageOf } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isRecord, parseJson } from "../domain/json.ts";
import { type Answer, sendRequest, textOf } from "../system/http-client.ts";

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
}

export interface ServerAddress {
  readonly baseUrl: string;
  readonly key: string;
}

export interface ClientOptions {
  /** Is handed each call while it goes on, to show that something does. */
  readonly watch?: (call: Promise<JsonObject>) => Promise<JsonObject>;
  /** Where the server is by now: one that was started again may listen elsewhere. */
  readonly locate?: () => Promise<ServerAddress | undefined>;
}

export interface StreamMessage {
  readonly id: string;
  readonly data: JsonObject;
}

interface StreamSettings {
  readonly onMessage: (message: StreamMessage) => void;
  readonly signal: AbortSignal;
  readonly lastEventId?: string;
  /** Told when an open stream is cut off, and when it is open again. */
  readonly onConnection?: (isOpen: boolean) => void;
}

export interface Stream {
  /** The server listens: what happens from now on is not missed. */
  readonly opened: Promise<void>;
  /** Resolves when the signal aborts. Rejects with the server's error when it refuses, as for a source that is gone. */
  readonly ended: Promise<void>;
}

/** From here on a status tells of a state that may pass, such as a server that stops. */
const MAY_PASS_STATUS = 500;
const ALIVE_TIMEOUT_MS = 3000;

/** Longer answers are not those of a server of this kind. */
const MOST_BYTES = 256_000_000;
const MOST_PAGES = 10_000;

/** Speaks /v1 with one server. Throws the server's own errors as PdError, and PD_SERVER_UNREACHABLE. */
export class ApiClient {
  #server: ServerAddress;
  readonly #options: ClientOptions;

  constructor(server: ServerAddress, options: ClientOptions = {}) {
    this.#server = server;
    this.#options = options;
  }

  get baseUrl(): string {
    return this.#server.baseUrl;
  }

  /** A server that has been stopped by a signal takes connections, and answers none. */
  isAlive(): Promise<boolean> {
    return this.#sendOnce({ method: "GET", path: "/v1/status" }, ALIVE_TIMEOUT_MS).then(
      async (answer) => (await textOf(answer, MOST_BYTES)) !== "" && answer.ok,
      () => false,
    );
  }

  get(path: string): Promise<JsonObject> {
    return this.#call({ method: "GET", path });
  }

  post(path: string, body: JsonObject = {}): Promise<JsonObject> {
    return this.#call({ method: "POST", path, body });
  }

  put(path: string, body: JsonObject): Promise<JsonObject> {
    return this.#call({ method: "PUT", path, body });
  }

  delete(path: string): Promise<JsonObject> {
    return this.#call({ method: "DELETE", path });
  }

  /** The bytes of an answer, as they come. */
  async download(path: string): Promise<AsyncIterable<Uint8Array>> {
    const answer = await this.#send({ method: "GET", path });
    if (!answer.ok) throw errorOf(answer.status, parseJson(await textOf(answer, MOST_BYTES)), `GET ${path}`);
    return answer.body ?? emptyBody();
  }

  /** All records of a list that is paged, as many at a time as is documented (platform.md §1.1). */
  async all(path: string): Promise<readonly JsonObject[]> {
    const records: JsonObject[] = [];
    const seen = new Set<string>();
    for (let query = "?limit=100"; ;) {
      // A server that hands out the same page again would never end.
      if (seen.has(query) || seen.size >= MOST_PAGES) throw new PdError("PD_FAILED", `Cannot list ${path}: the server's pages do not end`);
      seen.add(query);
      const page = await this.get(path + query);
      const found = listOf(page);
      records.push(...found);
      const info = isJsonObject(page["page_info"]) ? page["page_info"] : {};
      if (found.length === 0 || records.length >= Number(info["total_count"] ?? 0)) return records;
      query = `?limit=100&after=${encodeURIComponent(String(info["end_cursor"]))}`;
    }
  }

  /** The record of a source, by id or slug. */
  async source(idOrSlug: string): Promise<JsonObject> {
    if (idOrSlug === "") throw new PdError("PD_SOURCE_NOT_FOUND", 'Cannot find source "": no source has an empty id or slug');
    return this.get(`/v1/sources/${encodeURIComponent(idOrSlug)}`).then(dataOf);
  }

  /** Messages of an event stream; reconnects and resumes by itself, also with a server that was started again. */
  stream(path: string, { onMessage, signal, lastEventId, onConnection }: StreamSettings): Stream {
    let refusal: PdError | undefined;
    const source = new EventSource(this.baseUrl + path, {
      fetch: async (_url, init) => {
        const { baseUrl, key } = await this.#locate();
        // Two of them would be joined: the one of the last message counts from the second connection on.
        const resume = lastEventId === undefined || "Last-Event-ID" in init.headers ? {} : { "last-event-id": lastEventId };
        const headers = { ...resume, ...init.headers, authorization: `Bearer ${key}` };
        const answer = await sendRequest(baseUrl + path, { signal: signalOf(init.signal), headers });
        if (answer.status >= MAY_PASS_STATUS) throw new Error(`status ${answer.status}`);
        if (!answer.ok) refusal = errorOf(answer.status, parseJson(await textOf(answer, MOST_BYTES)), `GET ${path}`);
        return answer;
      },
    });
    source.addEventListener("message", (message) => {
      const data = parseJson(String(message.data));
      if (isJsonObject(data)) onMessage({ id: message.lastEventId, data });
    });
    let isCut = false;
    source.addEventListener("open", () => {
      if (isCut) onConnection?.(true);
      isCut = false;
    });
    source.addEventListener("error", () => {
      if (!isCut && !signal.aborted && refusal === undefined) onConnection?.(false);
      isCut = true;
    });
    const opened = new Promise<void>((resolve) => source.addEventListener("open", () => resolve(), { once: true }));
    const ended = new Promise<void>((resolve, reject) => {
      const close = (): void => {
        source.close();
        resolve();
      };
      signal.addEventListener("abort", close, { once: true });
      if (signal.aborted) close();
      source.addEventListener("error", () => {
        if (refusal !== undefined) reject(refusal);
      });
    });
    const openedOrRefused = Promise.race([opened, ended]);
    // Whoever waits for only one of them is told by that one.
    for (const promise of [openedOrRefused, ended]) promise.catch(() => {});
    return { opened: openedOrRefused, ended };
  }

  #call(call: Call): Promise<JsonObject> {
    const done = this.#perform(call);
    return this.#options.watch?.(done) ?? done;
  }

  async #perform({ method, path, body }: Call): Promise<JsonObject> {
    const answer = await this.#send({ method, path, ...(body === undefined ? {} : { body }) });
    const value = parseJson(await textOf(answer, MOST_BYTES).catch((error: unknown) => Promise.reject(this.#unreachable(error))));
    if (!answer.ok) throw errorOf(answer.status, value, `${method} ${path}`);
    return isJsonObject(value) ? value : {};
  }

  /** A call that no one has taken is sent once more to where the server is by now. */
  async #send(call: Call): Promise<Answer> {
    const { baseUrl } = this.#server;
    try {
      return await this.#sendOnce(call);
    } catch (error) {
      const hasMoved = isRefused(error) && (await this.#locate()).baseUrl !== baseUrl;
      if (hasMoved) return await this.#sendOnce(call).catch((again: unknown) => Promise.reject(this.#unreachable(again)));
      throw this.#unreachable(error);
    }
  }

  #sendOnce({ method, path, body }: Call, timeoutMs?: number): Promise<Answer> {
    const { baseUrl, key } = this.#server;
    const headers = { authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const limit = timeoutMs === undefined ? {} : { timeoutMs };
    return sendRequest(baseUrl + path, { method, headers, ...limit, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  }

  async #locate(): Promise<ServerAddress> {
    this.#server = (await this.#options.locate?.()) ?? this.#server;
    return this.#server;
  }

  #unreachable(error: unknown): PdError {
    const reason = messageOf(causeOf(error));
    return new PdError("PD_SERVER_UNREACHABLE", `No server answers at ${this.baseUrl}: ${reason}`, { cause: error });
  }
}

async function* emptyBody(): AsyncGenerator<Uint8Array> {}

/** fetch tells the network's reason as the cause of its own error. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

function errorOf(status: number, value: JsonValue | undefined, call: string): PdError {
  const answer = isRecord(value) ? value : {};
  const details = isRecord(answer["details"]) ? answer["details"] : {};
  const message = typeof answer["error"] === "string" ? answer["error"] : `${call} was answered with status ${status}`;
  const fix = typeof details["fix"] === "string" ? { fix: details["fix"] } : {};
  return new PdError(isErrorCode(answer["code"]) ? answer["code"] : "PD_FAILED", message, { details, ...fix });
}

/** The `data` of an envelope that holds one record. */
export function dataOf(envelope: JsonObject): JsonObject {
  return isJsonObject(envelope["data"]) ? envelope["data"] : {};
}

/** The `data` of an envelope that holds a list. */
export function listOf(envelope: JsonObject): readonly JsonObject[] {
  return Array.isArray(envelope["data"]) ? envelope["data"].filter(isJsonObject) : [];
}

function signalOf(signal: unknown): AbortSignal | null {
  return signal instanceof AbortSignal ? signal : null;
}
