/**
 * A thread of the component's process that hands the messages of its inspector to and fro. The inspector stops the main
 * thread at a breakpoint, and nothing there could speak with anybody then.
 */
import { Session } from "node:inspector";
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { isRecord } from "../../domain/json.ts";
import { MessagePipe } from "../message-pipe.ts";

const WAKE_MS = 100;

const session = new Session();
const stream = new Socket({ fd: Number(workerData) });
const pipe = new MessagePipe<unknown, object>(stream, { read: (text) => JSON.parse(text), message: receive, broken: () => session.disconnect() });
session.connectToMainThread();
// Now and then Node 26 does not wake this thread when the other has answered, while no timer runs here: it would wait for the next question.
setInterval(() => {}, WAKE_MS).unref();
session.on("inspectorNotification", (message) => pipe.sendNow(message));
// Whoever debugs has gone: what stands still goes on, and may end.
stream.once("close", () => session.disconnect());

function receive(message: unknown): void {
  if (!isRecord(message) || typeof message["method"] !== "string") return;
  const { id, method, params } = message;
  session.post(method, isRecord(params) ? params : {}, (error, result) => pipe.sendNow({ id, ...(error === null ? { result: result ?? {} } : { error }) }));
}
