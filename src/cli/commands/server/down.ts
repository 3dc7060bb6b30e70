import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PdError } from "../../../domain/errors.ts";
import { holdLock } from "../../../system/home/file-lock.ts";
import { readServerRecord } from "../../../system/home/server-record.ts";
import { type CliContext, findServer } from "../../context.ts";
import { settingsOf } from "../../settings-of.ts";
import { printJson, printNote } from "../../reporter.ts";
import { withSpinner } from "../../spinner.ts";

const STOP_TIMEOUT_MS = 30_000;

export async function down(cli: CliContext): Promise<number> {
  const settings = await settingsOf(cli);
  const record = readServerRecord(settings.home);
  if (record === undefined || (await findServer(settings)) === undefined) {
    if (cli.isJson) printJson(cli, { stopped: false });
    else printNote(cli, `No server runs on ${settings.home}`);
    return 0;
  }
  process.kill(record.pid, "SIGTERM");
  await withSpinner(cli, "Stopping", untilGone(settings.home, record.pid));
  if (cli.isJson) printJson(cli, { stopped: true, pid: record.pid });
  else printNote(cli, "Stopped");
  return 0;
}

/** Waits until the home is free. The process may still be a zombie then. */
async function untilGone(home: string, pid: number): Promise<void> {
  for (const started = Date.now(); Date.now() - started < STOP_TIMEOUT_MS; await sleep(20)) {
    const lock = holdLock(join(home, "server.lock"));
    lock?.release();
    const next = readServerRecord(home);
    if (lock !== undefined || (next !== undefined && next.pid !== pid)) return;
  }
  throw new PdError("PD_FAILED", `Cannot stop the server: process ${pid} still runs after ${STOP_TIMEOUT_MS / 1000} s`, {
    fix: `kill -9 ${pid}; nothing that was acknowledged is lost`,
  });
}
