import { PdError } from "../../domain/errors.ts";
import { isJsonObject, parseJson } from "../../domain/json.ts";
import { dataOf } from "../api-client.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, printNote } from "../reporter.ts";

interface DbCall {
  readonly verb: string;
  readonly source: string;
  readonly key: string | undefined;
  readonly value: string | undefined;
}

/** `pd db get|set|list|delete <source> [key] [value]`: a source's key-value store from outside. */
export async function db(cli: CliContext, { verb, source, key, value }: DbCall): Promise<number> {
  const client = await connect(cli);
  const base = `/v1/sources/${encodeURIComponent(source)}/state`;
  switch (verb) {
    case "list":
      return printState(cli, dataOf(await client.get(base)));
    case "get": {
      const found = dataOf(await client.get(`${base}/${pathKey(verb, key)}`))["value"] ?? null;
      printLine(cli, JSON.stringify(found));
      return 0;
    }
    case "set": {
      if (value === undefined) throw usage("set <source> <key> <value>");
      const stored = dataOf(await client.put(`${base}/${pathKey(verb, key)}`, { value: parseJson(value) ?? value }));
      if (cli.isJson) printJson(cli, stored);
      else printNote(cli, `Set ${String(key)} to ${JSON.stringify(stored["value"])}`);
      return 0;
    }
    case "delete": {
      const deleted = dataOf(await client.delete(`${base}/${pathKey(verb, key)}`));
      if (cli.isJson) printJson(cli, deleted);
      else printNote(cli, deleted["deleted"] === true ? `Deleted ${String(key)}` : `There was no key ${JSON.stringify(key)}`);
      return 0;
    }
    default:
      throw usage("get|set|list|delete <source> [key] [value]");
  }
}

function pathKey(verb: string, key: string | undefined): string {
  if (key === undefined) throw usage(`${verb} <source> <key>`);
  return encodeURIComponent(key);
}

function usage(wanted: string): PdError {
  return new PdError("PD_BAD_INPUT", "Cannot tell what to do with the store", { fix: `pd db ${wanted}` });
}

function printState(cli: CliContext, state: Record<string, unknown>): number {
  if (cli.isJson) printJson(cli, isJsonObject(state) ? state : {});
  else for (const [key, value] of Object.entries(state)) printLine(cli, `${key}  ${JSON.stringify(value)}`);
  return 0;
}
