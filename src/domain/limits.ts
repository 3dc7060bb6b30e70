/**
 * How much one component may hand to the server, so that none of them fills its memory or holds up the others. Far above
 * what published components do; what goes beyond is refused where it is made, with an error that names the limit.
 */
export const LIMITS = {
  /** Bytes of a body once it is decompressed. */
  body: 10 * 2 ** 20,
  /** Characters of an event, of a value of `$.service.db`, of what a call returns. */
  value: 10_000_000,
  /** Characters of all that one call emits and sets. */
  call: 48_000_000,
  /** Characters of what calls of one process that go on have emitted so far. */
  held: 96_000_000,
  /** Characters of all values of one source's `$.service.db`. */
  state: 64_000_000,
  /** Emits of one call. */
  emits: 100_000,
  /** Keys of `$.service.db` that one call reads and writes. */
  keys: 100_000,
  /** Characters of an id, a channel, a key. */
  name: 10_000,
  /** Characters of what a component declares. */
  definition: 4_000_000,
  /** Characters of a summary; the rest is cut off. */
  summary: 4000,
  /** Characters of one printed line; the rest is cut off. */
  line: 250_000,
  /** Objects, lists and members of one JSON text: those cost far more than their characters. */
  members: 500_000,
  /** Objects and lists inside each other. */
  depth: 2000,
  /** Fields of a form: each costs a hundred times its length. */
  fields: 10_000,
} as const;

const [QUOTE, BACKSLASH, COMMA, COLON, OPEN_LIST, CLOSE_LIST, OPEN, CLOSE] = [34, 92, 44, 58, 91, 93, 123, 125];

/**
 * Whether parsing a JSON text would take more time and memory than it is worth: looked at before it is parsed. A few
 * thousand characters can be nested so deep that nothing walks through them, and no thread can be told of them.
 */
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

/** Characters of a text as JSON has it, without its quotes: a control character becomes six. */
export function lengthInJson(text: string): number {
  let length = text.length;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE || code === BACKSLASH || (code >= 8 && code <= 13 && code !== 11)) length++;
    else if (code < 32) length += 5;
  }
  return length;
}

/** The quote that ends the string which begins at `from`; -1: there is none. */
function endOfString(text: string, from: number): number {
  for (let end = text.indexOf('"', from + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return -1;
}

/** Whether a form's text has more fields than LIMITS.fields. */
export function hasTooManyFields(form: string): boolean {
  return form.split("&", LIMITS.fields + 1).length > LIMITS.fields;
}

/** JSON text that is worth being parsed. */
export function isPlainJsonText(text: unknown, most: number = LIMITS.value): text is string {
  if (typeof text !== "string" || text.length > most || isTooComplex(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
