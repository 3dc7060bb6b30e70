import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { messageOf } from "../domain/errors.ts";
import type { Log } from "../ports/log.ts";

const run = promisify(execFile);

/** Removes what somebody has left, however deep it is nested. What cannot be removed is told, and stays. */
export async function removeFolder(path: string, log: Log): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // Node passes whole paths, which the system takes up to a length only; rm goes from folder to folder.
    await run("rm", ["-rf", "--", path], { timeout: 30_000 }).catch((error: unknown) =>
      log.error("a folder that nobody needs any more cannot be removed", { path, reason: messageOf(error) }),
    );
  }
}
