import { isAgreed } from "../../ask/agree.ts";
import { PdError } from "../../../domain/errors.ts";
import { isJsonObject, ownMember, textAsJson } from "../../../domain/text/json.ts";
import { readJsonFile } from "../../code/prop-flags.ts";
import { type CliContext, connect } from "../../context.ts";
import { localTime, printJson, printLine, printNote, printRecord, printRecords } from "../../reporter.ts";

export async function list(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecords(cli, await client.dataStores.list(), {
    columns: ["name", "keys"],
    cells: ({ name, key_count: count }) => [name, count],
    none: "No data stores: pd stores create <name>, or name one in a prop",
  });
}

export async function create(cli: CliContext, name: string): Promise<number> {
  const client = await connect(cli);
  return printRecord(cli, await client.dataStores.create({ name }), () => printLine(cli, `Created ${name}`));
}

export async function remove(cli: CliContext, name: string, { force, yes }: { force?: boolean | undefined; yes?: boolean | undefined }): Promise<number> {
  if (!(await isAgreed(cli, { yes, question: `Delete the data store ${name} with its values?`, attempted: `delete the data store ${name}` }))) return 1;
  const client = await connect(cli);
  return printRecord(cli, await client.dataStores.delete(name, { force: force === true }), () => printNote(cli, `Deleted ${name}`));
}

export async function show(cli: CliContext, name: string): Promise<number> {
  const client = await connect(cli);
  printJson(cli, await client.dataStores.values(name));
  return 0;
}

export async function get(cli: CliContext, name: string, key: string): Promise<number> {
  const client = await connect(cli);
  const value = ownMember(await client.dataStores.values(name), key);
  if (value === undefined) throw notSet("get", key);
  printJson(cli, value);
  return 0;
}

export async function set(cli: CliContext, name: string, { key, value, ttl }: { key: string; value: string; ttl?: string | undefined }): Promise<number> {
  const seconds = ttl === undefined ? {} : { ttl: secondsOf(ttl) };
  const client = await connect(cli);
  return printRecord(cli, await client.dataStores.set(name, key, { value: textAsJson(value), ...seconds }), () => printNote(cli, `Set ${key}`));
}

function secondsOf(text: string): number {
  const seconds = Number(text);
  if (!(seconds > 0)) throw new PdError("PD_BAD_INPUT", `Cannot read --ttl ${JSON.stringify(text)}: expected seconds`);
  return seconds;
}

export async function keys(cli: CliContext, name: string): Promise<number> {
  const client = await connect(cli);
  const [values, expiries] = [await client.dataStores.values(name), await client.dataStores.expiries(name)];
  const records = Object.keys(values).map((key) => ({ key, expires_at_ms: ownMember(expiries, key) ?? null }));
  return printRecords(cli, records, {
    columns: ["key", "expires"],
    cells: ({ key, expires_at_ms: at }) => [key, typeof at === "number" ? localTime(at) : "never"],
    none: "The data store is empty",
  });
}

export async function unset(cli: CliContext, name: string, key: string): Promise<number> {
  const client = await connect(cli);
  const gone = await client.dataStores.unset(name, key);
  if (!gone.deleted) throw notSet("unset", key);
  return printRecord(cli, gone, () => printNote(cli, `Unset ${key}`));
}

/** Reads store → key → value. Creates missing stores. */
export async function importValues(cli: CliContext, path: string): Promise<number> {
  const given = await readJsonFile(path, "values of data stores");
  const wrong = (what: string): PdError =>
    new PdError("PD_BAD_INPUT", `Cannot import ${path}: ${what}`, { fix: 'Give JSON such as {"my-store": {"key": "value"}}' });
  const stores = Object.entries(given);
  if (stores.length === 0) throw wrong("it contains no data store");
  for (const [name, values] of stores)
    if (!isJsonObject(values))
      throw wrong(`expected an object of keys and values for ${JSON.stringify(name)}, got ${JSON.stringify(values)?.slice(0, 100) ?? "nothing"}`);
  const client = await connect(cli);
  const known = new Set((await client.dataStores.list()).map(({ name }) => name));
  const counts: { name: string; keys: number }[] = [];
  for (const [name, values] of stores) {
    if (!known.has(name)) await client.dataStores.create({ name });
    const entries = Object.entries(isJsonObject(values) ? values : {});
    for (const [key, value] of entries) await client.dataStores.set(name, key, { value: value ?? null });
    counts.push({ name, keys: entries.length });
  }
  return printRecord(cli, counts, () => {
    for (const { name, keys } of counts) printLine(cli, `${name}: ${keys} ${keys === 1 ? "value" : "values"} set`);
  });
}

function notSet(verb: string, key: string): PdError {
  return new PdError("PD_NOT_FOUND", `Cannot ${verb} ${JSON.stringify(key)}: the data store has no such key`);
}
