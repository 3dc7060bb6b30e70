import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { countOf, printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

export interface RegistryFlags {
  readonly name?: string;
  readonly limit?: string;
  readonly type?: string;
}

const USAGE = "pd registry list | add <folder, @scope, Git or tarball URL> | remove <name> | search <words> | update [name] [app]";

/** `pd registry <verb> [words…]`: where components are found by key. */
export async function registry(cli: CliContext, { verb, words }: { verb: string; words: readonly string[] }, flags: RegistryFlags): Promise<number> {
  const client = await connect(cli);
  const [first, second] = words;
  switch (verb) {
    case "list":
      return listRegistries(cli, listOf(await client.get("/v1/registries")));
    case "add":
      return add(cli, client, { location: required(first), name: flags.name });
    case "remove":
      await client.delete(`/v1/registries/${encodeURIComponent(required(first))}`);
      printNote(cli, `Removed ${first}; what was deployed from it stays`);
      return 0;
    case "update": {
      const updated = await client.post("/v1/registries/update", {
        ...(first === undefined ? {} : { name: first }),
        ...(second === undefined ? {} : { app: second }),
      });
      return listRegistries(cli, listOf(updated));
    }
    case "search":
      return search(cli, client, { query: words.join(" "), limit: countOf(flags.limit ?? "20", "--limit"), type: flags.type });
    default:
      throw new PdError("PD_BAD_INPUT", `Cannot ${JSON.stringify(verb)} registries: there are list, add, remove, search and update`, { fix: USAGE });
  }
}

function required(word: string | undefined): string {
  if (word === undefined) throw new PdError("PD_BAD_INPUT", "Cannot tell which registry is meant", { fix: USAGE });
  return word;
}

function listRegistries(cli: CliContext, registries: readonly JsonObject[]): number {
  return printRecords(cli, registries, {
    columns: ["name", "kind", "location"],
    cells: (entry) => [text(entry, "name"), text(entry, "kind"), text(entry, "location")],
    none: "No registries: pd registry add <folder>",
  });
}

async function add(cli: CliContext, client: ApiClient, { location, name }: { location: string; name: string | undefined }): Promise<number> {
  const address = location.replace(/^git\+/, "");
  const kind = location === address ? await kindOf(location) : "git";
  const place = kind === "folder" ? resolve(address) : address;
  const added = dataOf(await client.post("/v1/registries", { kind, location: place, name: name ?? defaultName(place) }));
  return printRecord(cli, added, () =>
    printLine(
      cli,
      `Added ${text(added, "name")} (${text(added, "kind")}${added["component_count"] === undefined ? "" : `, ${text(added, "component_count")} components`})`,
    ),
  );
}

async function kindOf(location: string): Promise<string> {
  if (/^@[\w.~-]+$/.test(location)) return "npm";
  if (/^https?:.*\.(tgz|tar\.gz)(\?.*)?$/.test(location)) return "tarball";
  const isFolder = await stat(location).then(
    (found) => found.isDirectory(),
    () => false,
  );
  return !isFolder && /^(https?|ssh|git|file):|^git@|\.git(#.*)?$/.test(location) ? "git" : "folder";
}

function defaultName(location: string): string {
  return basename(location.replace(/[?#].*$/, "").replace(/^@/, "")).replace(/\.(git|tgz|tar\.gz)$/, "") || "registry";
}

async function search(cli: CliContext, client: ApiClient, { query, limit, type }: { query: string; limit: number; type: string | undefined }): Promise<number> {
  const asked = new URLSearchParams({ limit: String(limit), query, ...(type === undefined ? {} : { component_type: type }) });
  const { data, page_info: page } = await client.get(`/v1/registries/search?${asked.toString()}`);
  const found = listOf({ data: data ?? [] });
  const total = isJsonObject(page) ? Number(page["total_count"]) : found.length;
  if (total > found.length) printNote(cli, `${found.length} of ${total}; more words, --type or --limit show others`);
  return printRecords(cli, found, {
    columns: ["key", "type", "version", "name", "registry"],
    cells: (entry) => [text(entry, "key"), text(entry, "component_type"), text(entry, "version"), text(entry, "name"), text(entry, "registry")],
    none: `Nothing fits ${JSON.stringify(query)}. Packages are known once their app was the first word, such as gitlab; a checkout or Git registry is searched whole`,
  });
}
