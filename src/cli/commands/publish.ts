import { PdError } from "../../domain/errors.ts";
import { dataOf } from "../api-client.ts";
import { codeOf } from "../component-target.ts";
import { type CliContext, connect } from "../context.ts";
import { printJson, printLine, printNote, printRecord, table, text } from "../reporter.ts";

/** `pd publish <file>`: keeps a component under its key, in a version that is new. Failures are JSON as well with --json. */
export async function publish(cli: CliContext, target: string): Promise<number> {
  try {
    const code = await codeOf(target);
    const client = await connect(cli);
    const saved = dataOf(await client.post("/v1/components", { ...code, publish: true }));
    const row = [text(saved, "id"), text(saved, "name"), text(saved, "version"), "just now", text(saved, "key")];
    return printRecord(cli, saved, () => printLine(cli, table(["id", "name", "version", "published", "key"], [row])));
  } catch (error) {
    if (cli.isJson && error instanceof PdError) printJson(cli, { error: error.message, code: error.code });
    throw error;
  }
}

/** `pd unpublish [component] <key>`: takes away what was published under it. */
export async function unpublish(cli: CliContext, words: readonly string[], { only: version }: { only?: string }): Promise<number> {
  const [key, ...rest] = words[0] === "component" && words.length > 1 ? words.slice(1) : words;
  if (key === undefined || rest.length > 0) throw new PdError("PD_BAD_INPUT", "Cannot tell what to unpublish", { fix: "pd unpublish component <key>" });
  const client = await connect(cli);
  const gone = dataOf(
    await client.delete(`/v1/components/${encodeURIComponent(key)}${version === undefined ? "" : `?version=${encodeURIComponent(version)}`}`),
  );
  return printRecord(cli, gone, () => printNote(cli, `Unpublished ${key}; sources that run it go on`));
}
