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

/** The text of a licence, without the line that says whose it is. */
function bodyOf(text) {
  return text.replace(/^[^]*?(?=Permission is hereby granted)/, "");
}

/** Some packages name their licence and leave its text out: it is that of others under the same licence, with their author. */
function standsFor({ license, author, repository, name }, texts) {
  const holder =
    (typeof author === "string" ? author : author?.name) ?? `the authors of ${typeof repository === "string" ? repository : (repository?.url ?? name)}`;
  const body = bodyOf(texts.find((one) => one.license === license && bodyOf(one.text) !== one.text)?.text ?? "");
  return body === "" ? `Its licence is ${license}, whose text it does not bring along; it is by ${holder}.` : `Copyright (c) ${holder}\n\n${body}`;
}

export function writeLicences(path, metafiles) {
  const packages = packagesOf(metafiles).map((folder) => ({ ...JSON.parse(readFileSync(join(folder, "package.json"), "utf8")), text: licenceOf(folder) }));
  const parts = packages.map(({ text, ...facts }) => `${facts.name} ${facts.version} (${facts.license})\n\n${text === "" ? standsFor(facts, packages) : text}`);
  writeFileSync(path, `Parts of these packages are in the files of this folder.\n\n${parts.join(`\n\n${"-".repeat(80)}\n\n`)}\n`);
}
