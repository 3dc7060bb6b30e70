// Makes CommonJS of the command's pieces: Node links each ES module at a start for a millisecond, and a command has twenty. esbuild splits ES modules alone, so that these are split first and made over then.
import { readFileSync, writeFileSync } from "node:fs";
import { transform } from "esbuild";

const OWN_URL = "urlOfThisFile";
const OWN_URL_LINE = `const ${OWN_URL} = require("node:url").pathToFileURL(__filename).href;\n`;

/** `outputs`: those of a build of ES modules whose files end with `.cjs`. */
export async function makeCommonJs({ outputs }, target) {
  await Promise.all(
    Object.keys(outputs).map(async (path) => {
      const { code } = await transform(readFileSync(path, "utf8"), {
        format: "cjs",
        platform: "node",
        target,
        legalComments: "none",
        define: { "import.meta.url": OWN_URL },
      });
      writeFileSync(path, (code.includes(OWN_URL) ? OWN_URL_LINE : "") + requirePieces(code));
    }),
  );
}

/** A piece that is loaded when it is used is required then; any other import, such as that of a user's file, stays what it is. */
export function requirePieces(code) {
  return code.replaceAll(/\bimport\("(\.\/[\w-]+\.cjs)"\)/g, 'Promise.resolve().then(() => require("$1"))');
}
