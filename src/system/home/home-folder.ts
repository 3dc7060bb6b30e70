import { chmod, realpath } from "node:fs/promises";
import { join } from "node:path";
import { PdError, codeOf, messageOf } from "../../domain/errors.ts";
import { makeFolder } from "./make-folder.ts";

/** Returns the real path. Throws PD_HOME_UNUSABLE. */
export async function makeHome(path: string): Promise<string> {
  try {
    await makeFolder(path, 0o700);
    return await realpath(path);
  } catch (error) {
    throw new PdError("PD_HOME_UNUSABLE", `Cannot use the folder ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** The home may contain other files. */
const OWN_FILES = [
  "headwater.db",
  "headwater.db-wal",
  "headwater.db-shm",
  "headwater.mark",
  "server.lock",
  "server.json",
  "server.log",
  "api-key",
  "secret-key",
  "child.cjs",
  "dev-attachments.json",
];
const OWN_FOLDERS = ["packages", "registries", "run", "conformance", "filters", "npm-cache", "backups", "compiled"];

/** Restricts existing files, and future ones by the umask. Throws PD_HOME_UNUSABLE. */
export async function keepPrivate(home: string): Promise<void> {
  process.umask(0o077);
  const modes: (readonly [string, number])[] = [
    [home, 0o700],
    ...OWN_FOLDERS.map((name) => [join(home, name), 0o700] as const),
    ...OWN_FILES.map((name) => [join(home, name), 0o600] as const),
  ];
  for (const [path, mode] of modes) {
    await chmod(path, mode).catch((error: unknown) => {
      if (codeOf(error) !== "ENOENT") throw new PdError("PD_HOME_UNUSABLE", `Cannot restrict ${path} to its owner: ${messageOf(error)}`, { cause: error });
    });
  }
}
