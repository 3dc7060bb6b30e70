import { mkdir, readFile, rename, rm, symlink, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished, vi } from "vitest";
import { FileWatcher } from "../../src/cli/dev/file-watcher.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryFolder } from "../support/home.ts";

/** What each check read. "": the file did not exist. */
function watchFile(file: string): string[] {
  const seen: string[] = [];
  const watcher = new FileWatcher(async () => void seen.push(await readFile(file, "utf8").catch(() => "")));
  onTestFinished(() => watcher.close());
  watcher.watch([file]);
  return seen;
}

/** Adding a folder triggers checks, which this waits for. */
async function untilQuiet(seen: readonly string[]): Promise<void> {
  await eventually(async () => seen.length >= 6);
}

it("a file that is saved again right after it was looked at twice is looked at once more", async () => {
  const file = join(await temporaryFolder(), "a.mjs");
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (const text of ["one", "two", "three", "four", "five"]) {
    await writeFile(file, text);
    await eventually(async () => seen.slice(-2).every((last) => last === text));
  }
  expect(seen.at(-1)).toBe("five");
});

it("a file that an editor replaces is looked at", async () => {
  const folder = await temporaryFolder();
  const file = join(folder, "a.mjs");
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (const text of ["one", "two", "three"]) {
    await writeFile(join(folder, "a.mjs.tmp"), text);
    await rename(join(folder, "a.mjs.tmp"), file);
    await eventually(async () => seen.at(-1) === text);
  }
  await unlink(file);
  await eventually(async () => seen.at(-1) === "");
});

it("a file is looked at in a folder that was taken away and put back, as by a checkout of another branch", async () => {
  const folder = join(await temporaryFolder(), "component");
  const file = join(folder, "a.mjs");
  await mkdir(folder);
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (const text of ["one", "two"]) {
    await rm(folder, { recursive: true });
    await eventually(async () => seen.at(-1) === "");
    await mkdir(folder);
    await writeFile(file, text);
    await eventually(async () => seen.at(-1) === text);
    await writeFile(file, `${text} again`);
    await eventually(async () => seen.at(-1) === `${text} again`);
  }
});

it("a file is looked at that comes to a folder which was not there", async () => {
  const folder = join(await temporaryFolder(), "component");
  const seen = watchFile(join(folder, "a.mjs"));
  await untilQuiet(seen);
  await mkdir(folder);
  await writeFile(join(folder, "a.mjs"), "one");
  await eventually(async () => seen.at(-1) === "one");
});

it("a look is taken when a file comes to a watched folder: it may be one that was missing", async () => {
  const folder = await temporaryFolder();
  const [file, missing] = [join(folder, "a.mjs"), join(folder, "helper.mjs")];
  await writeFile(file, "0");
  const seen: string[] = [];
  const watcher = new FileWatcher(async () => void seen.push(await readFile(missing, "utf8").catch(() => "")));
  onTestFinished(() => watcher.close());
  watcher.watch([file]);
  await untilQuiet(seen);
  await writeFile(missing, "here");
  await eventually(async () => seen.at(-1) === "here");
});

it("a change that the system tells nobody of is found all the same", async () => {
  const folder = await temporaryFolder();
  const [file, elsewhere] = [join(folder, "a.mjs"), join(await temporaryFolder(), "b.mjs")];
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  // Changes of this file are visible only through the link.
  await writeFile(elsewhere, "linked");
  await unlink(file);
  await symlink(elsewhere, file);
  await eventually(async () => seen.at(-1) === "linked");
  for (const text of ["one", "two"]) {
    await writeFile(elsewhere, text);
    await eventually(async () => seen.at(-1) === text);
  }
});

it("nothing is looked at after it was closed", async () => {
  const file = join(await temporaryFolder(), "a.mjs");
  await writeFile(file, "0");
  const seen: string[] = [];
  const closed = new FileWatcher(async () => void seen.push(await readFile(file, "utf8")));
  closed.watch([file]);
  const others = watchFile(file);
  await untilQuiet(seen);
  closed.close();
  await writeFile(file, "one");
  await eventually(async () => others.at(-1) === "one");
  expect(seen).not.toContain("one");
});

it("a file that is a link is looked at when what it leads to is saved", async () => {
  const [file, elsewhere] = [join(await temporaryFolder(), "a.mjs"), join(await temporaryFolder(), "b.mjs")];
  await writeFile(elsewhere, "0");
  await symlink(elsewhere, file);
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (const text of ["one", "two"]) {
    await writeFile(elsewhere, text);
    await eventually(async () => seen.at(-1) === text);
  }
});

it("of two saves that follow each other within 50 ms the second one is seen, whenever it comes", async () => {
  const file = join(await temporaryFolder(), "a.mjs");
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (let ms = 0; ms <= 50; ms += 2) {
    await writeFile(file, `first ${ms}`);
    await sleep(ms);
    await writeFile(file, `second ${ms}`);
    await eventually(async () => seen.at(-1) === `second ${ms}`);
  }
});

it("a save is seen on a disk that sends no events, by polling", async () => {
  // chokidar then polls instead of watching.
  vi.stubEnv("CHOKIDAR_USEPOLLING", "1");
  onTestFinished(() => void vi.unstubAllEnvs());
  const file = join(await temporaryFolder(), "a.mjs");
  await writeFile(file, "0");
  const seen = watchFile(file);
  await untilQuiet(seen);
  for (const text of ["one", "two"]) {
    await writeFile(file, text);
    await eventually(async () => seen.at(-1) === text);
  }
});
