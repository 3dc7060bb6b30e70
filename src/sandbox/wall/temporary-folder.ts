import { join } from "node:path";

/** The component's `/tmp`, removed with the process. */
export function temporaryFolderOf(ownFolder: string): string {
  return join(ownFolder, "tmp");
}
