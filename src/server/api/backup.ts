import { createReadStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Hono } from "hono";
import type { Clock } from "../../ports/clock.ts";
import type { Store } from "../../ports/store.ts";
import { draftPath } from "../backup-drafts.ts";

export interface BackupSettings extends Pick<Store, "copyTo"> {
  /** A folder of the server's own, where copies lie until they are handed out. */
  readonly drafts: string;
  readonly clock: Clock;
}

/** GET /v1/backup: the whole database as one file, as it is at one moment. Secrets in it are sealed. */
export function mountBackup(app: Hono, { copyTo, drafts, clock }: BackupSettings): void {
  app.get("/v1/backup", async ({ req }) => {
    const type = "application/vnd.sqlite3";
    // Nobody would read the copy.
    if (req.method === "HEAD") return new Response(null, { headers: { "content-type": type } });
    await mkdir(drafts, { recursive: true, mode: 0o700 });
    const draft = draftPath(drafts, clock.randomText(12));
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
