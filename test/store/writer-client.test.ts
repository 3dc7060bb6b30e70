import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { errorText } from "../../src/store/sqlite/writing/writer.ts";
import { WriterClient } from "../../src/store/sqlite/writing/writer-client.ts";
import { temporaryFolder } from "../support/home.ts";

it("a write is in doubt when the writer's thread ends without an answer, and is refused afterwards", async () => {
  const folder = await temporaryFolder();
  const entry = join(folder, "writer.mjs");
  await writeFile(
    entry,
    'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => { throw new Error("no memory"); }); parentPort.postMessage({ id: 0 });',
  );
  const writer = await WriterClient.start({ entry, path: "", migrations: "", onRevision: () => {} });
  const both = await Promise.allSettled([writer.write("deleteKey", "one"), writer.write("deleteKey", "two")]);
  expect(both).toMatchObject([{ reason: { code: "PD_IN_DOUBT", message: expect.stringContaining("no memory") } }, { reason: { code: "PD_IN_DOUBT" } }]);
  await expect(writer.write("deleteKey", "three")).rejects.toMatchObject({ code: "PD_NOT_STORED", message: expect.stringContaining("no memory") });
});

it("a write that another program held up is not stored, which is no fault of what was to be written", () => {
  const held = Object.assign(new Error("database is locked"), { code: "SQLITE_BUSY_SNAPSHOT" });
  expect(errorText(held)).toMatchObject({
    code: "PD_NOT_STORED",
    message: expect.stringContaining("SQLITE_BUSY_SNAPSHOT"),
    fix: expect.stringContaining("Stop other programs"),
  });
  expect(errorText(Object.assign(new Error("a constraint"), { code: "SQLITE_CONSTRAINT" }))).toMatchObject({ code: "PD_FAILED" });
});
