import { type CliContext, connect } from "../context.ts";
import { printNote, printRecord } from "../reporter.ts";

export async function rotate(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const rotated = await client.server.rotateSecrets();
  const { left } = rotated;
  return printRecord(cli, rotated, () => {
    if (left > 0) return printNote(cli, `All secrets but ${left} are sealed with a new key. What cannot be opened stays, and so do earlier keys: pd doctor`);
    printNote(cli, "All secrets are sealed with a new key");
    printNote(cli, "Backups of before need the old one, which is gone from here: make a new backup (pd backup <file>)");
  });
}
