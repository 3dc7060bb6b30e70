import { PdError, codeOf, isErrorCode, messageOf } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isRecord, parseJson } from "../domain/json.ts";
import { textOf } from "../system/answer-text.ts";
import { type Answer, type Sending, Silence, sendRequest } from "../system/http-client.ts";

export interface Request {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  readonly path: string;
  readonly body?: JsonObject;
  /** Under which the server tells how far it is. */
  readonly progressId?: string;
}

/** What the server is at; `undefined`: nothing that it tells. */
export type AskStep = () => Promise<JsonObject | undefined>;

export interface ServerAddress {
  /** Without a trailing slash and without /v1. */
  readonly baseUrl: string;
  readonly key: string;
}

export interface ConnectionOptions {
  /** Is handed each call while it goes on, to show that something does, and what. */
  readonly watch?: (call: Promise<JsonValue | undefined>, askStep: AskStep) => Promise<JsonValue | undefined>;
  /** Where the server is by now: one that was started again may listen elsewhere. */
  readonly locate?: () => Promise<ServerAddress | undefined>;
  /** Sees to it that there is a server, and tells where. It is asked before the first call, but for a read that is answered. */
  readonly reach?: () => Promise<ServerAddress>;
  /** Nobody waits for anything any more. */
  readonly signal?: AbortSignal;
  /** The server is in this process: it is handed calls without the network. Streams and downloads go over that all the same. */
  readonly ask?: (url: string, sending: Sending) => Promise<Answer>;
}

export const CHECK_ADDRESS = "Check the address, which may be that of another server: --base-url, PD_BASE_URL or the profile";
const ALIVE_TIMEOUT_MS = 3000;
/** Longer answers are not those of a server of this kind. */
const MOST_BYTES = 256_000_000;
const MOST_STEP_BYTES = 10_000;
/** Of a refusal, or of what tells that a server is there. */
const MOST_SHORT_BYTES = 1_000_000;
/** Chosen: what is only read begins within this time, also the copy of a large database. Deploys and runs may take longer. */
const READ_WITHIN_MS = 600_000;
/** A server opens a stream at once; one of this kind gives a sign of life every 15 s. */
const SILENT_MS = 45_000;

/** Speaks HTTP with one server. Throws the server's own errors as PdError, and PD_SERVER_UNREACHABLE. */
export class Connection {
  #server: ServerAddress;
  readonly #options: ConnectionOptions;
  /** Resolves when the server is there. */
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

  /** The same server, for whoever waits for nothing any more once the signal aborts. */
  until(signal: AbortSignal): Connection {
    return new Connection(this.#server, { ...this.#options, signal });
  }

  /** `silent`: somebody takes connections and has not answered yet, as one that is at work, or that was stopped by a signal. */
  async listens(): Promise<"answers" | "silent" | "nobody"> {
    try {
      const answer = await this.#sendOnce({ method: "GET", path: "/v1/status" }, { timeoutMs: ALIVE_TIMEOUT_MS });
      return parseJson(await textOf(answer, MOST_SHORT_BYTES)) !== undefined && answer.ok ? "answers" : "nobody";
    } catch (error) {
      return codeOf(error) === "ETIMEDOUT" ? "silent" : "nobody";
    }
  }

  /** The body of the answer; `undefined`: there is none. */
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

  /** An answer to a read shows that the server is there, and asking whether it is would take as long. `undefined`: it is to be asked. */
  async #firstRead(request: Request): Promise<JsonValue | undefined> {
    try {
      const answer = await this.#sendOnce(request, { timeoutMs: ALIVE_TIMEOUT_MS });
      const told = answer.ok ? parseJson(await textOf(answer, MOST_BYTES)) : undefined;
      if (told !== undefined) this.#reached ??= Promise.resolve();
      return told;
    } catch {
      // Whatever is wrong is found by looking for it.
      return undefined;
    }
  }

  #reach(): Promise<void> {
    const { reach } = this.#options;
    this.#reached ??= (async () => {
      try {
        if (reach !== undefined) this.#server = await reach();
      } catch (error) {
        // It may be there the next time.
        this.#reached = undefined;
        throw error;
      }
    })();
    return this.#reached;
  }

  /** Nobody waits for it: whatever goes wrong with it is told by the call itself. */
  async #stepOf(id: string): Promise<JsonObject | undefined> {
    try {
      const answer = await this.#sendOnce({ method: "GET", path: `/v1/progress/${id}` }, { timeoutMs: ALIVE_TIMEOUT_MS });
      const told = parseJson(await textOf(answer, MOST_STEP_BYTES));
      return answer.ok && isJsonObject(told) && isJsonObject(told["data"]) ? told["data"] : undefined;
    } catch {
      return undefined;
    }
  }

  /** The bytes of an answer, as they come, and how many there will be. */
  async download(path: string): Promise<{ readonly bytes: number; readonly body: AsyncIterable<Uint8Array> }> {
    await this.#reach();
    const answer = await this.#send({ method: "GET", path });
    if (!answer.ok) throw await refusalOf(answer, `GET ${path}`);
    return { bytes: Number(answer.headers.get("content-length") ?? 0), body: this.#downloaded(answer) };
  }

  /** Throws PD_SERVER_UNREACHABLE when the server ends in the middle or falls silent. */
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

  /** An answer that goes on: it is asked for where the server is by now. Rejects with the network's reason. */
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
    throw new PdError("PD_SERVER_UNREACHABLE", `Cannot call ${request.method} ${request.path}: what answers at ${this.baseUrl} is no server of this kind`, {
      fix: CHECK_ADDRESS,
    });
  }

  /** A call that no one has taken is sent once more to where the server is by now. */
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

/** fetch tells the network's reason as the cause of its own error. */
function causeOf(error: unknown): unknown {
  return error instanceof Error && error.cause !== undefined ? error.cause : error;
}

function isRefused(error: unknown): boolean {
  const cause = causeOf(error);
  return cause instanceof Error && "code" in cause && cause.code === "ECONNREFUSED";
}

/** What a server says that refuses a call. `call`: for one that says nothing. */
export async function refusalOf(answer: Answer, call: string): Promise<PdError> {
  const value = parseJson(await textOf(answer, MOST_SHORT_BYTES).catch(() => ""));
  const told = isRecord(value) ? value : {};
  const { fix: advice, ...details } = isRecord(told["details"]) ? told["details"] : {};
  const message = typeof told["error"] === "string" ? told["error"] : `${call} was answered with status ${answer.status}`;
  // A refusal of a server of this kind says more than its status.
  const isForeign = typeof told["error"] !== "string" && answer.status < 500;
  const fix = typeof advice === "string" ? { fix: advice } : isForeign ? { fix: CHECK_ADDRESS } : {};
  return new PdError(isErrorCode(told["code"]) ? told["code"] : "PD_FAILED", message, { details, ...fix });
}
