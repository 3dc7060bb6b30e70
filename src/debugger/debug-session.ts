import { type JsonObject, isJsonObject, parseJson } from "../domain/text/json.ts";
import type { Bundle } from "../domain/component/saved-component.ts";
import type { DebugLink, InspectedProcess } from "../ports/debugger.ts";
import { Breakpoints } from "./breakpoints.ts";
import { BundleMap, mapAtHome } from "./bundle-map.ts";
import { type Answer, InspectedUnit } from "./inspected-process.ts";
import { Setup } from "./setup.ts";

export interface Front {
  send(message: JsonObject): void;
}

export type DebugNews = { readonly kind: "connected" | "disconnected" | "resumed" } | { readonly kind: "paused"; readonly at: string };

export interface DebugSettings {
  readonly url: string;
  /** The author's folder, with a final slash. */
  readonly root: string;
  readonly tell: (news: DebugNews) => void;
}

const OTHER_CODE = "code that is not the component's";
/** One of the other threads carries the debugger's messages and must not be paused. */
const OF_THREADS = /^Node(Worker|Runtime)\./;
const NO_PROCESS: Answer = { error: { code: -32000, message: "No process is running: the next call of the source starts one" } };

/**
 * Connects one debugger to the processes of a source, an action or a workflow's steps.
 *
 * Each save starts a new process. To the debugger it looks like a reloaded page, which gets the same settings and
 * breakpoints before its code is loaded. The previous process is resumed.
 */
export class DebugSession implements DebugLink {
  readonly url: string;
  readonly #settings: DebugSettings;
  readonly #setup = new Setup();
  readonly #breakpoints: Breakpoints;
  /** The newest is last, and is debugged. */
  #units: readonly InspectedUnit[] = [];
  #front: Front | undefined;
  #turning: Promise<void> = Promise.resolve();
  #scriptId: unknown;

  constructor(settings: DebugSettings) {
    this.url = settings.url;
    this.#settings = settings;
    this.#breakpoints = new Breakpoints(settings.url);
  }

  textOf({ code, map }: Bundle): string {
    const data = Buffer.from(mapAtHome(map, this.#settings.root)).toString("base64");
    return `${code}\n//# sourceMappingURL=data:application/json;base64,${data}\n//# sourceURL=${this.url}\n`;
  }

  async join(process: InspectedProcess, { map }: Bundle): Promise<void> {
    const before = this.#current;
    const unit: InspectedUnit = new InspectedUnit(process, new BundleMap(map, this.#settings.root), (method, params) => {
      if (unit === this.#current) this.#pass(method, params);
    });
    this.#units = [...this.#units, unit];
    void process.ended.then(() => this.#leave(unit));
    this.#turning = this.#turn(before);
    await this.#turning;
  }

  settled(): Promise<void> {
    return this.#turning;
  }

  get isConnected(): boolean {
    return this.#front !== undefined;
  }

  /** Must not be called while another debugger is connected. */
  connect(front: Front): void {
    this.#front = front;
    this.#settings.tell({ kind: "connected" });
  }

  /** Resumes a paused process. */
  disconnect(): void {
    if (this.#front === undefined) return;
    this.#front = undefined;
    this.#current?.release(this.#setup.domains);
    this.#setup.clear();
    this.#breakpoints.clear();
    this.#settings.tell({ kind: "disconnected" });
  }

  async receive(text: string): Promise<void> {
    const message = parseJson(text);
    if (!isJsonObject(message) || typeof message["method"] !== "string") return;
    const { id, method, params } = message;
    const front = this.#front;
    const answer = await this.#answer(method, isJsonObject(params) ? params : {});
    front?.send({ ...(id === undefined ? {} : { id }), ...answer });
  }

  get #current(): InspectedUnit | undefined {
    return this.#units.at(-1);
  }

  #answer(method: string, params: JsonObject): Answer | Promise<Answer> {
    const unit = this.#current;
    if (OF_THREADS.test(method)) return { result: {} };
    if (method === "Debugger.setBreakpointByUrl") return this.#breakpoints.set(unit, params);
    if (method === "Debugger.removeBreakpoint") return this.#breakpoints.remove(unit, String(params["breakpointId"]));
    if (method === "Debugger.disable") this.#breakpoints.clear();
    this.#setup.note(method, params);
    if (unit !== undefined) return unit.ask(method, params);
    return this.#setup.isLasting(method) ? { result: {} } : NO_PROCESS;
  }

  async #turn(before: InspectedUnit | undefined): Promise<void> {
    const unit = this.#current;
    before?.release(this.#setup.domains);
    if (this.#front === undefined) return;
    if (before?.isPaused === true) this.#pass("Debugger.resumed", {});
    if (before !== undefined) this.#pass("Runtime.executionContextsCleared", {});
    if (unit === undefined) return;
    await Promise.all([...this.#setup.commands.map(({ method, params }) => unit.ask(method, params)), this.#breakpoints.move(unit)]);
  }

  /** A process that fails to load ends. The previous one is then current again. */
  #leave(unit: InspectedUnit): void {
    const wasCurrent = unit === this.#current;
    this.#units = this.#units.filter((other) => other !== unit);
    if (wasCurrent) this.#turning = this.#turn(unit);
  }

  #pass(method: string, params: JsonObject): void {
    if (this.#front === undefined) return;
    if (method === "Debugger.paused") return this.#pause(params);
    if (method === "Debugger.scriptParsed" && params["url"] === this.url) this.#scriptId = params["scriptId"];
    if (method === "Runtime.consoleAPICalled") return this.#front.send({ method, params: this.#fromOwnCode(params) });
    if (method === "Debugger.resumed") this.#settings.tell({ kind: "resumed" });
    if (method !== "Debugger.breakpointResolved") return this.#front.send({ method, params });
    for (const breakpointId of this.#breakpoints.idsOf(String(params["breakpointId"]))) this.#front.send({ method, params: { ...params, breakpointId } });
  }

  /** Without frames of the console wrapper, so that output belongs to the component's line. */
  #fromOwnCode(params: JsonObject): JsonObject {
    const { stackTrace } = params;
    const frames = isJsonObject(stackTrace) && Array.isArray(stackTrace["callFrames"]) ? stackTrace["callFrames"] : [];
    const own = frames.findIndex((frame) => isJsonObject(frame) && frame["url"] === this.url);
    return own < 0 || !isJsonObject(stackTrace) ? params : { ...params, stackTrace: { ...stackTrace, callFrames: frames.slice(own) } };
  }

  #pause(params: JsonObject): void {
    const hit = Array.isArray(params["hitBreakpoints"]) ? params["hitBreakpoints"] : [];
    const hitBreakpoints = hit.flatMap((bound) => this.#breakpoints.idsOf(String(bound)));
    this.#settings.tell({ kind: "paused", at: this.#placeOf(params) });
    this.#front?.send({ method: "Debugger.paused", params: { ...params, hitBreakpoints } });
  }

  #placeOf({ callFrames }: JsonObject): string {
    const frame = Array.isArray(callFrames) ? callFrames[0] : undefined;
    const location = isJsonObject(frame) && isJsonObject(frame["location"]) ? frame["location"] : {};
    if (location["scriptId"] !== this.#scriptId) return OTHER_CODE;
    const position = { lineNumber: Number(location["lineNumber"] ?? 0), columnNumber: Number(location["columnNumber"] ?? 0) };
    const place = this.#current?.map.originalOf(position);
    return place === undefined ? OTHER_CODE : `${place.source}:${place.line}`;
  }
}
