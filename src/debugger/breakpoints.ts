import { type JsonObject, isJsonObject } from "../domain/text/json.ts";
import type { AuthorPosition, BundleMap } from "./bundle-map.ts";
import type { Answer, InspectedUnit } from "./inspected-process.ts";

interface Breakpoint {
  readonly params: JsonObject;
  /** Set with the first bundle, and kept in later ones. */
  place: AuthorPosition | undefined;
  bound: string | undefined;
}

/** Breakpoints outlive processes, which each assign their own ids. The debugger may name the bundle or the author's file. */
export class Breakpoints {
  readonly #url: string;
  readonly #known = new Map<string, Breakpoint>();
  #count = 0;

  constructor(url: string) {
    this.#url = url;
  }

  async set(unit: InspectedUnit | undefined, params: JsonObject): Promise<Answer> {
    this.#count++;
    const id = `headwater:${this.#count}`;
    const breakpoint: Breakpoint = { params, place: undefined, bound: undefined };
    this.#known.set(id, breakpoint);
    if (unit === undefined) return { result: { breakpointId: id, locations: [] } };
    const locations = await this.#bind(unit, breakpoint);
    if (!isJsonObject(locations)) return { result: { breakpointId: id, locations } };
    this.#known.delete(id);
    return locations;
  }

  async remove(unit: InspectedUnit | undefined, id: string): Promise<Answer> {
    const bound = this.#known.get(id)?.bound;
    this.#known.delete(id);
    // The debugger's breakpoints at one position share one in the process.
    const isShared = [...this.#known.values()].some((other) => other.bound === bound);
    if (unit === undefined || bound === undefined || isShared) return { result: {} };
    return unit.ask("Debugger.removeBreakpoint", { breakpointId: bound });
  }

  /** Must be called before the new process loads its code. */
  async move(unit: InspectedUnit): Promise<void> {
    for (const breakpoint of this.#known.values()) breakpoint.bound = undefined;
    await Promise.all([...this.#known.values()].map((breakpoint) => this.#bind(unit, breakpoint)));
  }

  clear(): void {
    this.#known.clear();
  }

  idsOf(bound: string): readonly string[] {
    return [...this.#known].flatMap(([id, breakpoint]) => (breakpoint.bound === bound ? [id] : []));
  }

  async #bind(unit: InspectedUnit, breakpoint: Breakpoint): Promise<JsonObject[] | Answer> {
    breakpoint.place ??= this.#placeOf(breakpoint.params, unit.map);
    // Processes may run different components. A breakpoint in another one's file waits for it.
    if (breakpoint.place !== undefined && !unit.map.sources.includes(breakpoint.place.source)) return [];
    const wanted = this.#wanted(unit.map, breakpoint);
    const answer = await unit.ask("Debugger.setBreakpointByUrl", wanted);
    const { result } = answer;
    if (isJsonObject(result) && typeof result["breakpointId"] === "string") {
      breakpoint.bound = result["breakpointId"];
      return Array.isArray(result["locations"]) ? result["locations"].filter(isJsonObject) : [];
    }
    const same = [...this.#known.values()].find(
      (other) => other !== breakpoint && other.bound !== undefined && isSamePlace(this.#wanted(unit.map, other), wanted),
    );
    if (same === undefined) return answer;
    breakpoint.bound = same.bound;
    return [];
  }

  #wanted(map: BundleMap, { params, place }: Breakpoint): JsonObject {
    const position = place === undefined ? undefined : map.generatedOf(place);
    if (position === undefined) return params;
    const { urlRegex: _regex, scriptHash: _hash, ...rest } = params;
    return { ...rest, url: this.#url, ...position };
  }

  #placeOf(params: JsonObject, map: BundleMap): AuthorPosition | undefined {
    const position = { lineNumber: Number(params["lineNumber"] ?? 0), columnNumber: Number(params["columnNumber"] ?? 0) };
    if (names(params, this.#url)) return map.originalOf(position);
    const source = map.sources.find((name) => names(params, map.urlOf(name)));
    return source === undefined ? undefined : { source, line: position.lineNumber + 1, column: position.columnNumber };
  }
}

function isSamePlace(left: JsonObject, right: JsonObject): boolean {
  return left["url"] === right["url"] && left["lineNumber"] === right["lineNumber"] && left["columnNumber"] === right["columnNumber"];
}

function names({ url, urlRegex }: JsonObject, file: string): boolean {
  if (typeof url === "string") return url === file;
  if (typeof urlRegex !== "string") return false;
  try {
    return new RegExp(urlRegex).test(file);
  } catch {
    // The process reports the invalid pattern.
    return false;
  }
}
