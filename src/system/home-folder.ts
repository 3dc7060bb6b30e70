import { mkdir, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { PdError, messageOf } from "../domain/errors.ts";

/** Makes PD_HOME, for its owner alone, where it is not there yet. Returns its real path. Throws PD_HOME_UNUSABLE. */
export async function makeHome(path: string): Promise<string> {
  try {
    await makeFolder(path);
    return await realpath(path);
  } catch (error) {
    throw new PdError("PD_HOME_UNUSABLE", `Cannot keep anything in ${path}: ${messageOf(error)}`, { cause: error });
  }
}

/** Folder by folder: Node's own recursive mkdir never ends where the system refuses to make folders, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  if (await isFolder(path)) return;
  const above = dirname(path);
  if (above !== path) await makeFolder(above);
  await mkdir(path, { mode: 0o700 }).catch(async (error: unknown) => {
    if (!(await isFolder(path))) throw error;
  });
}

function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
