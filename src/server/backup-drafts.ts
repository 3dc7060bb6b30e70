import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** What else lies there is not the server's. */
const DRAFT = ".draft-";

/** Where a copy of the database lies until it is handed out. */
export function draftPath(folder: string, name: string): string {
  return join(folder, `${DRAFT}${name}.db`);
}

/** Those of a server that was killed meanwhile: each is as large as the database. */
export function dropDrafts(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name.startsWith(DRAFT)) rmSync(join(folder, name), { force: true, recursive: true });
}
