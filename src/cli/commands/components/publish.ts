import { PdError } from "../../../domain/errors.ts";
import { codeOf } from "../../code/component-target.ts";
import { type CliContext, connect } from "../../context.ts";
import { printLine, printNote, printRecord, table } from "../../reporter.ts";

/** The version must be new. */
export async function publish(cli: CliContext, target: string): Promise<number> {
  const code = await codeOf(target);
  const client = await connect(cli);
  const saved = await client.components.save({ ...code, publish: true });
  const row = [saved.id, saved.name, saved.version, "just now", saved.key ?? ""];
  return printRecord(cli, saved, () => printLine(cli, table(["id", "name", "version", "published", "key"], [row])));
}

export async function unpublish(cli: CliContext, words: readonly string[], { only: version }: { only?: string | undefined }): Promise<number> {
  const [key, ...rest] = words[0] === "component" && words.length > 1 ? words.slice(1) : words;
  if (key === undefined || rest.length > 0)
    throw new PdError("PD_BAD_INPUT", "Cannot unpublish: expected one component key", { fix: "pd unpublish component <key>" });
  const client = await connect(cli);
  return printRecord(cli, await client.components.unpublish(key, { version }), () => printNote(cli, `Unpublished ${key}; sources that use it keep running`));
}
