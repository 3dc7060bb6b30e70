import { join } from "node:path";

/** Components see this folder as `/tmp`. It is removed with the process. */
export function temporaryFolderOf(ownFolder: string): string {
  return join(ownFolder, "tmp");
}
