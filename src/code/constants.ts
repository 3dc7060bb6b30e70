import type { BuildFailure } from "esbuild";

interface Assignment {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** In bytes, from 0. */
  readonly column: number;
}

/** Node's own error. Starts with an identifier, because a bracket would continue the previous line. */
const THROWS = `Function("throw new TypeError('Assignment to constant variable.')")().`;

/** esbuild reports up to 20 errors per round. */
const MOST_ROUNDS = 20;

/**
 * esbuild refuses code that assigns to a constant. Node runs it and throws at the assignment. So each reported assignment
 * is replaced by a throw, and the build is repeated.
 */
export class ConstantAssignments {
  readonly #found = new Map<string, Assignment[]>();
  #rounds = 0;

  /** False for other errors, and after too many rounds. */
  take({ errors }: BuildFailure, fileOf: (name: string) => string): boolean {
    const found = errors.flatMap(({ text, location }) => {
      const name = /^Cannot assign to "(.+)" because it is a constant$/.exec(text)?.[1];
      return name === undefined || location === null ? [] : [{ file: fileOf(location.file), name, line: location.line, column: location.column }];
    });
    if (found.length < errors.length || ++this.#rounds > MOST_ROUNDS) return false;
    // Starts at the end, so that insertions do not move other places.
    for (const { file, ...place } of found.toSorted((a, b) => b.line - a.line || b.column - a.column)) this.#of(file).push(place);
    return true;
  }

  letThrow(file: string, text: string): string {
    const places = this.#found.get(file);
    if (places === undefined) return text;
    const lines = text.split("\n");
    for (const { line, column } of places) {
      const bytes = Buffer.from(lines[line - 1] ?? "");
      lines[line - 1] = `${bytes.toString("utf8", 0, column)}${THROWS}${bytes.toString("utf8", column)}`;
    }
    return lines.join("\n");
  }

  get warnings(): readonly string[] {
    const all = [...this.#found].flatMap(([file, places]) => places.map((place) => ({ file, ...place })));
    return all
      .toSorted((a, b) => a.line - b.line || a.column - b.column)
      .map(({ file, line, name }) => `${file}:${line}: ${name} is a constant: this assignment throws when it runs`);
  }

  clear(): void {
    this.#found.clear();
    this.#rounds = 0;
  }

  #of(file: string): Assignment[] {
    const places = this.#found.get(file) ?? [];
    this.#found.set(file, places);
    return places;
  }
}
