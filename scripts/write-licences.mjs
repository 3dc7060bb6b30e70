// The licences of the packages whose code is bundled into dist: they want to go where the code goes.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Folders of the packages that files come from, such as `node_modules/@scope/name`. */
function packagesOf(metafiles) {
  const paths = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const found = paths.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  return [...new Set(found)].filter((folder) => existsSync(join(folder, "package.json"))).toSorted((a, b) => (a < b ? -1 : 1));
}

function licenceOf(folder) {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
}

export function writeLicences(path, metafiles) {
  const parts = packagesOf(metafiles).map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `${name} ${version} (${license})\n\n${licenceOf(folder)}`.trim();
  });
  writeFileSync(path, `Parts of these packages are in the files of this folder.\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
