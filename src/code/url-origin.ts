import { PdError, messageOf } from "../domain/errors.ts";
import type { CodeOrigin } from "../ports/code-origin.ts";
import { textOf } from "../system/http/answer-text.ts";
import { sendRequest } from "../system/http/http-client.ts";

const TIMEOUT_MS = 15_000;
const MAX_SIZE = 5_000_000;

export const urlOrigin: CodeOrigin = {
  async fetch(url) {
    try {
      const answer = await sendRequest(url, { timeoutMs: TIMEOUT_MS, headers: { accept: "text/plain, */*" } });
      const text = await textOf(answer, MAX_SIZE);
      if (answer.status !== 200) throw new PdError("PD_CODE_UNREACHABLE", `Cannot fetch ${url}: it answered with status ${answer.status}`);
      if (/^\s*<(!doctype|html)\b/i.test(text))
        throw new PdError("PD_CODE_UNREACHABLE", `Cannot use ${url}: expected code, got a web page`, {
          fix: "Use the URL of the raw file, such as https://raw.githubusercontent.com/<owner>/<repository>/<branch>/<path>",
        });
      return text;
    } catch (error) {
      if (error instanceof PdError) throw error;
      throw new PdError("PD_CODE_UNREACHABLE", `Cannot fetch ${url}: ${reasonOf(error)}`, { cause: error });
    }
  },
};

/** fetch sets the network error as `cause`. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) : messageOf(error);
}
