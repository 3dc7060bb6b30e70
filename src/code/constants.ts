import type { BuildFailure } from "esbuild";

/** A place where code assigns to a constant. */
interface Assignment {
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** In bytes, from 0. */
  readonly column: number;
}

/** Stands where a constant is assigned to, and throws what Node throws there. It begins with a name, as a bracket would go with the line before. */
const THROWS = `Function("throw new TypeError('Assignment to constant variable.')")().`;

/** Each round of compiling tells of twenty at the most. */
const MOST_ROUNDS = 20;

/**
 * Node loads code that assigns to a constant, and throws when it gets there. The compiler refuses such code where it makes
 * one file of several, so the places that it tells of are made to throw before it is asked again.
 */
export class ConstantAssignments {
  readonly #found = new Map<string, Assignment[]>();
  #rounds = 0;

  /** Takes up what the compiler has refused, by files as it names them. False: something else is wrong as well. */
  take({ errors }: BuildFailure, fileOf: (name: string) => string): boolean {
    const found = errors.flatMap(({ text, location }) => {
      const name = /^Cannot assign to "(.+)" because it is a constant$/.exec(text)?.[1];
      return name === undefined || location === null ? [] : [{ file: fileOf(location.file), name, line: location.line, column: location.column }];
    });
    if (found.length < errors.length || ++this.#rounds > MOST_ROUNDS) return false;
    // From the end, so that what is put in moves none of the others.
    for (const { file, ...place } of found.toSorted((a, b) => b.line - a.line || b.column - a.column)) this.#of(file).push(place);
    return true;
  }

  /** The text as it is compiled. */
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
      .map(({ file, line, name }) => `${file}:${line}: ${name} is a constant: this assignment throws when it is reached`);
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
