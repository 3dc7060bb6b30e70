import { Socket } from "node:net";
import { isRecord } from "../../../domain/text/json.ts";
import type { DoorClose, DoorQuestion } from "../../network/door-protocol.ts";

export type Callback = (...given: unknown[]) => void;

export interface DoorLine {
  /** Rejects with the system's error code. */
  ask(question: DoorQuestion): Promise<unknown>;
  close(id: string): void;
  onBroken(listener: (id: string, code: string) => void): void;
}

export function openLine(connect: (socket: Socket) => unknown): DoorLine {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const socket = new Socket();
  let count = 0;
  let broken: (id: string, code: string) => void = () => {};
  connect(socket);
  socket.unref();
  // The process ends with the server, so the error does not matter.
  socket.on("error", () => {});
  const take = (line: string): void => {
    const said: unknown = JSON.parse(line);
    if (!isRecord(said)) return;
    if (typeof said["broken"] === "string") return broken(said["broken"], String(said["code"]));
    const number = Number(said["number"]);
    const asked = waiting.get(number);
    waiting.delete(number);
    const { refusal } = said;
    if (isRecord(refusal)) asked?.reject(Object.assign(new Error(String(refusal["message"])), { code: String(refusal["code"]) }));
    else asked?.resolve(said["value"]);
  };
  socket.on("close", () => {
    for (const asked of waiting.values()) asked.reject(ended());
    waiting.clear();
  });
  let unread = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = (unread + chunk).split("\n");
    unread = lines.pop() ?? "";
    lines.forEach(take);
  });
  const say = (said: object): void => void socket.write(`${JSON.stringify(said)}\n`);
  return {
    ask: (question) =>
      new Promise((resolve, reject) => {
        if (!isHostName(question.host)) return reject(notFound(question.host));
        if (socket.destroyed) return reject(ended());
        waiting.set(++count, { resolve, reject });
        say({ number: count, ...question });
      }),
    close: (id) => say({ close: id } satisfies DoorClose),
    onBroken: (listener) => (broken = listener),
  };
}

/** The host ends a process's network when it is asked for anything else. */
function isHostName(host: unknown): boolean {
  return typeof host === "string" && host !== "" && host.length <= 255;
}

function ended(): Error {
  return Object.assign(new Error("the network of this process has ended"), { code: "ENETDOWN" });
}

function notFound(host: unknown): Error {
  const name = String(host).slice(0, 300);
  return Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: "ENOTFOUND", errno: -3008, syscall: "getaddrinfo", hostname: name });
}

export function isCall(value: unknown): value is Callback {
  return typeof value === "function";
}
