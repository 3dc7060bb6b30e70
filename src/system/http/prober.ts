import { codeOf, messageOf } from "../../domain/errors.ts";
import type { Prober } from "../../ports/prober.ts";
import { CutOff, sendRequest } from "./http-client.ts";

const TIMEOUT_MS = 15_000;
const MOST_CHARACTERS = 65_536;

/** Some third parties reject requests without a user agent. */
export function prober(userAgent: string): Prober {
  return {
    async get({ url, headers }, signal) {
      try {
        const all = { "user-agent": userAgent, accept: "application/json", ...headers };
        const answer = await sendRequest(url, { headers: all, signal, timeoutMs: TIMEOUT_MS, redirect: "manual" });
        return { kind: "answered", status: answer.status, body: await beginningOf(answer.body) };
      } catch (error) {
        return { kind: "unreachable", reason: reasonOf(error) };
      }
    },
  };
}

/** Security: other errors may quote credentials. */
function reasonOf(error: unknown): string {
  const isOfNetwork =
    error instanceof CutOff || /^(E[A-Z]+|CERT_\w+|ERR_TLS_\w+|\w*SELF_SIGNED\w*|UNABLE_TO_\w+|UND_ERR_(SOCKET|\w+_TIMEOUT))$/.test(codeOf(error) ?? "");
  return isOfNetwork ? messageOf(error) : "the address or a header is not valid with these fields";
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
