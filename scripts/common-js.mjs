// Makes CommonJS of the command's pieces: Node links each ES module at a start for a millisecond, and a command has twenty. esbuild splits ES modules alone, so that these are split first and made over then.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { transform } from "esbuild";

/** What stands for `import.meta.url`, and the line that makes it. */
export const OWN_URL = "urlOfThisFile";
export const OWN_URL_LINE = `const ${OWN_URL} = require("node:url").pathToFileURL(__filename).href;\n`;
const LATE_IMPORT = /\bimport\("(\.\/[\w.-]+\.cjs)"\)/g;
const LOADER = "pieces.cjs";
const SMALL = { platform: "node", legalComments: "none", minifyWhitespace: true, minifySyntax: true };

/** What a piece exports, for ES modules that import it: there are none. */
const NAMES_FOR_IMPORTS = /\n?0&&\(module\.exports=\{[^{}]*\}\);?\s*$/;

/** Node 20 has lost what `import()` needs when it takes code that was kept. */
const NEVER_KEPT = '"imports at run time";\n';

/** `outputs`: those of a build of ES modules into `folder`, whose files end with `.cjs`. */
export async function makeCommonJs(folder, { outputs }, target) {
  await Promise.all(
    Object.keys(outputs).map(async (path) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        ...SMALL,
        target,
        format: "cjs",
        define: { "import.meta.url": OWN_URL, "import.meta.dirname": "__dirname" },
      });
      const late = lateNames(outputs, path);
      const hold = late.length === 0 ? "" : `const latePieces = require("./${LOADER}");\nlatePieces.hold(${JSON.stringify(late)});\n`;
      const text = code.replace(NAMES_FOR_IMPORTS, "").replaceAll(LATE_IMPORT, 'latePieces.load("$1")');
      const mark = (await importsAtRunTime(text)) ? NEVER_KEPT : "";
      writeFileSync(path, mark + (text.includes(OWN_URL) ? OWN_URL_LINE : "") + hold + text);
    }),
  );
}

/**
 * Writes what loads pieces and what keeps them compiled, as one file that knows which pieces it belongs to, and what each of
 * them is. They stay as they are from then on. Returns the name of this build.
 */
export async function writeLoader(folder, target) {
  const names = readdirSync(folder).filter((name) => name.endsWith(".cjs") && name !== LOADER);
  const pieces = JSON.stringify(Object.fromEntries(names.map((name) => [name, hashOf(readFileSync(join(folder, name)))])));
  writeFileSync(join(folder, "pieces.json"), pieces);
  const build = hashOf(pieces);
  const keeping = replaceOnce(scriptOf("compiled-code.cjs"), '"source"', JSON.stringify(build));
  const loading = replaceOnce(scriptOf(LOADER), 'require("./compiled-code.cjs")', keeping);
  writeFileSync(join(folder, LOADER), (await transform(`module.exports = ${loading};`, { ...SMALL, minifyIdentifiers: true, target })).code);
  return build;
}

/** What a script of this folder exports, as an expression: within a function its names can be made short. */
function scriptOf(name) {
  return `((exports) => {${readFileSync(join(import.meta.dirname, name), "utf8")}\nreturn exports;})({})`;
}

/** As `compiled-code.cjs` has it. */
function hashOf(bytes) {
  return createHash("sha256").update(bytes).digest("hex").slice(0, 16);
}

function replaceOnce(text, part, other) {
  if (text.split(part).length !== 2) throw new Error(`${part} stands ${text.split(part).length - 1} times in the loader, not once`);
  return text.replace(part, () => other);
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
