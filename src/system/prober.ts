import { messageOf } from "../domain/errors.ts";
import type { Prober } from "../ports/prober.ts";
import { sendRequest } from "./http-client.ts";

const TIMEOUT_MS = 15_000;
const MOST_CHARACTERS = 65_536;

/** Some third parties refuse whoever does not name themselves. */
export function prober(userAgent: string): Prober {
  return {
    async get({ url, headers }, signal) {
      try {
        const answer = await sendRequest(url, {
          headers: { "user-agent": userAgent, accept: "application/json", ...headers },
          signal,
          timeoutMs: TIMEOUT_MS,
          redirect: "manual",
        });
        return { kind: "answered", status: answer.status, body: await beginningOf(answer.body) };
      } catch (error) {
        return { kind: "unreachable", reason: messageOf(error instanceof Error && error.cause !== undefined ? error.cause : error) };
      }
    },
  };
}

async function beginningOf(body: AsyncIterable<Uint8Array> | null): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    if (text.length > MOST_CHARACTERS) break;
  }
  return text;
}
