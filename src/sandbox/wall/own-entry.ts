import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeWhole } from "../../system/home/whole-files.ts";

/**
 * Copies the built entry into the home and returns the copy's path. Processes start from the copy, because the program may
 * be upgraded or rebuilt while the server runs.
 */
export async function copyEntry(built: string, home: string): Promise<string> {
  const own = join(home, basename(built));
  await writeWhole(own, await readFile(built, "utf8"));
  return own;
}
