import type { Duplex } from "node:stream";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../../domain/text/json.ts";
import type { InspectedProcess } from "../../ports/debugger.ts";
import { MessagePipe } from "./message-pipe.ts";

/** The stream's descriptor follows the channel and a file of the wall. */
export const INSPECTOR_WORD = "--inspected";
export const INSPECTOR_FD = 5;

/** A breakpoint stops the process and its other channel, so the inspector has a separate stream. */
export class InspectorChannel implements InspectedProcess {
  readonly ended: Promise<void>;
  readonly #pipe: MessagePipe<JsonValue | undefined, JsonObject>;
  #onMessage: (message: JsonObject) => void = () => {};
  #onPause: (isPaused: boolean) => void = () => {};
  /** Without a debugger, the process cannot claim to be paused. */
  #isDebugged = false;

  constructor(stream: Duplex) {
    this.ended = new Promise((resolve) => stream.once("close", () => resolve()));
    void this.ended.then(() => this.#onPause(false));
    this.#pipe = new MessagePipe(stream, {
      read: parseJson,
      message: (message) => this.#receive(message),
      broken: () => stream.destroy(),
    });
  }

  send(message: JsonObject): void {
    const { method } = message;
    if (method === "Debugger.enable" || method === "Debugger.disable") this.#isDebugged = method === "Debugger.enable";
    // V8 does not report that the process resumes then.
    if (method === "Debugger.disable") this.#onPause(false);
    this.#pipe.sendNow(message);
  }

  listen(onMessage: (message: JsonObject) => void): void {
    this.#onMessage = onMessage;
  }

  watchPauses(onPause: (isPaused: boolean) => void): void {
    this.#onPause = onPause;
  }

  /** An ending process waits for the debugger to detach. */
  close(): void {
    this.#pipe.close();
  }

  #receive(message: JsonValue | undefined): void {
    if (!isJsonObject(message)) return;
    if (message["method"] === "Debugger.paused" && this.#isDebugged) this.#onPause(true);
    if (message["method"] === "Debugger.resumed") this.#onPause(false);
    this.#onMessage(message);
  }
}
