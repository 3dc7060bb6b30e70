import { createHmac } from "node:crypto";
import { isIP } from "node:net";
import { Agent, request } from "undici";
import { codeOf, messageOf } from "../domain/errors.ts";
import type { Clock } from "../ports/clock.ts";
import type { OutgoingMessage, Sender } from "../ports/sender.ts";
import { guardedLookup, isPrivateAddress } from "./private-address.ts";

const ANSWER_WITHIN_MS = 15_000;
/** As much of an answer is kept. */
const KEPT_ANSWER_BYTES = 2048;

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
  const agent = new Agent({ connect: { timeout: answerWithinMs, ...(allowsPrivate ? {} : { lookup: guardedLookup(refusal) }) } });
  return {
    async send({ url, id, payload, secrets, headers }, signal) {
      const refused = allowsPrivate ? undefined : literalProblem(url);
      if (refused !== undefined) return { kind: "unreachable", reason: refused };
      const timestamp = Math.floor(clock.now() / 1000);
      const deadline = deadlineOf(signal, answerWithinMs);
      try {
        const answer = await request(url, {
          method: "POST",
          dispatcher: agent,
          signal: deadline.signal,
          headers: {
            ...headers,
            "content-type": "application/json",
            "user-agent": userAgent,
            "webhook-id": id,
            "webhook-timestamp": String(timestamp),
            "webhook-signature": secrets.map((secret) => sign(secret, { id, timestamp, payload })).join(" "),
          },
          body: payload,
        });
        const retryAfterMs = retryAfter(answer.headers["retry-after"], clock.now());
        const kept = await readStart(answer.body);
        return { kind: "answered", status: answer.statusCode, answer: kept, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
      } catch (error) {
        return { kind: "unreachable", reason: deadline.hasPassed() ? `no answer within ${answerWithinMs / 1000} s` : reasonOf(error) };
      } finally {
        deadline.clear();
      }
    },
  };
}

/**
 * Aborts with the signal, or when the answer is late. On Node 20 a timeout that only AbortSignal.any refers to may be
 * collected, and never come.
 */
function deadlineOf(signal: AbortSignal, ms: number) {
  const controller = new AbortController();
  let isLate = false;
  const abort = (): void => controller.abort();
  const timer = setTimeout(() => {
    isLate = true;
    abort();
  }, ms);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  return {
    signal: controller.signal,
    hasPassed: () => isLate,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

function sign(secret: string, { id, timestamp, payload }: { id: string; timestamp: number; payload: string } & Partial<OutgoingMessage>): string {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${payload}`).digest("base64")}`;
}

/** The answer's first bytes; what follows is not waited for. */
async function readStart(body: AsyncIterable<Buffer> & { destroy(): void }): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= KEPT_ANSWER_BYTES) break;
    }
  } catch {
    // The status has come, and that decides; a body that breaks off is kept as far as it goes.
  }
  return Buffer.concat(chunks).subarray(0, KEPT_ANSWER_BYTES).toString("utf8");
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
function literalProblem(url: string): string | undefined {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "");
  return isIP(host) === 0 ? undefined : refusal(host);
}

function refusal(address: string): string | undefined {
  return isPrivateAddress(address) ? `${address} is an address inside this network; --allow-private-webhooks true permits it` : undefined;
}
