import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { FileWatcher } from "../../src/cli/dev/file-watcher.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/home.ts";

it("a file that is saved again right after it was looked at twice is looked at once more", async () => {
  const file = join(await temporaryFolder(), "a.mjs");
  await writeFile(file, "0");
  const seen: string[] = [];
  const watcher = new FileWatcher(async () => void seen.push(await readFile(file, "utf8")));
  onTestFinished(() => watcher.close());
  watcher.watch([file]);
  // Looks that come by themselves after a folder was added.
  await eventually(async () => seen.length >= 6);
  for (const text of ["one", "two", "three", "four", "five"]) {
    await writeFile(file, text);
    await eventually(async () => seen.slice(-2).every((last) => last === text));
  }
  expect(seen.at(-1)).toBe("five");
});
