import { Agent, type ClientRequest, type IncomingMessage, type RequestListener, type ServerResponse, request as send } from "node:http";
import { pipeline } from "node:stream";
import { type ErrorCode, PdError } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import { FORWARDED, type Signer, forwardedHeader, takeForwarded } from "./forwarded.ts";

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

/** A takeover takes less. */
const HOLD_MS = 10_000;
const LOOK_EVERY_MS = 50;
/** A body up to this size can be sent again. */
const MOST_HELD_BYTES = 64 * 1024;
/** Less than the 65 s after which the leader closes an idle connection. */
const IDLE_MS = 30_000;
const NOT_LEADING = "x-headwater-not-leading";
const OF_ONE_HOP = new Set(["connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect", FORWARDED]);

type Outcome = "answered" | "not-reached" | "cut-off";
type Body = Buffer | "stream";

/** A door of a node: the leader answers itself, and the others forward one hop to it. */
export class Forwarder {
  readonly #settings: ForwarderSettings;
  readonly #agent = new Agent({ keepAlive: true, timeout: IDLE_MS });
  /** With the URL that they were sent to. */
  readonly #underWay = new Map<ClientRequest, string>();
  /** Ends an event stream. */
  readonly #streams = new Set<() => void>();

  constructor(settings: ForwarderSettings) {
    this.#settings = settings;
  }

  readonly listener: RequestListener = (request, response) => {
    const { signer, clock, own, answersHere } = this.#settings;
    const isForwarded = takeForwarded(request, { signer, now: clock.now() });
    const listener = own();
    if (listener !== undefined) return listener(request, response);
    if (answersHere(request, response)) return;
    if (isForwarded) return refuse(request, response, { code: "PD_STARTING", message: "This node does not lead", headers: [NOT_LEADING, "1"] });
    void this.#forward(request, response);
  };

  /** Ends what waits for another leader, which may never answer. */
  keepOnly(leaderUrl: string): void {
    for (const [sent, url] of this.#underWay) if (url !== leaderUrl) sent.destroy();
  }

  /** Event streams have no end of their own. */
  endStreams(): void {
    for (const end of this.#streams) end();
  }

  close(): void {
    this.#agent.destroy();
  }

  async #forward(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { clock, signal } = this.#settings;
    const until = clock.now() + HOLD_MS;
    let body: Body | undefined;
    for (;;) {
      const url = await this.#leader(until, response);
      if (response.destroyed) return;
      if (url === undefined) break;
      const own = this.#settings.own();
      if (own !== undefined && body === undefined) return own(request, response);
      body ??= await bodyOf(request);
      if (response.destroyed || (body !== "stream" && !request.complete)) return void response.destroy();
      const outcome = await this.#send(url, { request, response, body });
      if (outcome === "answered") return;
      if (outcome === "cut-off")
        return refuse(request, response, { code: "PD_INTERRUPTED", message: "The node that served the request ended before it answered" });
      if (body === "stream" || clock.now() >= until || signal.aborted) break;
      await clock.sleepUntil(clock.now() + LOOK_EVERY_MS, signal);
      await this.#settings.look();
    }
    refuse(request, response, { code: "PD_STARTING", message: "Cannot take requests now: no node of the cluster leads" });
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
      const { hostname, port } = new URL(url);
      const headers = [...headersFor(request, body), FORWARDED, forwardedHeader(request, { signer, now: clock.now() })];
      const host = hostname.replace(/^\[|\]$/g, "");
      const sent = send({ agent: this.#agent, host, port, method: request.method, path: request.url, headers, setHost: false });
      this.#underWay.set(sent, url);
      let isConnected = false;
      let isAnswered = false;
      const end = (outcome: Outcome): void => {
        this.#underWay.delete(sent);
        response.off("close", giveUp);
        resolve(outcome);
      };
      const giveUp = (): void => void sent.destroy();
      response.once("close", giveUp);
      sent.once("socket", (socket) => {
        if (socket.connecting) socket.once("connect", () => (isConnected = true));
        else isConnected = true;
      });
      sent.once("response", (answer) => {
        isAnswered = true;
        if (answer.headers[NOT_LEADING] !== undefined) {
          answer.resume();
          return end("not-reached");
        }
        const endStream = (): void => {
          answer.unpipe(response);
          response.end(() => sent.destroy());
        };
        if (answer.headers["content-type"]?.startsWith("text/event-stream") === true) this.#streams.add(endStream);
        const ended = (): void => {
          this.#streams.delete(endStream);
          end("answered");
        };
        passOn(answer, { request, response, ended });
      });
      sent.on("error", () => {
        if (isAnswered) return;
        const isSafe = request.method === "GET" || request.method === "HEAD";
        end(response.destroyed ? "answered" : !isConnected || isSafe ? "not-reached" : "cut-off");
      });
      if (body === "stream") pipeline(request, sent, () => {});
      else sent.end(body);
    });
  }
}

/** The whole body when it is small. */
function bodyOf(request: IncomingMessage): Body | Promise<Body> {
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  if (encoding !== undefined || Number(length ?? 0) > MOST_HELD_BYTES) return "stream";
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    const done = (): void => resolve(Buffer.concat(chunks));
    request.once("end", done);
    request.once("close", done);
  });
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
