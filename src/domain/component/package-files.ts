/** Type declarations and source maps. */
const FOR_EDITORS = /\.d\.[cm]?ts$|\.(?:[cm]?js|css|[cm]?ts)\.map$/;
/** TypeScript's library files, which some packages contain. */
const LIBRARY = /^lib\.(?:[\w.-]+\.)?d\.ts$/;
/** Compilers read declarations at run time. */
const COMPILERS = /(?:^|\/)(?:typescript|@typescript\/[^/]+|@tsd\/typescript)$/;

export function isForEditors(name: string): boolean {
  return FOR_EDITORS.test(name) && !LIBRARY.test(name);
}

/** Takes package names, or paths such as `node_modules/a/node_modules/b`. */
export function holdsCompiler(namesAndPaths: readonly string[]): boolean {
  return namesAndPaths.some((text) => COMPILERS.test(text));
}
