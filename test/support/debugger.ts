import { WebSocket } from "ws";
import { isJsonObject, parseJson, type JsonObject } from "../../src/domain/text/json.ts";
import { eventually } from "./eventually.ts";

export class DebuggerClient {
  readonly said: { readonly method: string; readonly params: JsonObject }[] = [];
  readonly #socket: WebSocket;
  readonly #open = new Map<number, (answer: JsonObject) => void>();
  #lastId = 0;

  static async connect(url: string): Promise<DebuggerClient> {
    const socket = new WebSocket(url);
    await new Promise<void>((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return new DebuggerClient(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data) => {
      const message = parseJson(String(data));
      if (!isJsonObject(message)) throw new Error(`not JSON: ${String(data)}`);
      const { id, method, params } = message;
      if (typeof id === "number") this.#open.get(id)?.(message);
      else this.said.push({ method: String(method), params: isJsonObject(params) ? params : {} });
    });
  }

  ask(method: string, params: JsonObject = {}): Promise<JsonObject> {
    this.#lastId++;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#open.set(id, (answer) => resolve(isJsonObject(answer["result"]) ? answer["result"] : answer));
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  async next(method: string, fits: (params: JsonObject) => boolean = () => true): Promise<JsonObject> {
    let found: JsonObject | undefined;
    await eventually(async () => {
      const index = this.said.findIndex((event) => event.method === method && fits(event.params));
      if (index >= 0) found = this.said.splice(index, 1)[0]?.params;
      return found !== undefined;
    });
    return found ?? {};
  }

  /** Evaluates in the innermost frame. */
  async valueOf(paused: JsonObject, expression: string): Promise<unknown> {
    const [frame] = Array.isArray(paused["callFrames"]) ? paused["callFrames"] : [];
    const callFrameId = isJsonObject(frame) ? (frame["callFrameId"] ?? null) : null;
    const { result } = await this.ask("Debugger.evaluateOnCallFrame", { callFrameId, expression, returnByValue: true });
    return isJsonObject(result) ? result["value"] : undefined;
  }

  close(): void {
    this.#socket.terminate();
  }
}
