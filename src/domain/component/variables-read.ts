/** Set by Node, Python or the hosted platform. */
const OWN = /^(?:PIPEDREAM_\w+|PD_\w+|HOME|PATH|TMPDIR|TZ|LANG|NODE_ENV|PWD)$/;

const READS: readonly RegExp[] = [
  // process.env.NAME, process.env["NAME"]
  /\bprocess\s*\.\s*env\s*(?:\?\.|\.)\s*([A-Za-z_]\w*)/g,
  /\bprocess\s*\.\s*env\s*(?:\?\.)?\[\s*["'`]([A-Za-z_]\w*)["'`]\s*\]/g,
  // os.environ["NAME"], os.environ.get("NAME"), os.getenv("NAME")
  /\benviron\s*(?:\[|\.\s*get\s*\()\s*["']([A-Za-z_]\w*)["']/g,
  /\bgetenv\s*\(\s*["']([A-Za-z_]\w*)["']/g,
];

/** Sorted, without duplicates. */
export function variablesRead(text: string): readonly string[] {
  const found = READS.flatMap((pattern) => [...text.matchAll(pattern)].map(([, name = ""]) => name));
  return [...new Set(found)].filter((name) => !OWN.test(name)).toSorted();
}
