import { type CliContext, connect } from "../context.ts";
import { printNote, printRecord } from "../reporter.ts";

/** `pd secrets rotate`: a new key for everything that is kept sealed. */
export async function rotate(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  return printRecord(cli, await client.server.rotateSecrets(), () => {
    printNote(cli, "All secrets are sealed with a new key");
    printNote(cli, "Backups of before need the old one, which is gone from here: make a new backup (pd backup <file>)");
  });
}
