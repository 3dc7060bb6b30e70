/**
 * What others wrote may hold commands to the terminal: to write its clipboard, its title, to move or hide text. Colours
 * are let through; every other control character, and those that turn the direction of text, is shown as what it is.
 */
// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const UNSAFE = /\u001b(?!\[[\d;]*m)|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text as it may be written to a terminal. In JSON it means the same as before. */
export function forTerminal(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Whether a text holds nothing that a terminal would obey, colours included, or that moves or hides what stands around it. */
export function isPlainText(text: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  return forTerminal(text) === text && !/[\u001b\t\n\u2028\u2029]/.test(text);
}

/** No longer than so many characters; what was cut off is marked. */
export function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(0, width - 1))}…`;
}
