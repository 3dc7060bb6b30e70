import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";
import type { Bundle } from "../domain/saved-component.ts";
import type { DebugLink, InspectedProcess } from "../ports/debugger.ts";
import { Breakpoints } from "./breakpoints.ts";
import { BundleMap, mapAtHome } from "./bundle-map.ts";
import { type Answer, InspectedUnit } from "./inspected-process.ts";
import { Setup } from "./setup.ts";

/** A debugger, such as that of an editor. */
export interface Front {
  send(message: JsonObject): void;
}

/** What a session tells whoever began it. */
export type DebugNews =
  | { readonly kind: "connected" | "disconnected" | "resumed" }
  /** `at`: `file:line` in the author's file. */
  | { readonly kind: "paused"; readonly at: string };

export interface DebugSettings {
  /** What the bundle is called, the same for every version. */
  readonly url: string;
  /** URL of the folder that the author's files lie in, with a slash at its end. */
  readonly root: string;
  readonly tell: (news: DebugNews) => void;
}

const OTHER_CODE = "code that is not the component's";
/** These are about threads beside the component's, of which one carries the messages: it must not be stopped. */
const OF_THREADS = /^Node(Worker|Runtime)\./;
const NO_PROCESS: Answer = { error: { code: -32000, message: "No process runs now: the next call of the source starts one" } };

/**
 * One debugger and the processes of one source, or one action, or the steps of a workflow. Every save makes another process, and the debugger stays: to it a new
 * process is what a page is that was loaded again. What it has switched on and its breakpoints are carried over before
 * the new code is loaded. A process that is left goes on.
 */
export class DebugSession implements DebugLink {
  readonly url: string;
  readonly #settings: DebugSettings;
  readonly #setup = new Setup();
  readonly #breakpoints: Breakpoints;
  /** Those that live, the newest last. */
  #units: readonly InspectedUnit[] = [];
  #front: Front | undefined;
  #turning: Promise<void> = Promise.resolve();
  /** What the process of now calls the component's code. */
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

  /** Of several debuggers only one is served. */
  connect(front: Front): void {
    this.#front = front;
    this.#settings.tell({ kind: "connected" });
  }

  /** Nobody debugs any more: whatever stands still goes on. */
  disconnect(): void {
    if (this.#front === undefined) return;
    this.#front = undefined;
    this.#current?.release(this.#setup.domains);
    this.#setup.clear();
    this.#breakpoints.clear();
    this.#settings.tell({ kind: "disconnected" });
  }

  /** What the debugger says. */
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

  /** From the process that was debugged so far to the newest that lives. */
  async #turn(before: InspectedUnit | undefined): Promise<void> {
    const unit = this.#current;
    before?.release(this.#setup.domains);
    if (this.#front === undefined) return;
    if (before?.isPaused === true) this.#pass("Debugger.resumed", {});
    if (before !== undefined) this.#pass("Runtime.executionContextsCleared", {});
    if (unit === undefined) return;
    await Promise.all([...this.#setup.commands.map(({ method, params }) => unit.ask(method, params)), this.#breakpoints.move(unit)]);
  }

  /** New code that could not be loaded leaves the process before it in place. */
  #leave(unit: InspectedUnit): void {
    const wasCurrent = unit === this.#current;
    this.#units = this.#units.filter((other) => other !== unit);
    if (wasCurrent) this.#turning = this.#turn(unit);
  }

  /** What the process says goes to the debugger, with the ids of breakpoints that it knows. */
  #pass(method: string, params: JsonObject): void {
    if (this.#front === undefined) return;
    if (method === "Debugger.paused") return this.#pause(params);
    if (method === "Debugger.scriptParsed" && params["url"] === this.url) this.#scriptId = params["scriptId"];
    if (method === "Runtime.consoleAPICalled") return this.#front.send({ method, params: this.#fromOwnCode(params) });
    if (method === "Debugger.resumed") this.#settings.tell({ kind: "resumed" });
    if (method !== "Debugger.breakpointResolved") return this.#front.send({ method, params });
    for (const breakpointId of this.#breakpoints.idsOf(String(params["breakpointId"]))) this.#front.send({ method, params: { ...params, breakpointId } });
  }

  /** What is printed comes from the component's own line, and not from what caught it on its way. */
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
