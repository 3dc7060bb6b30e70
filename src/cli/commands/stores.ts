import { PdError } from "../../domain/errors.ts";
import { type JsonObject, parseJson } from "../../domain/json.ts";
import { type ApiClient, dataOf, listOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, printNote, printRecord, printRecords, text } from "../reporter.ts";

const USAGE = "pd stores list | create <name> | delete <name> | show <name> | get <name> <key> | set <name> <key> <value> | unset <name> <key>";

const VERBS = new Set(["list", "create", "delete", "show", "get", "set", "unset"]);

/** `pd stores <verb> [words…]`: data stores, which components share. */
export async function stores(cli: CliContext, { verb, words }: { verb: string; words: readonly string[] }, { force }: { force?: boolean }): Promise<number> {
  if (!VERBS.has(verb)) throw new PdError("PD_BAD_INPUT", `Cannot ${JSON.stringify(verb)} data stores`, { fix: USAGE });
  const client = await connect(cli);
  const [name, key, value] = words;
  if (verb === "list") return listStores(cli, listOf(await client.get("/v1/data_stores")));
  if (name === undefined) throw new PdError("PD_BAD_INPUT", "Cannot tell which data store is meant", { fix: USAGE });
  const path = `/v1/data_stores/${encodeURIComponent(name)}`;
  switch (verb) {
    case "create":
      return printRecord(cli, dataOf(await client.post("/v1/data_stores", { name })), () => printLine(cli, `Made ${name}`));
    case "delete":
      return printRecord(cli, dataOf(await client.delete(force === true ? `${path}?force=true` : path)), () => printNote(cli, `Deleted ${name}`));
    case "show":
      printJson(cli, dataOf(await client.get(`${path}/values`)));
      return 0;
    default:
      return changeValue(cli, client, { verb, path, key, value });
  }
}

interface ValueChange {
  readonly verb: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly value: string | undefined;
}

async function changeValue(cli: CliContext, client: ApiClient, { verb, path, key, value }: ValueChange): Promise<number> {
  if (key === undefined || (verb === "set" && value === undefined))
    throw new PdError("PD_BAD_INPUT", `Cannot ${verb} a value: a word is missing`, { fix: USAGE });
  const place = `${path}/values/${encodeURIComponent(key)}`;
  switch (verb) {
    case "get": {
      const found = dataOf(await client.get(`${path}/values`))[key];
      if (found === undefined) throw notSet("get", key);
      printJson(cli, found);
      return 0;
    }
    case "set":
      return printRecord(cli, dataOf(await client.put(place, { value: parseJson(value ?? "") ?? value ?? null })), () => printNote(cli, `Set ${key}`));
    default: {
      const gone = dataOf(await client.delete(place));
      if (gone["deleted"] !== true) throw notSet("unset", key);
      return printRecord(cli, gone, () => printNote(cli, `Unset ${key}`));
    }
  }
}

function notSet(verb: string, key: string): PdError {
  return new PdError("PD_NOT_FOUND", `Cannot ${verb} ${JSON.stringify(key)}: the data store has no such key`);
}

function listStores(cli: CliContext, found: readonly JsonObject[]): number {
  return printRecords(cli, found, {
    columns: ["name", "keys"],
    cells: (store) => [text(store, "name"), text(store, "key_count")],
    none: "No data stores: pd stores create <name>, or name one in a prop",
  });
}
