import type { Duplex } from "node:stream";
import { type JsonObject, type JsonValue, isJsonObject, parseJson } from "../domain/json.ts";
import type { InspectedProcess } from "../ports/debugger.ts";
import { MessagePipe } from "./message-pipe.ts";

/** A process that may be debugged is started with this word, and has a stream for it behind its channel and a file of the wall. */
export const INSPECTOR_WORD = "--inspected";
export const INSPECTOR_FD = 5;

/** Messages between a process's inspector and the host, over a stream of their own: the process stands still at a breakpoint, and its other channel with it. */
export class InspectorChannel implements InspectedProcess {
  readonly ended: Promise<void>;
  readonly #pipe: MessagePipe<JsonValue | undefined, JsonObject>;
  #onMessage: (message: JsonObject) => void = () => {};
  #onPause: (isPaused: boolean) => void = () => {};
  /** Somebody debugs: nothing else makes the process stand still, whatever it says itself. */
  #isDebugged = false;

  constructor(stream: Duplex) {
    this.ended = new Promise((resolve) => stream.once("close", () => resolve()));
    void this.ended.then(() => this.#onPause(false));
    this.#pipe = new MessagePipe(stream, {
      read: parseJson,
      message: (message) => this.#receive(message),
      // Nobody debugs a process that writes something else into this channel.
      broken: () => stream.destroy(),
    });
  }

  send(message: JsonObject): void {
    const { method } = message;
    if (method === "Debugger.enable" || method === "Debugger.disable") this.#isDebugged = method === "Debugger.enable";
    // V8 does not say that it goes on when it is left.
    if (method === "Debugger.disable") this.#onPause(false);
    this.#pipe.sendNow(message);
  }

  listen(onMessage: (message: JsonObject) => void): void {
    this.#onMessage = onMessage;
  }

  /** Told when it stands still, and when it goes on. */
  watchPauses(onPause: (isPaused: boolean) => void): void {
    this.#onPause = onPause;
  }

  /** The debugger lets go of the process, which waits for that when it ends. */
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
