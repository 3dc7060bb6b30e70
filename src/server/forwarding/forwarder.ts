import { Agent, type ClientRequest, type IncomingMessage, type RequestListener, type ServerResponse, request as send } from "node:http";
import { pipeline } from "node:stream";
import { type ErrorCode, PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { FORWARDED, type Signer, forwardedHeader, refusalSignature, takeForwarded } from "./forwarded.ts";

interface ForwarderSettings {
  readonly signer: Signer;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Base URL of this door at the leader, as far as this node knows. */
  readonly leaderUrl: () => string | undefined;
  /** Looks again for the leader. */
  readonly look: () => Promise<void>;
  /** While this node leads. */
  readonly own: () => RequestListener | undefined;
  /** Answers what every node answers itself. */
  readonly answersHere: (request: IncomingMessage, response: ServerResponse) => boolean;
}

/** Longer than a leader that hands over may take. */
const HOLD_MS = 15_000;
const LOOK_EVERY_MS = 50;
/** A body up to this size can be sent again. */
const MOST_HELD_BYTES = 64 * 1024;
/** Of all bodies that are kept. */
const MOST_HELD_IN_ALL = 64 * 2 ** 20;
/** Less than the 65 s after which the leader closes an idle connection. */
const IDLE_MS = 30_000;
const CONNECT_WITHIN_MS = 2000;
const MOST_HEADER_BYTES = 2 ** 20;
const NOT_LEADING = "x-headwater-not-leading";
const OF_ONE_HOP = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect", FORWARDED]);

/** `unanswered`: the leader got it and may have run it. */
type Outcome = "answered" | "not-reached" | "unanswered";
type Body = Buffer | "stream";

interface UnderWay {
  readonly url: string;
  /** Undefined without an answer. A function ends an event stream. */
  readonly end: undefined | "answer" | (() => void);
}

/** A door of a node: the leader answers itself, and the others forward one hop to it. */
export class Forwarder {
  readonly #settings: ForwarderSettings;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  readonly #underWay = new Map<ClientRequest, UnderWay>();
  /** Bytes of bodies that are kept. */
  #held = 0;

  constructor(settings: ForwarderSettings) {
    this.#settings = settings;
  }

  readonly listener: RequestListener = (request, response) => {
    const { signer, clock, own, answersHere } = this.#settings;
    const forwarded = takeForwarded(request, { signer, now: clock.now() });
    const listener = own();
    if (listener !== undefined) return listener(request, response);
    if (answersHere(request, response)) return;
    if (forwarded !== undefined)
      return refuse(request, response, {
        code: "PD_STARTING",
        message: "This node does not lead",
        headers: [NOT_LEADING, refusalSignature(forwarded, signer)],
      });
    void this.#forward(request, response);
  };

  /** Ends what waits for another leader, which may never answer. Answers that have begun may still arrive. */
  keepOnly(leaderUrl: string): void {
    for (const [sent, { url, end }] of this.#underWay) {
      if (url === leaderUrl) continue;
      if (end === "answer") sent.setTimeout(IDLE_MS, () => sent.destroy());
      else if (end === undefined) sent.destroy();
      else end();
    }
  }

  /** Event streams end only with their clients. */
  endStreams(): void {
    for (const { end } of this.#underWay.values()) if (typeof end === "function") end();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, signal } = this.#settings;
    const until = clock.now() + HOLD_MS;
    let body: Body | undefined;
    let isSentAgain = false;
    for (;;) {
      const url = await this.#leader(until, response);
      if (response.destroyed) return;
      if (url === undefined) break;
      const own = this.#settings.own();
      if (own !== undefined && body === undefined) return own(request, response);
      body ??= await this.#bodyOf(request, response);
      if (response.destroyed || (body !== "stream" && !request.complete)) return void response.destroy();
      const outcome = await this.#send(this.#settings.leaderUrl() ?? url, { request, response, body });
      if (outcome === "answered") return;
      const isRead = body !== "stream" && (request.method === "GET" || request.method === "HEAD");
      if (outcome === "unanswered" && (!isRead || isSentAgain))
        return refuse(request, response, { code: "PD_INTERRUPTED", message: "The node that served the request ended before it answered" });
      isSentAgain ||= outcome === "unanswered";
      if (clock.now() >= until || signal.aborted) break;
      await clock.sleepUntil(clock.now() + LOOK_EVERY_MS, signal);
      await this.#settings.look();
    }
    refuse(request, response, { code: "PD_STARTING", message: "Cannot take requests now: no node of the cluster leads" });
  }

  /** The whole body when it is small. */
  async #bodyOf(request: IncomingMessage, response: ServerResponse): Promise<Body> {
    const { "content-length": length = "0", "transfer-encoding": encoding } = request.headers;
    const size = Number(length);
    if (encoding !== undefined || size > MOST_HELD_BYTES || this.#held + size > MOST_HELD_IN_ALL) {
      // It can be sent once.
      await this.#settings.look();
      return "stream";
    }
    this.#held += size;
    response.once("close", () => (this.#held -= size));
    return new Promise((resolve) => {
      const chunks: Buffer[] = [];
      let left = size;
      request.on("data", (chunk: Buffer) => {
        left -= chunk.length;
        if (left < 0) request.destroy();
        else chunks.push(chunk);
      });
      const done = (): void => resolve(Buffer.concat(chunks));
      request.once("end", done);
      request.once("close", done);
    });
  }

  /** Waits for one. */
  async #leader(until: number, response: ServerResponse): Promise<string | undefined> {
    const { clock, signal, leaderUrl, look } = this.#settings;
    for (;;) {
      const url = leaderUrl();
      if (url !== undefined) return url;
      if (clock.now() >= until || signal.aborted || response.destroyed) return undefined;
      await clock.sleepUntil(clock.now() + LOOK_EVERY_MS, signal);
      await look();
    }
  }

  #send(url: string, { request, response, body }: { request: IncomingMessage; response: ServerResponse; body: Body }): Promise<Outcome> {
    const { signer, clock } = this.#settings;
    return new Promise((resolve) => {
      const { hostname, host: authority, port } = new URL(url);
      const forwarded = forwardedHeader(request, { signer, now: clock.now() });
      const headers = [FORWARDED, forwarded, ...(request.headers.host === undefined ? ["host", authority] : []), ...headersFor(request, body)];
      const host = hostname.replace(/^\[|\]$/g, "");
      const about = { agent: this.#agent, host, port, method: request.method, path: request.url, headers, setHost: false, maxHeaderSize: MOST_HEADER_BYTES };
      const sent = send(about);
      this.#underWay.set(sent, { url, end: undefined });
      let isConnected = false;
      let isAnswered = false;
      const connecting = setTimeout(() => sent.destroy(), CONNECT_WITHIN_MS);
      const end = (outcome: Outcome): void => {
        clearTimeout(connecting);
        this.#underWay.delete(sent);
        response.off("close", giveUp);
        resolve(outcome);
      };
      const giveUp = (): void => void sent.destroy();
      response.once("close", giveUp);
      const begin = (): void => {
        isConnected = true;
        clearTimeout(connecting);
        if (body === "stream") request.pipe(sent);
      };
      sent.once("socket", (socket) => (socket.connecting ? socket.once("connect", begin) : begin()));
      sent.once("response", (answer) => {
        isAnswered = true;
        if (answer.headers[NOT_LEADING] === refusalSignature(forwarded, signer)) {
          answer.resume();
          // The beginning of a stream is lost.
          return end(body === "stream" ? "unanswered" : "not-reached");
        }
        const endStream = (): void => {
          answer.unpipe(response);
          response.end(() => sent.destroy());
        };
        const isStream = answer.headers["content-type"]?.startsWith("text/event-stream") === true;
        this.#underWay.set(sent, { url, end: isStream ? endStream : "answer" });
        const ended = (): void => {
          // The client no longer sends.
          if (!request.complete) sent.destroy();
          end("answered");
        };
        passOn(answer, { request, response, ended });
      });
      sent.on("error", () => {
        request.unpipe(sent);
        // The client may still be sending, and then reads the answer.
        if (isConnected && body === "stream") request.resume();
        if (!isAnswered) end(response.destroyed ? "answered" : isConnected ? "unanswered" : "not-reached");
      });
      if (body !== "stream") sent.end(body);
    });
  }
}

function headersFor(request: IncomingMessage, body: Body): string[] {
  const kept = keptHeaders(request.rawHeaders);
  return body === "stream" && request.headers["transfer-encoding"] !== undefined ? [...kept, "transfer-encoding", "chunked"] : kept;
}

/** Without those that concern one connection. */
function keptHeaders(raw: readonly string[]): string[] {
  return raw.flatMap((name, place) => (place % 2 === 0 && !OF_ONE_HOP.has(name.toLowerCase()) ? [name, raw[place + 1] ?? ""] : []));
}

function passOn(answer: IncomingMessage, { request, response, ended }: { request: IncomingMessage; response: ServerResponse; ended: () => void }): void {
  response.sendDate = false;
  const headers = keptHeaders(answer.rawHeaders);
  // The rest of the body is not read.
  if (!request.complete) headers.push("connection", "close");
  response.writeHead(answer.statusCode ?? 502, answer.statusMessage, headers);
  response.flushHeaders();
  pipeline(answer, response, (error) => {
    if (error !== undefined && error !== null) response.destroy();
    ended();
  });
}

interface Refused {
  readonly code: ErrorCode;
  readonly message: string;
  readonly headers?: readonly string[];
}

function refuse(request: IncomingMessage, response: ServerResponse, { code, message, headers = [] }: Refused): void {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const { status, fix } = new PdError(code, message);
  if (!request.complete) response.setHeader("connection", "close");
  response.writeHead(status, ["content-type", "application/json", "retry-after", "1", ...headers]);
  response.end(JSON.stringify({ error: message, code, details: { fix } }));
}
