/** Nobody misspells longer names, and comparing takes their length times that of all that is known. */
const MOST_COMPARED = 80;
/** Of names that nobody knows so many are answered with the nearest, of so many that are known. */
const MOST_UNKNOWN = 10;
const MOST_KNOWN = 300;

/** The same for each of many names, which a stranger may have sent: those behind the first few get none. */
export function nearestTo(names: readonly string[], known: Iterable<string>): readonly string[] {
  const few = [...known].slice(0, MOST_KNOWN);
  return names.map((name, index) => (index < MOST_UNKNOWN ? didYouMean(name, few) : ""));
}

/** ` (did you mean x?)` when a known name is close to the given one. */
export function didYouMean(name: string, known: Iterable<string>): string {
  if (name.length > MOST_COMPARED) return "";
  const most = Math.max(1, name.length / 3);
  const close = [...known]
    .filter(({ length }) => Math.abs(length - name.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return close !== undefined && close.distance <= most ? ` (did you mean ${close.candidate}?)` : "";
}

/** How many letters have to be added, taken away or changed (Levenshtein). */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_none, index) => index);
  for (let i = 1; i <= left.length; i++) {
    const next = [i];
    for (let j = 1; j <= right.length; j++) {
      const changed = (row[j - 1] ?? 0) + (left[i - 1] === right[j - 1] ? 0 : 1);
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
