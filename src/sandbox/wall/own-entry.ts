import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeWhole } from "../../system/home/whole-files.ts";

/** Copies the built entry into the home, because the program may be upgraded or rebuilt while the server runs. Returns the copy's path. */
export async function copyEntry(built: string, home: string): Promise<string> {
  const own = join(home, basename(built));
  await writeWhole(own, await readFile(built, "utf8"));
  return own;
}
