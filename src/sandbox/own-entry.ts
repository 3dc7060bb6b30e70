import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeWhole } from "../system/whole-files.ts";

/**
 * A copy of the built entry in the home, which processes are started by: the program may be replaced by a newer one, or
 * be built again, while the server runs. Resolves to its path.
 */
export async function copyEntry(built: string, home: string): Promise<string> {
  const own = join(home, basename(built));
  await writeWhole(own, await readFile(built, "utf8"));
  return own;
}
