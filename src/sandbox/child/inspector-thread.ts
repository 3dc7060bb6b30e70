/** Relays the inspector's messages. Breakpoints stop the main thread. */
import { Session } from "node:inspector";
import { Socket } from "node:net";
import { workerData } from "node:worker_threads";
import { isRecord } from "../../domain/text/json.ts";
import { MessagePipe } from "../channel/message-pipe.ts";

const WAKE_MS = 100;

const session = new Session();
const stream = new Socket({ fd: Number(workerData) });
const pipe = new MessagePipe<unknown, object>(stream, { read: (text) => JSON.parse(text), message: receive, broken: () => session.disconnect() });
session.connectToMainThread();
// Without a timer, Node 26 sometimes wakes this thread for an answer only with the next message.
setInterval(() => {}, WAKE_MS).unref();
session.on("inspectorNotification", (message) => pipe.sendNow(message));
// Resumes a process that the debugger left paused.
stream.once("close", () => session.disconnect());

function receive(message: unknown): void {
  if (!isRecord(message) || typeof message["method"] !== "string") return;
  const { id, method, params } = message;
  session.post(method, isRecord(params) ? params : {}, (error, result) => pipe.sendNow({ id, ...(error === null ? { result: result ?? {} } : { error }) }));
}
