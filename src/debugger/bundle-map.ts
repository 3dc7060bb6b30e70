import { LEAST_UPPER_BOUND, TraceMap, generatedPositionFor, originalPositionFor } from "@jridgewell/trace-mapping";

/** Counted from 0, as in the inspector protocol. */
export interface BundlePosition {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** Lines count from 1, columns from 0. */
export interface AuthorPosition {
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** Searched for code after a position without code. */
const MOST_LINES_ON = 30;

export class BundleMap {
  readonly #map: TraceMap;
  readonly #root: string;

  /** `root`: a URL with a final slash, to which the map's file names are relative. */
  constructor(map: string, root: string) {
    this.#map = new TraceMap(map);
    this.#root = root;
  }

  get sources(): readonly string[] {
    return this.#map.sources.flatMap((source) => (source === null ? [] : [source]));
  }

  urlOf(source: string): string {
    return new URL(source.split("/").map(encodeURIComponent).join("/"), this.#root).href;
  }

  originalOf({ lineNumber, columnNumber }: BundlePosition): AuthorPosition | undefined {
    const wanted = { line: lineNumber + 1, column: columnNumber };
    const at = originalPositionFor(this.#map, wanted);
    // A line's start may have no mapping.
    const { source, line, column } = at.source === null ? originalPositionFor(this.#map, { ...wanted, bias: LEAST_UPPER_BOUND }) : at;
    return source === null ? undefined : { source, line, column };
  }

  generatedOf({ source, line, column }: AuthorPosition): BundlePosition | undefined {
    for (let at = line; at <= line + MOST_LINES_ON; at++) {
      const wanted = { source, line: at, column: at === line ? column : 0, bias: LEAST_UPPER_BOUND } as const;
      const found = generatedPositionFor(this.#map, wanted);
      if (found.line !== null) return { lineNumber: found.line - 1, columnNumber: found.column };
    }
    return undefined;
  }
}

export function mapAtHome(map: string, root: string): string {
  const known = new BundleMap(map, root);
  const parsed: { sources?: unknown } = JSON.parse(map);
  return JSON.stringify({ ...parsed, sources: known.sources.map((source) => known.urlOf(source)) });
}
