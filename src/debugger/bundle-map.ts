import { LEAST_UPPER_BOUND, TraceMap, generatedPositionFor, originalPositionFor } from "@jridgewell/trace-mapping";

/** A position in the bundle, as the inspector's protocol counts: from 0. */
export interface BundlePosition {
  readonly lineNumber: number;
  readonly columnNumber: number;
}

/** A position in one of the author's files; lines count from 1, columns from 0. */
export interface AuthorPosition {
  /** As the source map names it. */
  readonly source: string;
  readonly line: number;
  readonly column: number;
}

/** Lines that are looked through for the first one that has code. */
const MOST_LINES_ON = 30;

/** Where the parts of a bundle stand in the author's files. */
export class BundleMap {
  readonly #map: TraceMap;
  readonly #root: string;

  /** `root`: URL of the folder that the names of the map are relative to, with a slash at its end. */
  constructor(map: string, root: string) {
    this.#map = new TraceMap(map);
    this.#root = root;
  }

  get sources(): readonly string[] {
    return this.#map.sources.flatMap((source) => (source === null ? [] : [source]));
  }

  /** What the file is called where it lies. */
  urlOf(source: string): string {
    return new URL(source.split("/").map(encodeURIComponent).join("/"), this.#root).href;
  }

  originalOf({ lineNumber, columnNumber }: BundlePosition): AuthorPosition | undefined {
    const wanted = { line: lineNumber + 1, column: columnNumber };
    const at = originalPositionFor(this.#map, wanted);
    // A line may begin with what no code stands for.
    const { source, line, column } = at.source === null ? originalPositionFor(this.#map, { ...wanted, bias: LEAST_UPPER_BOUND }) : at;
    return source === null ? undefined : { source, line, column };
  }

  /** The first code at or behind the position; `undefined`: the file has none there. */
  generatedOf({ source, line, column }: AuthorPosition): BundlePosition | undefined {
    for (let at = line; at <= line + MOST_LINES_ON; at++) {
      const wanted = { source, line: at, column: at === line ? column : 0, bias: LEAST_UPPER_BOUND } as const;
      const found = generatedPositionFor(this.#map, wanted);
      if (found.line !== null) return { lineNumber: found.line - 1, columnNumber: found.column };
    }
    return undefined;
  }
}

/** Source map in which every file is named as it lies on the author's disk. */
export function mapAtHome(map: string, root: string): string {
  const known = new BundleMap(map, root);
  const parsed: { sources?: unknown } = JSON.parse(map);
  return JSON.stringify({ ...parsed, sources: known.sources.map((source) => known.urlOf(source)) });
}
