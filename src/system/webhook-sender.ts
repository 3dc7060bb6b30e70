import { createHmac } from "node:crypto";
import { isIP } from "node:net";
import { Agent, type Dispatcher } from "undici";
import { codeOf, messageOf } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { OutgoingMessage, Sender } from "../ports/sender.ts";
import { guardedLookup, isPrivateAddress } from "./private-address.ts";

const ANSWER_WITHIN_MS = 15_000;
/** As much of an answer is kept. */
const KEPT_ANSWER_BYTES = 2048;
const STOPPED = "the server stops";

export interface WebhookSenderSettings {
  readonly clock: Clock;
  /** May messages go to addresses that only this machine or its network can reach? */
  readonly allowsPrivate: boolean;
  readonly userAgent: string;
  /** How long an answer may take; absent: 15 s. */
  readonly answerWithinMs?: number;
}

/** Sends messages as Standard Webhooks says: signed by each secret over `id.timestamp.body`. */
export function webhookSender({ clock, allowsPrivate, userAgent, answerWithinMs = ANSWER_WITHIN_MS }: WebhookSenderSettings): Sender {
  // Whoever answers with a redirect, or resolves to another address later, is judged when it is connected to.
  const agent = new Agent({
    // Each message has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { timeout: answerWithinMs, ...(allowsPrivate ? {} : { lookup: guardedLookup(refusal) }) },
  });
  const answers = new AnswersUnderWay();
  return {
    async send({ url, id, payload, secrets, headers }, signal) {
      const target = new URL(url);
      const refused = allowsPrivate ? undefined : literalProblem(target);
      if (refused !== undefined) return { kind: "unreachable", reason: refused };
      const timestamp = Math.floor(clock.now() / 1000);
      const answer = new Answer();
      const timer = setTimeout(() => answer.giveUp(`no answer within ${answerWithinMs / 1000} s`), answerWithinMs);
      const underWay = answers.under(signal);
      underWay.add(answer);
      if (signal.aborted) answer.giveUp(STOPPED);
      try {
        agent.dispatch(
          {
            origin: target.origin,
            path: `${target.pathname}${target.search}`,
            method: "POST",
            headers: {
              ...headers,
              "content-type": "application/json",
              "user-agent": userAgent,
              "webhook-id": id,
              "webhook-timestamp": String(timestamp),
              "webhook-signature": secrets.map((secret) => sign(secret, { id, timestamp, payload })).join(" "),
            },
            body: payload,
          },
          answer,
        );
        const { head, failure, text } = await answer.ended;
        if (head === undefined) return { kind: "unreachable", reason: failure ?? "no answer" };
        const retryAfterMs = retryAfter(head.retryAfter, clock.now());
        return { kind: "answered", status: head.status, answer: text, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      } catch (error) {
        return { kind: "unreachable", reason: reasonOf(error) };
      } finally {
        clearTimeout(timer);
        underWay.delete(answer);
      }
    },
  };
}

/** Answers that are waited for, by the signal that ends them: it has one listener for all. */
class AnswersUnderWay {
  readonly #bySignal = new WeakMap<AbortSignal, Set<Answer>>();

  under(signal: AbortSignal): Set<Answer> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known;
    const answers = new Set<Answer>();
    this.#bySignal.set(signal, answers);
    signal.addEventListener("abort", () => answers.forEach((answer) => answer.giveUp(STOPPED)), { once: true });
    return answers;
  }
}

interface Heard {
  /** Once the status has come it decides, however the body ends. */
  readonly head: { readonly status: number; readonly retryAfter: string | string[] | undefined } | undefined;
  readonly failure: string | undefined;
  /** The first bytes of the body. */
  readonly text: string;
}

/** Hears an answer as it arrives: its status, and the first bytes of its body; what follows is not waited for. */
class Answer implements Dispatcher.DispatchHandler {
  readonly ended: Promise<Heard>;
  /** `undefined` once it has ended. */
  #end: ((heard: Heard) => void) | undefined;
  #head: Heard["head"];
  #controller: Dispatcher.DispatchController | undefined;
  #text = Buffer.alloc(0);

  constructor() {
    this.ended = new Promise((resolve) => (this.#end = resolve));
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
    this.#end?.({ head: this.#head, failure, text: this.#text.toString("utf8") });
    this.#end = undefined;
  }

  /** The connection is of no more use: the rest of an answer may never come. */
  #leave(): void {
    this.#controller?.abort(new Error("not waited for"));
  }
}

function sign(secret: string, { id, timestamp, payload }: { id: string; timestamp: number; payload: string } & Partial<OutgoingMessage>): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64")}`;
}

/** Seconds, or a date. */
function retryAfter(header: string | string[] | undefined, now: number): number | undefined {
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
