/** Per component, so that none fills the server's memory or blocks others. Far above what published components need. */
export const LIMITS = {
  /** Bytes of a decompressed body. */
  body: 10 * 2 ** 20,
  /** Characters of an event, a value of `$.service.db`, or a return value. */
  value: 10_000_000,
  /** Characters that one call emits and sets. */
  call: 48_000_000,
  /** Characters emitted by the running calls of one process. */
  held: 96_000_000,
  /** Characters of one source's `$.service.db`. */
  state: 64_000_000,
  /** Per call. */
  emits: 100_000,
  /** Keys of `$.service.db` that one call uses. */
  keys: 100_000,
  /** Characters of an id, a channel or a key. */
  name: 10_000,
  /** Characters of a component's declaration. */
  definition: 4_000_000,
  /** Characters. The rest is cut off. */
  summary: 4000,
  /** Characters per printed line. The rest is cut off. */
  line: 250_000,
  /** Objects, lists and members per JSON text, which cost far more than characters. */
  members: 500_000,
  /** Nesting of objects and lists. */
  depth: 2000,
  /** Per form. Each costs a hundred times its length. */
  fields: 10_000,
} as const;

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [34, 92, 44, 58, 91, 93, 123, 125];

/** For text that is not parsed yet. A few thousand characters can be nested too deeply to be walked or sent to a thread. */
export function isTooComplex(text: string, mostMembers: number = LIMITS.members): boolean {
  if (text.length < LIMITS.depth) return false;
  let [members, depth] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return false;
    } else if (code === OPEN || code === OPEN_LIST) {
      members++;
      depth++;
      if (depth > LIMITS.depth) return true;
    } else if (code === CLOSE || code === CLOSE_LIST) depth--;
    else if (code === COMMA || code === COLON) members++;
    if (members > mostMembers) return true;
  }
  return false;
}

/** Excludes the quotes. */
export function lengthInJson(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || (code >= 8 && code <= 13 && code !== 11)) length++;
    else if (code < 32) length += 5;
  }
  return length;
}

function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

export function hasTooManyFields(form: string): boolean {
  return form.split("&", LIMITS.fields + 1).length > LIMITS.fields;
}

export function isPlainJsonText(text: unknown, most: number = LIMITS.value): text is string {
  if (typeof text !== "string" || text.length > most || isTooComplex(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
