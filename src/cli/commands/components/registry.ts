import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { IndexedRecord, RegistryRecord } from "../../../api/registries.ts";
import { type Client, everyPage } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { didYouMean } from "../../../domain/text/did-you-mean.ts";
import { type CliContext, connect } from "../../context.ts";
import { countOf, printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const registries = await client.registries.list();
  tellProblems(cli, registries);
  return show(cli, registries);
}

function tellProblems(cli: CliContext, registries: readonly RegistryRecord[]): void {
  for (const { name, problem } of registries) if (problem !== undefined) printNote(cli, `Cannot find components of ${name}: ${problem}`);
}

function show(cli: CliContext, registries: readonly RegistryRecord[]): number {
  return printRecords(cli, registries, {
    columns: ["name", "kind", "location"],
    cells: ({ name, kind, location }) => [name, kind, location],
    none: "No registries: pd registry add <folder>",
  });
}

export async function add(cli: CliContext, location: string, { name }: { name?: string | undefined }): Promise<number> {
  const client = await connect(cli);
  const address = location.replace(/^git\+/, "");
  const kind = location === address ? await kindOf(location) : "git";
  const place = kind === "folder" ? resolve(address) : address;
  const added = await client.registries.add({ kind, location: place, name: name ?? freeName(place, await client.registries.list()) });
  const { component_count: count } = added;
  return printRecord(cli, added, () =>
    printLine(cli, `Added ${added.name} (${added.kind}${count === undefined ? "" : `, ${count} component${count === 1 ? "" : "s"}`})`),
  );
}

async function kindOf(location: string): Promise<RegistryRecord["kind"]> {
  if (/^@[\w.~-]+$/.test(location)) return "npm";
  if (/^https?:.*\.(tgz|tar\.gz)(\?.*)?$/.test(location)) return "tarball";
  const isFolder = await stat(location).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return !isFolder && /^(https?|ssh|git|file):|^git@|\.git(#.*)?$/.test(location) ? "git" : "folder";
}

/** The location's last part. When that is taken, adds the part before, else a number. */
function freeName(location: string, others: readonly RegistryRecord[]): string {
  const taken = new Set(others.map(({ name }) => name));
  const parts = location
    .replace(/[?#].*$/, "")
    .replace(/\.(git|tgz|tar\.gz)$/, "")
    .split(/[^\w.-]+/)
    .filter((part) => /^[a-z0-9]/i.test(part));
  const [last = "registry", before] = parts.toReversed();
  const wanted = [last, ...(before === undefined ? [] : [`${before}-${last}`])];
  const numbered = Array.from({ length: others.length + 1 }, (_, index) => `${last}-${index + 2}`);
  return [...wanted, ...numbered].find((name) => !taken.has(name)) ?? last;
}

export async function remove(cli: CliContext, name: string): Promise<number> {
  const client = await connect(cli);
  return printRecord(cli, await client.registries.remove(name), () => printNote(cli, `Removed ${name}; components deployed from it stay`));
}

export async function update(cli: CliContext, name: string | undefined, app: string | undefined): Promise<number> {
  const client = await connect(cli);
  return show(cli, await client.registries.update({ name, app }));
}

interface SearchFlags {
  readonly limit: string;
  readonly type?: string | undefined;
}

/** Packages are fetched by app, so the first word decides what can be found. */
async function nothingFound(client: Client, word: string): Promise<string> {
  const wanted = word.toLowerCase();
  const slugs = (await everyPage((after) => client.apps.list(after))).map(({ name_slug: slug }) => slug);
  if (slugs.includes(wanted))
    return `No registry has a package of ${wanted} with this. The public components are more than their packages: pd registry add https://github.com/PipedreamHQ/pipedream`;
  return `Begin with the app, such as gitlab${didYouMean(wanted, slugs)}. A checkout or Git registry is searched whole`;
}

const TYPES: readonly IndexedRecord["component_type"][] = ["source", "action"];

export async function search(cli: CliContext, words: readonly string[], { limit, type }: SearchFlags): Promise<number> {
  const wanted = TYPES.find((known) => known === type);
  if (type !== undefined && wanted === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use --type ${JSON.stringify(type)}: expected source or action`, { fix: "--type source" });
  const client = await connect(cli);
  const query = words.join(" ");
  const { data, page_info: page } = await client.registries.search({ limit: countOf(limit, "--limit"), query, component_type: wanted });
  tellProblems(cli, await client.registries.list());
  if (data.length === 0 && !cli.isJson) printNote(cli, await nothingFound(client, words[0] ?? ""));
  if (page.total_count > data.length) printNote(cli, `${data.length} of ${page.total_count}; use more words, --type or --limit to see others`);
  return printRecords(cli, data, {
    columns: ["key", "type", "version", "name", "registry"],
    cells: ({ key, component_type: kind, version, name, registry }) => [key, kind, version, name, registry === "" ? "this server" : registry],
    none: `Nothing matches ${JSON.stringify(query)}`,
  });
}
