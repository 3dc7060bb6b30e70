import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

function packagesOf(metafiles) {
  const paths = metafiles.flatMap(({ inputs }) => Object.keys(inputs));
  const found = paths.flatMap((path) => /^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/.exec(path)?.[0] ?? []);
  return [...new Set(found)].filter((folder) => existsSync(join(folder, "package.json"))).toSorted((a, b) => (a < b ? -1 : 1));
}

function licenceOf(folder) {
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  return file === undefined ? "" : readFileSync(join(folder, file), "utf8").trim();
}

function bodyOf(text) {
  return text.replace(/^[^]*?(?=Permission is hereby granted)/, "");
}

/** For packages without a licence text: that of another package, with this author's name. */
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
