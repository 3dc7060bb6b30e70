// Makes CommonJS of the command's pieces: Node links each ES module at a start for a millisecond, and a command has twenty. esbuild splits ES modules alone, so that these are split first and made over then.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { transform } from "esbuild";

const OWN_URL = "urlOfThisFile";
const OWN_URL_LINE = `const ${OWN_URL} = require("node:url").pathToFileURL(__filename).href;\n`;
const LATE_IMPORT = /\bimport\("(\.\/[\w.-]+\.cjs)"\)/g;
const PIECES = "pieces.cjs";
/** What loads pieces, and what keeps them compiled. */
const LOADER = [PIECES, "compiled-code.cjs"];

/** Node 20 has lost what `import()` needs when it takes code that was kept. */
const NEVER_KEPT = '"imports at run time";\n';

/** `outputs`: those of a build of ES modules into `folder`, whose files end with `.cjs`. */
export async function makeCommonJs(folder, { outputs }, target) {
  const small = { platform: "node", target, legalComments: "none", minifyWhitespace: true, minifySyntax: true };
  for (const name of LOADER) writeFileSync(join(folder, name), (await transform(readFileSync(join(import.meta.dirname, name), "utf8"), small)).code);
  await Promise.all(
    Object.keys(outputs).map(async (path) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        ...small,
        format: "cjs",
        define: { "import.meta.url": OWN_URL },
      });
      const late = lateNames(outputs, path);
      const hold = late.length === 0 ? "" : `const latePieces = require("./${PIECES}");\nlatePieces.hold(${JSON.stringify(late)});\n`;
      const text = code.replaceAll(LATE_IMPORT, 'latePieces.load("$1")');
      const mark = (await importsAtRunTime(text)) ? NEVER_KEPT : "";
      writeFileSync(path, mark + (text.includes(OWN_URL) ? OWN_URL_LINE : "") + hold + text);
    }),
  );
}

/** Whether esbuild finds an `import()` in it to make something else of. */
async function importsAtRunTime(code) {
  const [one, other] = await Promise.all([true, false].map((isKnown) => transform(code, { format: "cjs", supported: { "dynamic-import": isKnown } })));
  return one.code !== other.code;
}

/** All that may be loaded later by one piece: what it imports then, and whatever that imports. */
function lateNames(outputs, path) {
  const found = new Set();
  const visit = (imports) => {
    for (const { path: next } of imports) {
      if (outputs[next] === undefined || found.has(next)) continue;
      found.add(next);
      visit(outputs[next].imports);
    }
  };
  visit(outputs[path].imports.filter(({ kind }) => kind === "dynamic-import"));
  return [...found].map((name) => `./${basename(name)}`).toSorted();
}

/** A command is required when it runs; any other import, such as that of a user's file, stays what it is. */
export function requirePieces(code) {
  return code.replaceAll(LATE_IMPORT, 'Promise.resolve().then(() => require("$1"))');
}
