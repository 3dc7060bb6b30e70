// Leaves in dist/types what the entries of the package need, and puts the types of zod beside it: whoever installs the package installs no other for its types.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

const TYPES = join(import.meta.dirname, "..", "dist", "types");
const ENTRIES = ["index", "client/index", "component/index", "testing/index"].map((name) => join(TYPES, `${name}.d.ts`));
const ZOD = dirname(createRequire(import.meta.url).resolve("zod/package.json"));
const VENDOR = join(TYPES, "vendor", "zod");
const IMPORT = /((?<!")\bfrom\s+|\bimport\s*\(?\s*)"([@\w./:-]+)"/g;

/** Files that a file of types imports; `undefined`: a package that comes with Node. */
function fileOf(specifier, importer) {
  if (specifier === "zod") return join(ZOD, "index.d.ts");
  if (specifier.startsWith("zod/")) return join(ZOD, specifier.slice("zod/".length), "index.d.ts");
  if (!specifier.startsWith(".")) return undefined;
  return join(dirname(importer), specifier.replace(/(\.d)?\.(ts|js)$/, ".d.ts"));
}

/** Where a file lies in the package. */
function placeOf(path) {
  return path.startsWith(ZOD) ? join(VENDOR, relative(ZOD, path)) : path;
}

const written = new Map();
const waiting = [...ENTRIES];
for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
  const place = placeOf(path);
  if (written.has(place)) continue;
  const importer = path;
  const text = readFileSync(importer, "utf8").replaceAll(IMPORT, (whole, before, specifier) => {
    const file = fileOf(specifier, importer);
    if (file === undefined && !specifier.startsWith("node:")) throw new Error(`${importer} wants the types of ${specifier}, which nobody installs`);
    // Comments show imports as well, of files that are none.
    if (file === undefined || !existsSync(file)) return whole;
    waiting.push(file);
    const from = relative(dirname(place), placeOf(file)).replace(/\.d\.ts$/, ".js");
    return `${before}"${from.startsWith(".") ? from : `./${from}`}"`;
  });
  written.set(place, text);
}
for (const name of readdirSync(TYPES)) rmSync(join(TYPES, name), { recursive: true });
for (const [place, text] of written) {
  mkdirSync(dirname(place), { recursive: true });
  writeFileSync(place, text);
}
