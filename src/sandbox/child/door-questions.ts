import { Socket } from "node:net";
import { isRecord } from "../../domain/json.ts";
import type { DoorQuestion } from "../door-protocol.ts";

export type Callback = (...given: unknown[]) => void;
/** Asks at the door; rejects with an error that has the code of the system's. */
export type Ask = (question: DoorQuestion) => Promise<unknown>;

/** The first connection to the door. */
export function openAsking(connect: (socket: Socket) => unknown): Ask {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const asking = new Socket();
  let count = 0;
  connect(asking);
  asking.unref();
  // The server is gone, and this process with it.
  asking.on("error", () => {});
  process
    .getBuiltinModule("node:readline")
    .createInterface({ input: asking })
    .on("line", (line) => {
      const answer: unknown = JSON.parse(line);
      if (!isRecord(answer)) return;
      const number = Number(answer["number"]);
      const asked = waiting.get(number);
      waiting.delete(number);
      const { refusal } = answer;
      if (isRecord(refusal)) asked?.reject(Object.assign(new Error(String(refusal["message"])), { code: String(refusal["code"]) }));
      else asked?.resolve(answer["value"]);
    });
  return (question) =>
    new Promise((resolve, reject) => {
      waiting.set(++count, { resolve, reject });
      asking.write(`${JSON.stringify({ number: count, ...question })}\n`);
    });
}

export function isCall(value: unknown): value is Callback {
  return typeof value === "function";
}
