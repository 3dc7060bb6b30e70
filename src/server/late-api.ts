import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { toPdError } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";

export interface Api {
  readonly listener: RequestListener;
  ask(url: string, call: RequestInit): Promise<Response>;
}

/** The API is a third of the program, and endpoints and timers work without it. */
export class LateApi implements Api {
  readonly #load: () => Promise<Api>;
  readonly #log: Log;
  #loading: Promise<Api> | undefined;
  #loaded: Api | undefined;

  constructor(load: () => Promise<Api>, log: Log) {
    this.#load = load;
    this.#log = log;
  }

  readonly listener: RequestListener = (request, response) => {
    if (this.#loaded === undefined) void this.#answerLate(request, response);
    else this.#loaded.listener(request, response);
  };

  async ask(url: string, call: RequestInit): Promise<Response> {
    return (await this.load()).ask(url, call);
  }

  /** Rejects when loading fails. The next call retries, but Node may repeat the error. */
  load(): Promise<Api> {
    this.#loading ??= this.#load().then(
      (api) => (this.#loaded = api),
      (error: unknown) => {
        this.#loading = undefined;
        throw error;
      },
    );
    return this.#loading;
  }

  async #answerLate(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      (await this.load()).listener(request, response);
    } catch (error) {
      const { status, message, code, fix } = toPdError(error);
      this.#log.error("the API cannot be loaded", { reason: message });
      response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(JSON.stringify({ error: message, code, details: { fix } }));
    }
  }
}
