const IMPORT = /\b(?:from\s*|import\s*\(?\s*|require\s*\(\s*)(["'])(https:\/\/[^"'\s]+)\1/g;
const CODE = /\.(?:[mc]?[jt]sx?|json)$/;

export function remoteImports(text: string): readonly string[] {
  return [...new Set([...text.matchAll(IMPORT)].map(([, , url = ""]) => url))].filter((url) => URL.canParse(url));
}

/** Example: `https/example.com/lib/x.js`. */
export function remotePath(url: string): string {
  const { host, pathname, search } = new URL(url);
  const path = `https/${host.replaceAll(":", "_")}${pathname}${search.replaceAll(/[^\w.-]+/g, "_")}`;
  return CODE.test(path) ? path : `${path}.js`;
}
