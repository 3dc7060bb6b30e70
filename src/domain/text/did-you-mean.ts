/** Comparing takes time proportional to both lengths. */
const MOST_COMPARED = 80;
/** The names may come from an untrusted sender. */
const MOST_UNKNOWN = 10;
const MOST_KNOWN = 300;

export function nearestTo(names: readonly string[], known: Iterable<string>): readonly string[] {
  const few = [...known].slice(0, MOST_KNOWN);
  return names.map((name, index) => (index < MOST_UNKNOWN ? didYouMean(name, few) : ""));
}

export function didYouMean(name: string, known: Iterable<string>): string {
  if (name.length > MOST_COMPARED) return "";
  const most = Math.max(1, name.length / 3);
  const close = [...known]
    .filter(({ length }) => Math.abs(length - name.length) <= most)
    .map((candidate) => ({ candidate, distance: editDistance(name.toLowerCase(), candidate.toLowerCase()) }))
    .toSorted((a, b) => a.distance - b.distance)[0];
  return close !== undefined && close.distance <= most ? ` (did you mean ${close.candidate}?)` : "";
}

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
