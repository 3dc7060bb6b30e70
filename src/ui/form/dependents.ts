/** Prop → the props that its choices were made of. */
export type Reads = ReadonlyMap<string, readonly string[]>;

/** The props whose choices were made of the prop's value, also through others. */
export function dependentsOf(name: string, reads: Reads): ReadonlySet<string> {
  const found = new Set<string>();
  const add = (of: string): void => {
    for (const [prop, read] of reads) {
      if (found.has(prop) || prop === name || !read.includes(of)) continue;
      found.add(prop);
      add(prop);
    }
  };
  add(name);
  return found;
}
