import { type CliContext, connect } from "../../context.ts";
import { printNote, printRecord } from "../../reporter.ts";

export async function rotate(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const rotated = await client.server.rotateSecrets();
  const { left } = rotated;
  return printRecord(cli, rotated, () => {
    if (left > 0) return printNote(cli, `All secrets but ${left} are sealed with a new key. Those that cannot be opened stay, as do earlier keys: pd doctor`);
    printNote(cli, "All secrets are sealed with a new key");
    printNote(cli, "Earlier backups need the old key, which was deleted here: make a new backup (pd backup <file>)");
  });
}
