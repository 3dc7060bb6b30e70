/** What TypeScript says of code, and where the lines of generated code come from. */
const FOR_EDITORS = /\.d\.[cm]?ts$|\.(?:[cm]?js|css|[cm]?ts)\.map$/;
/** Compilers, which read declarations while they run: their own and those of the packages beside them. */
const COMPILERS = /(?:^|\/)node_modules\/(?:typescript|@typescript\/[^/]+)$/;

/** Whether a file of a package serves editors and debuggers alone: nothing that runs reads it. */
export function isForEditors(name: string): boolean {
  return FOR_EDITORS.test(name);
}

/** Whether packages of these paths (`node_modules/a/node_modules/b`) hold a compiler that reads declarations. */
export function holdsCompiler(paths: readonly string[]): boolean {
  return paths.some((path) => COMPILERS.test(path));
}
