import { type KeyObject, createHmac, createSecretKey } from "node:crypto";
import { isIP } from "node:net";
import { Agent, type Dispatcher, buildConnector } from "undici";
import type { SendResult } from "../domain/delivery.ts";
import { codeOf, messageOf } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { OutgoingMessage, Sender } from "../ports/sender.ts";
import type { OwnPorts } from "./own-ports.ts";
import { guardedLookup, isPrivateAddress } from "./private-address.ts";

const ANSWER_WITHIN_MS = 15_000;
/** As much of an answer is kept. */
const KEPT_ANSWER_BYTES = 2048;
/** So many receivers and keys are remembered; then all are made anew. */
const MOST_REMEMBERED = 1000;
const NOTHING = Buffer.alloc(0);

export interface WebhookSenderSettings {
  readonly clock: Clock;
  /** May messages go to addresses that only this machine or its network can reach? */
  readonly allowsPrivate: boolean;
  readonly userAgent: string;
  /** Nothing is sent there. */
  readonly ownPorts: Pick<OwnPorts, "isOtherEndOf">;
  /** How long an answer may take; absent: 15 s. */
  readonly answerWithinMs?: number;
}

/** Sends messages as Standard Webhooks says: signed by each secret over `id.timestamp.body`. */
export function webhookSender({ clock, allowsPrivate, userAgent, ownPorts, answerWithinMs = ANSWER_WITHIN_MS }: WebhookSenderSettings): Sender {
  // Whoever answers with a redirect, or resolves to another address later, is judged when it is connected to.
  const agent = new Agent({
    // Each message has its own deadline.
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

/** Connects, and gives up a connection that leads back to this server: only then it is known where a name and its address led. */
function connectorBeside(ownPorts: WebhookSenderSettings["ownPorts"], options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector(options);
  return (target, callback) =>
    connect(target, (...connected) => {
      const [error, socket] = connected;
      if (error !== null || !ownPorts.isOtherEndOf(socket)) return callback(...connected);
      socket.destroy();
      const reason = `port ${socket.remotePort} is this server's own API or a debugger; a webhook may be one of its endpoints`;
      callback(Object.assign(new Error(reason), { code: "PD_OWN_PORT" }), null);
    });
}

interface Target {
  readonly origin: string;
  readonly path: string;
  /** Why nothing is sent there. */
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

/** What was made of a text is there for the next message: receivers are few, messages many. */
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
  /** Seconds. */
  readonly timestamp: number;
}

/** Names and values in turn, which costs a message less than an object of them. */
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
    // A header takes letters, digits and signs of ASCII alone.
    encodeURI(eventName),
    "webhook-id",
    id,
    "webhook-timestamp",
    String(timestamp),
    "webhook-signature",
    secrets.map((secret) => `v1,${createHmac("sha256", keyOf(secret)).update(text).digest("base64")}`).join(" "),
  ];
}

/** Answers that are waited for, by the signal that ends them. */
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

/** Each has the same time, so the first that began is the first to be given up: one timer and one listener do for all. */
class AnswersUnderWay {
  readonly #signal: AbortSignal;
  readonly #withinMs: number;
  /** In the order in which they began. */
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
    answer.giveUp("the server stops");
  }

  /** What is under way holds the process; what would be given up does not. */
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

/** Hears an answer as it arrives: its status, and the first bytes of its body; what follows is not waited for. */
class Answer implements Dispatcher.DispatchHandler {
  /** By a clock that nobody sets, ms. */
  readonly beganAt = performance.now();
  readonly ended: Promise<SendResult>;
  readonly #clock: Clock;
  readonly #underWay: AnswersUnderWay;
  /** `undefined` once it has ended. */
  #end: ((result: SendResult) => void) | undefined;
  /** Once the status has come it decides, however the body ends. */
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

  /** The connection is of no more use: the rest of an answer may never come. */
  #leave(): void {
    this.#controller?.abort(new Error("not waited for"));
  }
}

/** Seconds, or a date. */
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

/** A host that is an address is not looked up, so it is judged here. */
function literalProblem({ hostname }: URL): string | undefined {
  const host = hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : refusal(host);
}

function refusal(address: string): string | undefined {
  return isPrivateAddress(address) ? `${address} is an address inside this network; --allow-private-webhooks true permits it` : undefined;
}
