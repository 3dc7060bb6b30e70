import { createWriteStream, existsSync } from "node:fs";
import { link, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isAgreed } from "../../ask/agree.ts";
import { canAsk } from "../../ask/can-ask.ts";
import { PdError, codeOf } from "../../../domain/errors.ts";
import { restoreHome } from "../../../restore-home.ts";
import { type CliContext, connect } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { printJson, printLine, printNote } from "../../reporter.ts";
import { type Bar, withBar, withSpinner } from "../../spinner.ts";

/** A consistent snapshot of a running server. */
export async function backup(cli: CliContext, path: string): Promise<number> {
  const target = resolve(path);
  if (existsSync(target)) throw isTaken(target);
  if (!existsSync(dirname(target)))
    throw new PdError("PD_FILE_NOT_FOUND", `Cannot write a backup to ${target}: its folder does not exist`, { fix: `mkdir -p ${dirname(target)}` });
  const { home } = await settingsOf(cli);
  if (OF_THE_SERVER.test(basename(target)) && existsSync(home) && (await realpath(dirname(target))) === (await realpath(home)))
    throw new PdError("PD_BAD_INPUT", `Cannot write a backup to ${target}: the server uses a file of this name`, { fix: "Choose another name" });
  const client = await connect(cli);
  const draft = `${target}.${process.pid}.part`;
  try {
    await withBar(cli, "Backing up", async ({ tick }) => {
      const { bytes, body } = await client.connection.download("/v1/backup");
      await pipeline(Readable.from(counted(body, bytes, tick)), createWriteStream(draft, { mode: 0o600, flags: "wx", flush: true }));
    });
    await putInPlace(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  const { size } = await stat(target);
  if (cli.isJson) printJson(cli, { path: target, bytes: size });
  else printLine(cli, `Wrote ${target} (${megabytes(size)} MB)`);
  printNote(cli, "Its secrets are sealed: keep the key apart from the backup (pd status shows where the key is)");
  return 0;
}

const OF_THE_SERVER = /^(headwater\.(db(-(wal|shm|journal))?|mark)|server\.(json|lock|log)|api-key|secret-key|child\.cjs|dev-attachments\.json)$/;

function isTaken(target: string): PdError {
  return new PdError("PD_CONFLICT", `Cannot write a backup to ${target}: it exists`, { fix: "Choose another name" });
}

/** Does not overwrite a file created in the meantime. */
async function putInPlace(draft: string, target: string): Promise<void> {
  try {
    await link(draft, target);
  } catch (error) {
    if (codeOf(error) === "EEXIST") throw isTaken(target);
    // Some file systems have no hard links.
    if (existsSync(target)) throw isTaken(target);
    return rename(draft, target);
  }
  // The backup is complete without this.
  await rm(draft, { force: true }).catch(() => {});
}

async function* counted(body: AsyncIterable<Uint8Array>, bytes: number, tick: Bar["tick"]): AsyncGenerator<Uint8Array> {
  let done = 0;
  for await (const chunk of body) {
    yield chunk;
    done += chunk.length;
    tick(done, bytes, `${megabytes(done)} of ${megabytes(bytes)} MB`);
  }
}

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}

export async function restore(cli: CliContext, path: string, { yes }: { yes?: boolean | undefined }): Promise<number> {
  const { home, databaseUrl } = await settingsOf(cli);
  if (databaseUrl !== "")
    throw new PdError("PD_BAD_INPUT", `Cannot restore ${path}: the data of this server is on PostgreSQL`, { fix: "Restore a pg_dump with pg_restore" });
  // When it cannot ask, `restoreHome` throws and says what it would replace.
  const isAsked = yes !== true && canAsk(cli, {}) && existsSync(join(home, "headwater.db"));
  if (isAsked && !(await isAgreed(cli, { yes, question: `Replace the data in ${home} with ${path}?`, attempted: "restore" }))) return 1;
  const mayReplace = yes === true || isAsked;
  const restored = await withSpinner(cli, `Restoring ${path}`, restoreHome(resolve(path), { home, mayReplace }));
  if (cli.isJson) printJson(cli, { ...restored });
  else printLine(cli, `Restored ${told(restored)}`);
  if (restored.before !== undefined) printNote(cli, `The previous data is in ${restored.before}`);
  return 0;
}

function told({ sources, workflows, events }: { sources: number; workflows: number; events: number }): string {
  const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
  const ofWorkflows = workflows === 0 ? [] : [counted(workflows, "workflow")];
  return `${[counted(sources, "source"), ...ofWorkflows].join(", ")} and ${counted(events, "event")}`;
}
