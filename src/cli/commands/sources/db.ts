import { textAsJson } from "../../../domain/text/json.ts";
import { type CliContext, connect } from "../../context.ts";
import { printJson, printLine, printNote, printRecord } from "../../reporter.ts";

export async function list(cli: CliContext, source: string): Promise<number> {
  const client = await connect(cli);
  const state = await client.state.all(source);
  return printRecord(cli, state, () => {
    for (const [key, value] of Object.entries(state)) printLine(cli, `${key}  ${JSON.stringify(value)}`);
  });
}

export async function get(cli: CliContext, source: string, key: string): Promise<number> {
  const client = await connect(cli);
  printJson(cli, (await client.state.get(source, key)).value);
  return 0;
}

export async function set(cli: CliContext, source: string, { key, value }: { key: string; value: string }): Promise<number> {
  const client = await connect(cli);
  const stored = await client.state.set(source, key, { value: textAsJson(value) });
  return printRecord(cli, stored, () => printNote(cli, `Set ${key} to ${JSON.stringify(stored.value)}`));
}

export async function clear(cli: CliContext, source: string, key: string): Promise<number> {
  const client = await connect(cli);
  const cleared = await client.state.delete(source, key);
  return printRecord(cli, cleared, () => printNote(cli, cleared.deleted ? `Deleted ${key}` : `The key ${JSON.stringify(key)} does not exist`));
}
