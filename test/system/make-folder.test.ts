import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { makeFolder } from "../../src/system/home/make-folder.ts";
import { temporaryFolder } from "../support/home.ts";

it("is made with those above it, once, also by two at the same time", async () => {
  const folder = await temporaryFolder();
  const path = join(folder, "a/b/c");
  await Promise.all([makeFolder(path), makeFolder(path)]);
  await makeFolder(path);
  expect([(await stat(path)).isDirectory(), await readdir(folder)]).toEqual([true, ["a"]]);
});

// Node's mkdir retries these forever.
it.each([
  ["/proc/nowhere/below", "ENOENT"],
  [`${import.meta.filename}/below`, "EEXIST"],
])("is refused where there can be none: %s", async (path, code) => {
  await expect(makeFolder(path)).rejects.toMatchObject({ code });
});
