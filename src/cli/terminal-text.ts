/**
 * Text from others may write the clipboard, set the title, move the cursor or hide text. Control characters and those that
 * change the text direction are escaped.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE = /\u001b(?!\[[\d;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\u{e0000}-\u{e007f}]/gu;
/** Without width, they make different texts look alike. Emoji and some scripts need them, code does not. */
// oxlint-disable-next-line no-misleading-character-class -- each of them by itself
const INVISIBLE = /[\u00ad\u200b-\u200d\u2060-\u2064\ufeff]/g;
// oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
const STYLE = /\u001b\[([\d;]*)m/g;
// oxlint-disable-next-line no-control-regex -- the escape character is what is looked for
const ESCAPE = /\u001b/g;
const RESET = "\u001b[0m";

/** Keeps colours, reset at each line's end. JSON keeps its meaning. */
export function forTerminal(text: string): string {
  const safe = text.replaceAll(UNSAFE, numbered);
  return safe.includes("\u001b") ? safe.split("\n").map(withColoursOnly).join("\n") : safe;
}

/** For code, names and questions. Escapes colours too. */
export function plainText(text: string): string {
  return text.replaceAll(UNSAFE, numbered).replaceAll(ESCAPE, numbered).replaceAll(INVISIBLE, numbered);
}

export function plainLine(text: string): string {
  return plainText(text).replaceAll("\n", "\\n").replaceAll("\t", " ");
}

/** Cannot control the terminal, nor move or hide text. */
export function isPlainText(text: string): boolean {
  return plainLine(text) === text;
}

function numbered(character: string): string {
  // One escape for each UTF-16 unit, as in JSON.
  return Array.from(character.match(/[^]/g) ?? [], (half) => `\\u${half.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}

/** Readable on dark and light terminals. Black, white, backgrounds and exact colours may hide text. */
const COLOURS = new Set([31, 32, 33, 34, 35, 36, 91, 92, 93, 94, 95, 96]);
const INTENSITIES = new Set([1, 2]);

function withColoursOnly(line: string): string {
  let [hasColour, hasIntensity] = [false, false];
  const shown = line.replaceAll(STYLE, (_whole, parameters: string) => {
    const kept = keptParameters(parameters);
    for (const one of kept) {
      if (one === 0 || one === 39) hasColour = false;
      if (one === 0 || one === 22) hasIntensity = false;
      hasColour ||= COLOURS.has(one);
      hasIntensity ||= INTENSITIES.has(one);
    }
    return kept.length === 0 ? "" : `\u001b[${kept.join(";")}m`;
  });
  return hasColour || hasIntensity ? shown + RESET : shown;
}

function keptParameters(parameters: string): readonly number[] {
  const given = parameters.split(";").map(Number);
  const kept: number[] = [];
  for (let at = 0; at < given.length; at++) {
    const one = given[at] ?? 0;
    // The next numbers belong to this exact colour.
    if (one === 38 || one === 48 || one === 58) at += given[at + 1] === 2 ? 4 : 2;
    else if (one === 0 || one === 22 || one === 39 || COLOURS.has(one) || INTENSITIES.has(one)) kept.push(one);
  }
  return kept;
}

export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
