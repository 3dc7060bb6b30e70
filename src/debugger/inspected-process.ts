import { type JsonObject, isJsonObject } from "../domain/text/json.ts";
import type { InspectedProcess } from "../ports/debugger.ts";
import type { BundleMap } from "./bundle-map.ts";

export type Answer = JsonObject;

const GONE: Answer = { error: { code: -32000, message: "The process has ended, or its code was replaced" } };

export class InspectedUnit {
  readonly map: BundleMap;
  isPaused = false;
  isGone = false;
  readonly #process: InspectedProcess;
  readonly #open = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  constructor(process: InspectedProcess, map: BundleMap, told: (method: string, params: JsonObject) => void) {
    this.#process = process;
    this.map = map;
    process.listen((message) => this.#receive(message, told));
    void process.ended.then(() => this.#end());
  }

  /** Resolves to an error at the process's end. Never rejects. */
  ask(method: string, params: JsonObject): Promise<Answer> {
    if (this.isGone) return Promise.resolve(GONE);
    this.#lastId++;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      this.#process.send({ id, method, params });
    });
  }

  /** Resumes the process. Open commands get an error. */
  release(domains: Iterable<string>): void {
    if (this.isPaused) void this.ask("Debugger.resume", {});
    for (const domain of domains) void this.ask(`${domain}.disable`, {});
    this.isPaused = false;
    this.#answerAll();
  }

  #receive(message: JsonObject, told: (method: string, params: JsonObject) => void): void {
    const { id, method, params } = message;
    if (typeof id === "number") {
      const resolve = this.#open.get(id);
      this.#open.delete(id);
      resolve?.("error" in message ? { error: message["error"] } : { result: message["result"] ?? {} });
    } else if (typeof method === "string") {
      if (method === "Debugger.paused" || method === "Debugger.resumed") this.isPaused = method === "Debugger.paused";
      told(method, isJsonObject(params) ? params : {});
    }
  }

  #end(): void {
    this.isGone = true;
    this.#answerAll();
  }

  #answerAll(): void {
    for (const resolve of this.#open.values()) resolve(GONE);
    this.#open.clear();
  }
}
