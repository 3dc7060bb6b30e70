import { PdError, codeOf, isErrorCode, messageOf } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isRecord, parseJson } from "../domain/text/json.ts";
import { textOf } from "../system/http/answer-text.ts";
import { type Answer, type Sending, Silence, sendRequest } from "../system/http/http-client.ts";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
  /** Sent as `pd-progress`. `/v1/progress/<id>` then has the call's step. */
  readonly progressId?: string;
}

/** The current step of a call. Undefined when the server reports none. */
export type AskStep = () => Promise<JsonObject | undefined>;

export interface ServerAddress {
  /** Without a trailing slash and /v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export interface ConnectionOptions {
  /** Shows each call's progress to the user. */
  readonly watch?: (call: Promise<JsonValue | undefined>, askStep: AskStep) => Promise<JsonValue | undefined>;
  /** The server's address, which changes with a restart. Undefined when no server runs. */
  readonly locate?: () => Promise<ServerAddress | undefined>;
  /** Starts a server if needed. Called before the first call, unless that is a read that the server answers. */
  readonly reach?: () => Promise<ServerAddress>;
  readonly signal?: AbortSignal;
  /** Calls a server in this process. Streams and downloads use the network. */
  readonly ask?: (url: string, sending: Sending) => Promise<Answer>;
}

export const CHECK_ADDRESS = "Check the server's address: --base-url, PD_BASE_URL or the profile";
const ALIVE_TIMEOUT_MS = 3000;
/** Chosen: above any answer of this API. */
const MOST_BYTES = 256_000_000;
const MOST_STEP_BYTES = 10_000;
/** For error bodies and `/v1/status`. */
const MOST_SHORT_BYTES = 1_000_000;
/** Until a GET's headers. Chosen to cover the copy of a large database. Deploys and runs have no limit. */
const READ_WITHIN_MS = 600_000;
/** The server opens a stream at once and sends a comment every 15 s. */
const SILENT_MS = 45_000;

/** Throws the server's errors as PdError, and PD_SERVER_UNREACHABLE. */
export class Connection {
  #server: ServerAddress;
  readonly #options: ConnectionOptions;
  /** The server runs. Undefined before, and after a failed attempt. */
  #reached: Promise<void> | undefined;

  constructor(server: ServerAddress, options: ConnectionOptions = {}) {
    this.#server = server;
    this.#options = options;
  }

  get baseUrl(): string {
    return this.#server.baseUrl;
  }

  get address(): ServerAddress {
    return this.#server;
  }

  /** A copy whose calls the signal aborts. */
  until(signal: AbortSignal): Connection {
    return new Connection(this.#server, { ...this.#options, signal });
  }

  /** `silent`: accepted but not answered in time, as by a busy or suspended server. */
  async listens(): Promise<"answers" | "silent" | "nobody"> {
    try {
      const answer = await this.#sendOnce({ method: "GET", path: "/v1/status" }, { timeoutMs: ALIVE_TIMEOUT_MS });
      return parseJson(await textOf(answer, MOST_SHORT_BYTES)) !== undefined && answer.ok ? "answers" : "nobody";
    } catch (error) {
      return codeOf(error) === "ETIMEDOUT" ? "silent" : "nobody";
    }
  }

  /** Undefined for an empty body. */
  async request(request: Request): Promise<JsonValue | undefined> {
    const { watch } = this.#options;
    const isFirst = this.#reached === undefined && this.#options.reach !== undefined && request.method === "GET";
    const first = isFirst ? await (watch?.(this.#firstRead(request), async () => undefined) ?? this.#firstRead(request)) : undefined;
    if (first !== undefined) return first;
    await this.#reach();
    if (watch === undefined) return this.#perform(request);
    if (request.method === "GET") return watch(this.#perform(request), async () => undefined);
    const progressId = crypto.randomUUID();
    return watch(this.#perform({ ...request, progressId }), () => this.#stepOf(progressId));
  }

  /** The read takes no longer than a check whether a server runs, so it replaces the check. Undefined when the check is necessary. */
  async #firstRead(request: Request): Promise<JsonValue | undefined> {
    try {
      const answer = await this.#sendOnce(request, { timeoutMs: ALIVE_TIMEOUT_MS });
      const told = answer.ok ? parseJson(await textOf(answer, MOST_BYTES)) : undefined;
      if (told !== undefined) this.#reached ??= Promise.resolve();
      return told;
    } catch {
      // `reach` reports the reason.
      return undefined;
    }
  }

  #reach(): Promise<void> {
    const { reach } = this.#options;
    this.#reached ??= (async () => {
      try {
        if (reach !== undefined) this.#server = await reach();
      } catch (error) {
        this.#reached = undefined;
        throw error;
      }
    })();
    return this.#reached;
  }

  /** Does not throw: the call itself reports its errors. */
  async #stepOf(id: string): Promise<JsonObject | undefined> {
    try {
      const answer = await this.#sendOnce({ method: "GET", path: `/v1/progress/${id}` }, { timeoutMs: ALIVE_TIMEOUT_MS });
      const told = parseJson(await textOf(answer, MOST_STEP_BYTES));
      return answer.ok && isJsonObject(told) && isJsonObject(told["data"]) ? told["data"] : undefined;
    } catch {
      return undefined;
    }
  }

  /** `bytes` is 0 when the length is unknown. */
  async download(path: string): Promise<{ readonly bytes: number; readonly body: AsyncIterable<Uint8Array> }> {
    await this.#reach();
    const answer = await this.#send({ method: "GET", path });
    if (!answer.ok) throw await refusalOf(answer, `GET ${path}`);
    return { bytes: Number(answer.headers.get("content-length") ?? 0), body: this.#downloaded(answer) };
  }

  /** Throws PD_SERVER_UNREACHABLE when the stream breaks off or is silent too long. */
  async *#downloaded(answer: Answer): AsyncGenerator<Uint8Array> {
    const reader = answer.body?.getReader();
    let isSilent = false;
    const silence = new Silence(SILENT_MS, () => {
      isSilent = true;
      void reader?.cancel().catch(() => {});
    });
    try {
      for (;;) {
        const chunk = await reader?.read();
        if (isSilent) throw new Error(`it sent nothing for ${SILENT_MS / 1000} s`);
        if (chunk === undefined || chunk.done) return;
        silence.heard();
        if (chunk.value instanceof Uint8Array) yield chunk.value;
      }
    } catch (error) {
      throw this.#unreachable(isSilent ? new Error(`it sent nothing for ${SILENT_MS / 1000} s`) : error);
    } finally {
      silence.end();
      await reader?.cancel().catch(() => {});
    }
  }

  /** Opens a stream at the server's current address. Rejects with the network's error. */
  async open(path: string, { headers, signal }: { headers: Readonly<Record<string, string>>; signal: AbortSignal }): Promise<Answer> {
    await this.#reach();
    await this.#locate();
    return this.#sendOnce({ method: "GET", path }, { headers, signal, headTimeoutMs: SILENT_MS });
  }

  async #perform(request: Request): Promise<JsonValue | undefined> {
    const answer = await this.#send(request, this.#options.ask);
    if (!answer.ok) throw await refusalOf(answer, `${request.method} ${request.path}`);
    const text = await textOf(answer, MOST_BYTES).catch((error: unknown) => Promise.reject(this.#unreachable(error)));
    const told = parseJson(text);
    if (told !== undefined || text === "") return told;
    throw new PdError("PD_SERVER_UNREACHABLE", `Cannot call ${request.method} ${request.path}: ${this.baseUrl} is not a Headwater server`, {
      fix: CHECK_ADDRESS,
    });
  }

  /** Retries a refused request once, at the server's current address. The refusing server has not received it. */
  async #send(request: Request, ask?: ConnectionOptions["ask"]): Promise<Answer> {
    const { baseUrl } = this.#server;
    try {
      return await this.#sendOnce(request, { ask });
    } catch (error) {
      const hasMoved = isRefused(error) && (await this.#locate()).baseUrl !== baseUrl;
      if (hasMoved) return await this.#sendOnce(request).catch((again: unknown) => Promise.reject(this.#unreachable(again)));
      throw this.#unreachable(error);
    }
  }

  #sendOnce(
    { method, path, body, progressId }: Request,
    {
      ask = sendRequest,
      ...more
    }: { timeoutMs?: number; headTimeoutMs?: number; headers?: Readonly<Record<string, string>>; signal?: AbortSignal; ask?: ConnectionOptions["ask"] } = {},
  ): Promise<Answer> {
    const { baseUrl, key } = this.#server;
    const tracking = progressId === undefined ? {} : { "pd-progress": progressId };
    const headers = { ...more.headers, ...tracking, authorization: `Bearer ${key}`, ...(body === undefined ? {} : { "content-type": "application/json" }) };
    const { signal = this.#options.signal ?? null } = more;
    const head = method === "GET" ? { headTimeoutMs: READ_WITHIN_MS } : {};
    return ask(baseUrl + path, { ...head, ...more, signal, method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
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

/** `fetch` throws a TypeError with the network's error as its cause. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

/** `call` names the request when the body has no message. */
export async function refusalOf(answer: Answer, call: string): Promise<PdError> {
  const value = parseJson(await textOf(answer, MOST_SHORT_BYTES).catch(() => ""));
  const told = isRecord(value) ? value : {};
  const { fix: advice, ...details } = isRecord(told["details"]) ? told["details"] : {};
  const message = typeof told["error"] === "string" ? told["error"] : `${call} returned status ${answer.status}`;
  // Our servers always send a message.
  const isForeign = typeof told["error"] !== "string" && answer.status < 500;
  const fix = typeof advice === "string" ? { fix: advice } : isForeign ? { fix: CHECK_ADDRESS } : {};
  return new PdError(isErrorCode(told["code"]) ? told["code"] : "PD_FAILED", message, { details, ...fix });
}
