import { createWriteStream, existsSync } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { PdError } from "../../domain/errors.ts";
import { restoreDatabase } from "../../store/sqlite/restore.ts";
import { holdLock } from "../../store/sqlite/open.ts";
import { systemClock } from "../../system/clock.ts";
import { makeHome } from "../../system/home-folder.ts";
import { type CliContext, connect, settingsOf } from "../context.ts";
import { printJson, printLine, printNote } from "../reporter.ts";

/** `pd backup <file>`: everything that the server keeps, as of one moment, while it goes on. */
export async function backup(cli: CliContext, path: string): Promise<number> {
  const target = resolve(path);
  if (existsSync(target)) throw new PdError("PD_CONFLICT", `Cannot write a backup to ${target}: there is a file already`, { fix: "Choose another name" });
  const client = await connect(cli);
  const draft = `${target}.${process.pid}.part`;
  try {
    const body = await client.download("/v1/backup");
    await pipeline(Readable.from(body), createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true }));
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const { size } = await stat(target);
  if (cli.isJson) printJson(cli, { path: target, bytes: size });
  else printLine(cli, `Wrote ${target} (${(size / 1e6).toFixed(1)} MB)`);
  printNote(cli, "Secrets in it are sealed: keep the key apart from it (pd status tells where it is)");
  return 0;
}

/** `pd restore <file>`: puts a backup in the place of the database of a server that does not run. */
export async function restore(cli: CliContext, path: string, { yes }: { yes?: boolean }): Promise<number> {
  const settings = await settingsOf(cli);
  const home = await makeHome(settings.home);
  const lock = holdLock(join(home, "server.lock"));
  if (lock === undefined) throw new PdError("PD_HOME_IN_USE", `Cannot restore ${path}: a server runs on ${home}`, { fix: "pd down" });
  try {
    const database = join(home, "headwater.db");
    if (existsSync(database) && yes !== true)
      throw new PdError("PD_CONFLICT", `Cannot restore ${path}: ${home} has a database`, { fix: "--yes moves it aside and puts the backup in its place" });
    const restored = await restoreDatabase(resolve(path), database, systemClock.now());
    if (cli.isJson) printJson(cli, { ...restored });
    else printLine(cli, `Restored ${restored.sources} sources and ${restored.events} events`);
    if (restored.before !== undefined) printNote(cli, `What was there lies in ${restored.before}`);
    return 0;
  } finally {
    lock.release();
  }
}
