import { createReadStream } from "node:fs";
import { mkdir, rm, stat } from "node:fs/promises";
import { Readable } from "node:stream";
import type { Hono } from "hono";
import type { Clock } from "../../../ports/clock.ts";
import type { Store } from "../../../ports/stores/store.ts";
import { draftPath } from "../../backup-drafts.ts";

export interface BackupSettings extends Pick<Store, "copyTo"> {
  readonly drafts: string;
  readonly clock: Clock;
}

/** GET /v1/backup: the database as one file, with secrets still sealed. */
export function mountBackup(app: Hono, { copyTo, drafts, clock }: BackupSettings): void {
  app.get("/v1/backup", async ({ req }) => {
    const type = "application/vnd.sqlite3";
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
    file.once("close", () => void rm(draft, { force: true }));
    const body = Readable.toWeb(file);
    return new Response(body instanceof ReadableStream ? body : null, {
      headers: { "content-type": type, "content-length": String(size) },
    });
  });
}
