import { request } from "undici";
import { PdError, messageOf } from "../domain/errors.ts";
import type { CodeOrigin } from "../ports/code-origin.ts";

const TIMEOUT_MS = 15_000;
const MAX_SIZE = 5_000_000;

/** Fetches raw code over HTTP(S). */
export const urlOrigin: CodeOrigin = {
  async fetch(url) {
    try {
      const { statusCode, body } = await request(url, { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS, headers: { accept: "text/plain, */*" } });
      const text = await body.text();
      if (statusCode !== 200) throw new PdError("PD_CODE_UNREACHABLE", `Cannot fetch ${url}: it answered with status ${statusCode}`);
      if (text.length > MAX_SIZE) throw new PdError("PD_CODE_UNREACHABLE", `Cannot use ${url}: its ${text.length} characters are no component`);
      return text;
    } catch (error) {
      if (error instanceof PdError) throw error;
      throw new PdError("PD_CODE_UNREACHABLE", `Cannot fetch ${url}: ${messageOf(error)}`, { cause: error });
    }
  },
};
