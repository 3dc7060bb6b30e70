// Removes unneeded types and adds zod's, so that users need not install zod.
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

const TYPES = join(import.meta.dirname, "..", "dist", "types");
const ENTRIES = ["index", "client/index", "component/index", "testing/index"].map((name) => join(TYPES, `${name}.d.ts`));
const ZOD = dirname(createRequire(import.meta.url).resolve("zod/package.json"));
const VENDOR = join(TYPES, "vendor", "zod");
const IMPORT = /((?<!")\bfrom\s+|\bimport\s*\(?\s*)"([@\w./:-]+)"/g;

/** Undefined for other packages and Node's modules. */
function fileOf(specifier, importer) {
  if (specifier === "zod") return join(ZOD, "index.d.ts");
  if (specifier.startsWith("zod/")) return join(ZOD, specifier.slice("zod/".length), "index.d.ts");
  if (!specifier.startsWith(".")) return undefined;
  return join(dirname(importer), specifier.replace(/(\.d)?\.(ts|js)$/, ".d.ts"));
}

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
    // IMPORT also matches examples in comments.
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
