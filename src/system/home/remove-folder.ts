import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { promisify } from "node:util";
import { messageOf } from "../../domain/errors.ts";
import type { Log } from "../../ports/log.ts";

const run = promisify(execFile);

/** Logs a failure instead of throwing. */
export async function removeFolder(path: string, log: Log): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch {
    // Deep folders exceed the path length for Node, but `rm` changes into each folder.
    await run("rm", ["-rf", "--", path], { timeout: 30_000 }).catch((error: unknown) =>
      log.error("an unused folder cannot be removed", { path, reason: messageOf(error) }),
    );
  }
}
