import type { Answer } from "./http-client.ts";

/** Chosen: such a server has the whole body when it answers, so only the network takes time. */
const BODY_WITHIN_MS = 300_000;

/** Throws when the body has more bytes than `mostBytes`, or takes longer than `withinMs`. */
export async function textOf({ body }: Pick<Answer, "body">, mostBytes: number, withinMs = BODY_WITHIN_MS): Promise<string> {
  const reader = body?.getReader();
  if (reader === undefined) return "";
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    void reader.cancel().catch(() => {});
  }, withinMs);
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (isLate || done) break;
      if (!(value instanceof Uint8Array)) continue;
      size += value.length;
      if (size > mostBytes) throw new Error(`the answer has more than ${mostBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
    if (isLate) throw new Error("the answer was cut off");
    return text + decoder.decode();
  } catch (error) {
    if (isLate) throw new Error(`the answer did not end within ${withinMs / 1000} s`, { cause: error });
    await reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
