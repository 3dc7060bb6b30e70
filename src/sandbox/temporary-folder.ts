import { join } from "node:path";

/** `/tmp` as a component knows it: a folder in its own one, which is gone with its process. */
export function temporaryFolderOf(ownFolder: string): string {
  return join(ownFolder, "tmp");
}
