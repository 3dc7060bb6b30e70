/** `/tmp` as a component knows it: a folder in its own one, which is gone with its process. */
import { join } from "node:path";

export function temporaryFolderOf(ownFolder: string): string {
  return join(ownFolder, "tmp");
}

/** What a component calls it: `/tmp`, as on the hosted platform, where that may lead there. */
export function temporaryNameOf(ownFolder: string): string {
  return ownFolder.startsWith("/tmp/") ? temporaryFolderOf(ownFolder) : "/tmp";
}
