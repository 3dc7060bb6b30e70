import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const DRAFT = ".draft-";

export function draftPath(folder: string, name: string): string {
  return join(folder, `${DRAFT}${name}.db`);
}

/** A killed server leaves copies as large as the database. */
export function dropDrafts(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name.startsWith(DRAFT)) rmSync(join(folder, name), { force: true, recursive: true });
}
