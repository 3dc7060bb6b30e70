import { EventSource } from "eventsource";
import { PdError, isErrorCode, messageOf } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isRecord, parseJson } from "../domain/json.ts";
import { type Answer, sendRequest } from "../system/http-client.ts";

interface Call {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
}

type Watch = (call: Promise<JsonObject>) => Promise<JsonObject>;

export interface StreamMessage {
  readonly id: string;
  readonly data: JsonObject;
}

/** Speaks /v1 with one server. Throws the server's own errors as PdError, and PD_SERVER_UNREACHABLE. */
export class ApiClient {
  readonly baseUrl: string;
  readonly #key: string;
  readonly #watch: Watch;

  /** `watch` is handed each call while it goes on, to show that something does. */
  constructor(baseUrl: string, key: string, watch: Watch = (call) => call) {
    this.baseUrl = baseUrl;
    this.#key = key;
    this.#watch = watch;
  }

  async isAlive(): Promise<boolean> {
    return this.get("/v1/status").then(
      () => true,
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

  /** The record of a source, by id or slug. */
  source(idOrSlug: string): Promise<JsonObject> {
    return this.get(`/v1/sources/${encodeURIComponent(idOrSlug)}`).then(dataOf);
  }

  /** Messages of an event stream, until the signal aborts; reconnects and resumes by itself. Resolves `opened` when the server listens. */
  stream(
    path: string,
    { onMessage, signal, lastEventId }: { onMessage: (message: StreamMessage) => void; signal: AbortSignal; lastEventId?: string },
  ): Promise<void> {
    const authorization = `Bearer ${this.#key}`;
    const first = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
    const source = new EventSource(this.baseUrl + path, {
      fetch: (url, init) => sendRequest(url, { signal: signalOf(init.signal), headers: { ...first, ...init.headers, authorization } }),
    });
    signal.addEventListener("abort", () => source.close());
    source.addEventListener("message", (message) => {
      const data = parseJson(String(message.data));
      if (isJsonObject(data)) onMessage({ id: message.lastEventId, data });
    });
    return new Promise((resolve) => source.addEventListener("open", () => resolve(), { once: true }));
  }

  #call(call: Call): Promise<JsonObject> {
    return this.#watch(this.#perform(call));
  }

  async #perform({ method, path, body }: Call): Promise<JsonObject> {
    const headers = { authorization: `Bearer ${this.#key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    let answer: Answer;
    try {
      answer = await sendRequest(this.baseUrl + path, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
    } catch (error) {
      const reason = error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
      throw new PdError("PD_SERVER_UNREACHABLE", `No server answers at ${this.baseUrl}: ${reason}`, { cause: error });
    }
    const text = await answer.text();
    const value = parseJson(text);
    if (!answer.ok) throw errorOf(answer.status, value, `${method} ${path}`);
    return isJsonObject(value) ? value : {};
  }
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
