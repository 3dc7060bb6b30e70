import { type KeyObject, createHmac, createSecretKey } from "node:crypto";
import { isIP } from "node:net";
import { Agent, type Dispatcher, buildConnector } from "undici";
import type { SendResult } from "../../domain/delivery/delivery.ts";
import { codeOf, messageOf } from "../../domain/errors.ts";
import type { Clock } from "../../ports/clock.ts";
import type { OutgoingMessage, Sender } from "../../ports/sender.ts";
import type { OwnPorts } from "./own-ports.ts";
import { guardedLookup, isPrivateAddress } from "./private-address.ts";

const ANSWER_WITHIN_MS = 15_000;
const KEPT_ANSWER_BYTES = 2048;
/** A full cache is cleared. */
const MOST_REMEMBERED = 1000;
const NOTHING = Buffer.alloc(0);

export interface WebhookSenderSettings {
  readonly clock: Clock;
  readonly allowsPrivate: boolean;
  readonly userAgent: string;
  readonly ownPorts: Pick<OwnPorts, "isOtherEndOf">;
  /** The default is 15 s. */
  readonly answerWithinMs?: number;
}

/** Standard Webhooks: each secret signs `id.timestamp.body`. */
export function webhookSender({ clock, allowsPrivate, userAgent, ownPorts, answerWithinMs = ANSWER_WITHIN_MS }: WebhookSenderSettings): Sender {
  // Security: checks each connection, because a name may later resolve to another address. Does not follow redirects.
  const agent = new Agent({
    // `Answer` has its own timeout.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: connectorBeside(ownPorts, { timeout: answerWithinMs, ...(allowsPrivate ? {} : { lookup: guardedLookup(refusal) }) }),
  });
  const targetOf = remembering((url) => readTarget(url, { allowsPrivate }));
  const keyOf = remembering(readKey);
  const underWayUntil = answersUnderWay(answerWithinMs);
  return {
    send(message, signal) {
      const target = targetOf(message.url);
      if (target.problem !== undefined) return Promise.resolve({ kind: "unreachable", reason: target.problem });
      const answer = new Answer(clock, underWayUntil(signal));
      try {
        const headers = headersOf(message, { keyOf, userAgent, timestamp: Math.floor(clock.now() / 1000) });
        agent.dispatch({ origin: target.origin, path: target.path, method: "POST", headers, body: message.payload }, answer);
      } catch (error) {
        answer.giveUp(reasonOf(error));
      }
      return answer.ended;
    },
  };
}

/** The actual address is known only after connecting. */
function connectorBeside(ownPorts: WebhookSenderSettings["ownPorts"], options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      if (error !== null || !ownPorts.isOtherEndOf(socket)) return callback(...connected);
      socket.destroy();
      const reason = `port ${socket.remotePort} belongs to this server's API or a debugger; a webhook may be one of its endpoints`;
      callback(Object.assign(new Error(reason), { code: "PD_OWN_PORT" }), null);
    });
}

interface Target {
  readonly origin: string;
  readonly path: string;
  /** Undefined when the URL may be used. */
  readonly problem: string | undefined;
}

function readTarget(url: string, { allowsPrivate }: { allowsPrivate: boolean }): Target {
  try {
    const target = new URL(url);
    return { origin: target.origin, path: `${target.pathname}${target.search}`, problem: allowsPrivate ? undefined : literalProblem(target) };
  } catch (error) {
    return { origin: "", path: "", problem: reasonOf(error) };
  }
}

function readKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.replace(/^whsec_/, ""), "base64"));
}

function remembering<Value>(make: (text: string) => Value): (text: string) => Value {
  const known = new Map<string, Value>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const made = make(text);
    if (known.size >= MOST_REMEMBERED) known.clear();
    known.set(text, made);
    return made;
  };
}

interface Signing {
  readonly keyOf: (secret: string) => KeyObject;
  readonly userAgent: string;
  /** Epoch seconds. */
  readonly timestamp: number;
}

/** Alternating names and values are faster than an object. */
function headersOf({ id, payload, secrets, emitterId, eventName }: OutgoingMessage, { keyOf, userAgent, timestamp }: Signing): string[] {
  const text = `${id}.${timestamp}.${payload}`;
  return [
    "content-type",
    "application/json",
    "user-agent",
    userAgent,
    "x-pd-emitter-id",
    emitterId,
    "x-pd-event-name",
    encodeURI(eventName),
    "webhook-id",
    id,
    "webhook-timestamp",
    String(timestamp),
    "webhook-signature",
    secrets.map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(text).digest("base64")}`).join(" "),
  ];
}

function answersUnderWay(withinMs: number): (signal: AbortSignal) => AnswersUnderWay {
  const bySignal = new WeakMap<AbortSignal, AnswersUnderWay>();
  return (signal) => {
    const known = bySignal.get(signal);
    if (known !== undefined) return known;
    const made = new AnswersUnderWay(signal, withinMs);
    bySignal.set(signal, made);
    return made;
  };
}

/** All answers have the same timeout, so the oldest expires first and one timer serves all. */
class AnswersUnderWay {
  readonly #signal: AbortSignal;
  readonly #withinMs: number;
  /** Oldest first. */
  readonly #answers = new Set<Answer>();
  #isWatched = false;

  constructor(signal: AbortSignal, withinMs: number) {
    this.#signal = signal;
    this.#withinMs = withinMs;
    signal.addEventListener("abort", () => this.#answers.forEach((answer) => this.#stop(answer)), { once: true });
  }

  add(answer: Answer): void {
    this.#answers.add(answer);
    if (this.#signal.aborted) this.#stop(answer);
    else if (!this.#isWatched) this.#lookIn(this.#withinMs);
  }

  delete(answer: Answer): void {
    this.#answers.delete(answer);
  }

  #stop(answer: Answer): void {
    answer.giveUp("the server is stopping");
  }

  #lookIn(ms: number): void {
    this.#isWatched = true;
    setTimeout(() => this.#look(), ms).unref();
  }

  #look(): void {
    this.#isWatched = false;
    const now = performance.now();
    for (const answer of this.#answers) {
      const leftMs = answer.beganAt + this.#withinMs - now;
      if (leftMs > 0) return this.#lookIn(Math.ceil(leftMs));
      answer.giveUp(`no answer within ${this.#withinMs / 1000} s`);
    }
  }
}

interface Head {
  readonly status: number;
  readonly retryAfter: string | string[] | undefined;
}

/** Keeps the status and the first KEPT_ANSWER_BYTES of the body. */
class Answer implements Dispatcher.DispatchHandler {
  /** Monotonic. */
  readonly beganAt = performance.now();
  readonly ended: Promise<SendResult>;
  readonly #clock: Clock;
  readonly #underWay: AnswersUnderWay;
  #end: ((result: SendResult) => void) | undefined;
  /** The message then counts as answered, even when the body fails. */
  #head: Head | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #text: Buffer = NOTHING;

  constructor(clock: Clock, underWay: AnswersUnderWay) {
    this.#clock = clock;
    this.#underWay = underWay;
    this.ended = new Promise((resolve) => (this.#end = resolve));
    underWay.add(this);
  }

  giveUp(reason: string): void {
    this.#finish(reason);
    this.#leave();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#end === undefined) this.#leave();
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status >= 200) this.#head = { status, retryAfter: headers["retry-after"] };
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#text = Buffer.concat([this.#text, chunk.subarray(0, KEPT_ANSWER_BYTES - this.#text.length)]);
    if (this.#text.length < KEPT_ANSWER_BYTES) return;
    this.#finish(undefined);
    this.#leave();
  }

  onResponseEnd(): void {
    this.#finish(undefined);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#finish(reasonOf(error));
  }

  #finish(failure: string | undefined): void {
    const end = this.#end;
    if (end === undefined) return;
    this.#end = undefined;
    this.#underWay.delete(this);
    end(this.#result(failure));
  }

  #result(failure: string | undefined): SendResult {
    if (this.#head === undefined) return { kind: "unreachable", reason: failure ?? "no answer" };
    const { status, retryAfter } = this.#head;
    const answer = this.#text === NOTHING ? "" : this.#text.toString("utf8");
    const retryAfterMs = retryAfter === undefined ? undefined : readRetryAfter(retryAfter, this.#clock.now());
    return retryAfterMs === undefined ? { kind: "answered", status, answer } : { kind: "answered", status, answer, retryAfterMs };
  }

  #leave(): void {
    this.#controller?.abort(new Error("not waited for"));
  }
}

/** Returns ms. Undefined when invalid or past. */
function readRetryAfter(header: string | string[], now: number): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  if (text === undefined) return undefined;
  const ms = /^\d+$/.test(text.trim()) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}

function reasonOf(error: unknown): string {
  const code = codeOf(error);
  return `${code === undefined ? "" : `${code}: `}${messageOf(error)}`;
}

/** An IP address as host never reaches the guarded lookup. */
function literalProblem({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : refusal(host);
}

function refusal(address: string): string | undefined {
  return isPrivateAddress(address) ? `${address} is an address in this network: --allow-private-webhooks true allows it` : undefined;
}
