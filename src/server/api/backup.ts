import { createReadStream, existsSync, readdirSync, rmSync } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type { Hono } from "hono";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";

export interface BackupSettings extends Pick<Store, "copyTo"> {
  /** A folder of the server's own, where the copy lies until it is handed out. */
  readonly folder: string;
  readonly clock: Clock;
}

/** What else lies there is not the server's. */
const DRAFT = ".draft-";

/** GET /v1/backup: the whole database as one file, as it is at one moment. Secrets in it are sealed. */
export function mountBackup(app: Hono, { copyTo, folder, clock }: BackupSettings): void {
  const drafts = join(folder, "backups");
  dropDrafts(drafts);
  app.get("/v1/backup", async ({ req }) => {
    const type = "application/vnd.sqlite3";
    // Nobody would read the copy.
    if (req.method === "HEAD") return new Response(null, { headers: { "content-type": type } });
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    const draft = join(drafts, `${DRAFT}${clock.randomText(12)}.db`);
    try {
      await copyTo(draft);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
    const { size } = await stat(draft);
    const file = createReadStream(draft);
    // However the answer ends, the copy goes.
    file.once("close", () => void rm(draft, { force: true }));
    const body = Readable.toWeb(file);
    return new Response(body instanceof ReadableStream ? body : null, {
      headers: { "content-type": type, "content-length": String(size) },
    });
  });
}

/** Those of a server that was killed meanwhile: each is as large as the database. */
function dropDrafts(folder: string): void {
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) if (name.startsWith(DRAFT)) rmSync(join(folder, name), { force: true });
}
