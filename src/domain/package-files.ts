/** What TypeScript says of code, and where the lines of generated code come from. */
const FOR_EDITORS = /\.d\.[cm]?ts$|\.(?:[cm]?js|css|[cm]?ts)\.map$/;
/** What a compiler knows of the language: some packages carry one inside. */
const LIBRARY = /^lib\.(?:[\w.-]+\.)?d\.ts$/;
/** Compilers, which read declarations while they run: their own and those of the packages beside them. */
const COMPILERS = /(?:^|\/)(?:typescript|@typescript\/[^/]+|@tsd\/typescript)$/;

/** Whether a file of this name in a package serves editors and debuggers alone: nothing that runs reads it. */
export function isForEditors(name: string): boolean {
  return FOR_EDITORS.test(name) && !LIBRARY.test(name);
}

/** Whether one of these packages is a compiler that reads declarations: by their paths (`node_modules/a/node_modules/b`), or their names where they lie under another. */
export function holdsCompiler(namesAndPaths: readonly string[]): boolean {
  return namesAndPaths.some((text) => COMPILERS.test(text));
}
