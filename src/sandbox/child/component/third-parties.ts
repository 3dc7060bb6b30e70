import { createHash } from "node:crypto";
import { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { ClientRequestInterceptor } from "@mswjs/interceptors/ClientRequest";
import { FetchInterceptor } from "@mswjs/interceptors/fetch";
import type { Exchange, OutsideAnswer, OutsideRequest, ThirdParties } from "../../../domain/run/exchange.ts";
import { MOST_RECORDED_BYTES } from "../../../domain/run/exchange.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { type Call, currentCall } from "./call.ts";

/** Requests of one call: recorded, or answered from a recording. */
export class CallExchanges {
  readonly exchanges: Exchange[] = [];
  readonly #wishes: ThirdParties;
  readonly #pending = new Set<Promise<void>>();
  /** A repeated request gets the next answer. */
  readonly #used = new Set<Exchange>();
  #bytes = 0;

  constructor(wishes: ThirdParties) {
    this.#wishes = wishes;
  }

  get isAnswered(): boolean {
    return this.#wishes.kind === "answered";
  }

  answerTo(request: Asked): Exchange | undefined {
    const same = this.#wishes.kind === "answered" ? this.#wishes.exchanges.filter((one) => isSame(one, request)) : [];
    const found = same.find((one) => !this.#used.has(one)) ?? same.at(-1);
    if (found !== undefined) this.#used.add(found);
    return found;
  }

  record(exchange: Promise<Exchange>): void {
    const recording = exchange
      .then((answered) => this.#keep(answered))
      .catch(() => {})
      .finally(() => this.#pending.delete(recording));
    this.#pending.add(recording);
  }

  /** Resolves when all answers are recorded, at most after `SETTLE_MS`. */
  async settled(): Promise<void> {
    const late = new AbortController();
    const given = sleep(SETTLE_MS, undefined, { signal: late.signal }).catch(() => {});
    await Promise.race([Promise.all(this.#pending), given]);
    late.abort();
  }

  #keep(exchange: Exchange): void {
    this.#bytes += exchange.body.length;
    const isTooMuch = this.#bytes > MOST_RECORDED_BYTES;
    this.exchanges.push(isTooMuch ? { ...exchange, body: "", isCut: true } : exchange);
  }
}

const SETTLE_MS = 500;

type Asked = Pick<Exchange, "method" | "url" | "bodyHash">;

function isSame(exchange: Exchange, { method, url, bodyHash }: Asked): boolean {
  return exchange.method === method && exchange.url === url && exchange.bodyHash === bodyHash && exchange.isCut !== true;
}

const calls = new WeakMap<object, CallExchanges>();
let isWatching = false;
const asked = new Map<string, Promise<{ readonly call: CallExchanges; readonly request: Asked }>>();

export function watchThirdParties(call: object, wishes: ThirdParties): CallExchanges {
  const exchanges = new CallExchanges(wishes);
  calls.set(call, exchanges);
  watch();
  return exchanges;
}

const hosts = new WeakSet<object>();

export function askHost(call: Call): void {
  hosts.add(call);
  watch();
}

async function answeredByHost(call: Call, request: Request): Promise<Response> {
  const body = Buffer.from(await request.arrayBuffer()).toString("base64");
  const asked: OutsideRequest = { operation: "fetch", method: request.method, url: request.url, headers: [...request.headers], body };
  return responseOf(answerOf(await call.ask(asked)));
}

function answerOf(answer: unknown): OutsideAnswer {
  const { status, statusText, headers, body } = isRecord(answer) ? answer : {};
  const pairs = (Array.isArray(headers) ? headers : []).map((pair: unknown): [string, string] =>
    Array.isArray(pair) ? [String(pair[0]), String(pair[1])] : ["", ""],
  );
  return { status: Number(status), statusText: String(statusText ?? ""), headers: pairs, body: String(body ?? "") };
}

let isCutOff = false;

/** Requests fail unless a recording or the host answers them, even in code that is loading. */
export function cutOff(): void {
  isCutOff = true;
  watch();
  shutNetwork();
}

function exchangesNow(): CallExchanges | undefined {
  const call = currentCall.getStore();
  return call === undefined ? undefined : calls.get(call);
}

function watch(): void {
  if (isWatching) return;
  isWatching = true;
  const [client, fetches] = [new ClientRequestInterceptor(), new FetchInterceptor()];
  // `fetch` has decoded the body, so its encoding headers do not apply.
  for (const { interceptor, isDecoded } of [
    { interceptor: client, isDecoded: false },
    { interceptor: fetches, isDecoded: true },
  ]) {
    interceptor.on("request", async ({ request, requestId, controller }) => {
      const asking = currentCall.getStore();
      if (asking !== undefined && hosts.has(asking)) {
        const answer = await answeredByHost(asking, request.clone()).catch((error: unknown) => error);
        return answer instanceof Response ? controller.respondWith(answer) : controller.errorWith(answer instanceof Error ? answer : new Error(String(answer)));
      }
      const call = exchangesNow();
      if (call === undefined) {
        if (isCutOff) controller.errorWith(notRecorded({ method: request.method, url: request.url }));
        return;
      }
      const noted = askedOf(request.clone()).then((one) => ({ call, request: one }));
      asked.set(requestId, noted);
      if (!call.isAnswered) return;
      const { request: wanted } = await noted;
      const found = call.answerTo(wanted);
      if (found === undefined) return controller.errorWith(notRecorded(wanted));
      controller.respondWith(responseOf(found));
    });
    interceptor.on("response", ({ response, requestId }) => {
      const noted = asked.get(requestId);
      asked.delete(requestId);
      if (noted === undefined) return;
      const copy = response.clone();
      void noted.then(({ call, request }) => {
        if (!call.isAnswered) call.record(exchangeOf(request, copy, isDecoded));
      });
    });
    interceptor.apply();
  }
}

async function askedOf(request: Request): Promise<Asked> {
  const body = Buffer.from(await request.arrayBuffer());
  return { method: request.method, url: request.url, bodyHash: body.length === 0 ? "" : createHash("sha256").update(body).digest("base64") };
}

async function exchangeOf(request: Asked, response: Response, isDecoded: boolean): Promise<Exchange> {
  const headers = [...response.headers].filter(([name]) => !isDecoded || (name !== "content-encoding" && name !== "content-length"));
  const base = { ...request, status: response.status, statusText: response.statusText, headers };
  const bytes: Uint8Array[] = [];
  let count = 0;
  for await (const chunk of response.body ?? []) {
    bytes.push(chunk);
    count += chunk.length;
    if (count > MOST_RECORDED_BYTES) return { ...base, body: "", isCut: true };
  }
  return { ...base, body: Buffer.concat(bytes).toString("base64") };
}

function responseOf({ status, statusText, headers, body }: OutsideAnswer): Response {
  const hasBody = status !== 204 && status !== 205 && status !== 304;
  return new Response(hasBody ? Buffer.from(body, "base64") : null, {
    status,
    statusText,
    headers: headers.map(([name, value]): [string, string] => [name, value]),
  });
}

function notRecorded({ method, url }: Pick<Asked, "method" | "url">): Error {
  return Object.assign(new Error(`${method} ${url.replace(/\?.*$/s, "?…")} was not recorded in the run, and this dry run sends no requests`), {
    code: "PD_NOT_RECORDED",
  });
}

/** Code that bypasses the interceptors cannot connect. */
function shutNetwork(): void {
  Object.defineProperty(Socket.prototype, "connect", {
    configurable: true,
    value: function (this: Socket) {
      const error = Object.assign(new Error("this dry run sends no requests: only recorded HTTP requests are answered"), {
        code: "PD_NOT_RECORDED",
      });
      process.nextTick(() => this.destroy(error));
      return this;
    },
  });
}
