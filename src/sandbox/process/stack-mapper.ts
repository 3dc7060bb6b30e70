import { TraceMap, originalPositionFor } from "@jridgewell/trace-mapping";
import type { Outcome } from "../../domain/run/invocation.ts";

export class StackMapper {
  readonly #url: string;
  readonly #mapText: string;
  #map: TraceMap | undefined;

  constructor(bundleUrl: string, mapText: string) {
    this.#url = bundleUrl;
    this.#mapText = mapText;
  }

  /** Also removes stack frames of the sandbox and Node. */
  mapText(text: string): string {
    if (!text.includes(this.#url) && !text.includes("child.cjs") && !text.includes("node:")) return text;
    return text
      .split("\n")
      .filter((line) => !/^\s+at .*(child\.cjs:\d|[( ]node:[\w/]+:\d)/.test(line))
      .map((line) => this.#mapLine(line))
      .join("\n");
  }

  /** `file:line:column` of the first frame in the author's code. */
  firstPosition(stack: string): string | undefined {
    for (const line of stack.split("\n")) {
      const mapped = this.#positionIn(line);
      if (mapped !== undefined) return mapped.position;
    }
    return undefined;
  }

  mapOutcome(outcome: Outcome): Outcome {
    if (outcome.kind !== "threw") return outcome;
    const at = this.firstPosition(outcome.error.stack);
    return { kind: "threw", error: { ...outcome.error, stack: this.mapText(outcome.error.stack), ...(at === undefined ? {} : { at }) } };
  }

  #mapLine(line: string): string {
    const mapped = this.#positionIn(line);
    return mapped === undefined ? line : line.replace(mapped.raw, mapped.position);
  }

  #positionIn(line: string): { raw: string; position: string } | undefined {
    const start = line.indexOf(this.#url);
    if (start < 0) return undefined;
    const match = /^:(\d+)(?::(\d+))?/.exec(line.slice(start + this.#url.length));
    if (match === null) return undefined;
    const [line1, column] = [Number(match[1]), match[2] === undefined ? 0 : Number(match[2]) - 1];
    // Printed text may only look like a position.
    if (line1 < 1 || column < 0) return undefined;
    const original = originalPositionFor((this.#map ??= mapOf(this.#mapText)), { line: line1, column });
    if (original.source === null) return undefined;
    const position = `${original.source}:${original.line}${match[2] === undefined ? "" : `:${original.column + 1}`}`;
    return { raw: this.#url + match[0], position };
  }
}

const EMPTY = '{"version":3,"sources":[],"mappings":""}';

/** Built-in code has no map, and nothing would catch an error while mapping printed text. */
function mapOf(text: string): TraceMap {
  try {
    return new TraceMap(text);
  } catch {
    return new TraceMap(EMPTY);
  }
}
