/** An import of a file by its address, by `import`, `import()` or `require`. */
const IMPORT = /\b(?:from\s*|import\s*\(?\s*|require\s*\(\s*)(["'])(https:\/\/[^"'\s]+)\1/g;
const CODE = /\.(?:[mc]?[jt]sx?|json)$/;

/** Addresses of files that code imports, each once. */
export function remoteImports(text: string): readonly string[] {
  return [...new Set([...text.matchAll(IMPORT)].map(([, , url = ""]) => url))].filter((url) => URL.canParse(url));
}

/** Where such a file lies among those of a component, as in `https/example.com/lib/x.js`. */
export function remotePath(url: string): string {
  const { host, pathname, search } = new URL(url);
  const path = `https/${host.replaceAll(":", "_")}${pathname}${search.replaceAll(/[^\w.-]+/g, "_")}`;
  return CODE.test(path) ? path : `${path}.js`;
}
