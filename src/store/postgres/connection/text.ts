/** PostgreSQL cannot store NUL, and lone surrogates have no UTF-8. Text with either is stored as JSON behind this character. */
const ESCAPED = "\u001b";

export function storedText(text: string): string {
  const isPlain = text.isWellFormed() && !text.includes("\0") && !text.startsWith(ESCAPED);
  return isPlain ? text : ESCAPED + JSON.stringify(text);
}

export function textOfStored(stored: string): string {
  return stored.startsWith(ESCAPED) ? String(JSON.parse(stored.slice(ESCAPED.length))) : stored;
}
