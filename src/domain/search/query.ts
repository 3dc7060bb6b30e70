import { type JsonValue, isRecord } from "../text/json.ts";

export interface SearchWords {
  /** Each must be found, as the beginning of a word. */
  readonly words: readonly string[];
  /** Each must hold in the JSON of the event. */
  readonly paths: readonly PathValue[];
}

interface PathValue {
  readonly path: readonly string[];
  readonly value: string;
}

const MOST_WORDS = 20;

/** `no customer body.order.id=7` → two words, and one place with its value. */
export function readSearch(text: string): SearchWords {
  const words: string[] = [];
  const paths: PathValue[] = [];
  for (const [, quoted, plain = ""] of text.matchAll(/"([^"]*)"|(\S+)/g)) {
    const equals = plain.indexOf("=");
    if (quoted !== undefined || equals < 1) words.push(quoted ?? plain);
    else paths.push({ path: plain.slice(0, equals).split("."), value: plain.slice(equals + 1) });
  }
  return { words: words.slice(0, MOST_WORDS), paths: paths.slice(0, MOST_WORDS) };
}

/** What the index is asked: the words, and the values of the places. Undefined without any. */
export function matchOf({ words, paths }: SearchWords): string | undefined {
  const parts = [...words, ...paths.map(({ value }) => value)].flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []);
  return parts.length === 0 ? undefined : parts.map((part) => `"${part}"*`).join(" ");
}

export function holds(event: JsonValue | undefined, paths: readonly PathValue[]): boolean {
  return paths.every(({ path, value }) => {
    let found: unknown = event;
    for (const name of path) found = Array.isArray(found) ? found[Number(name)] : isRecord(found) ? found[name] : undefined;
    return found !== undefined && (typeof found === "string" ? found : JSON.stringify(found)) === value;
  });
}
