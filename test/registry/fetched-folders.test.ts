import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FetchedFolders } from "../../src/registry/fetched-folders.ts";
import { temporaryFolder } from "../support/home.ts";
import { silentLog } from "../../src/system/log.ts";

const write = (text: string) => async (partial: string) => {
  await writeFile(join(partial, "text"), text);
  return partial;
};

describe("a fetched folder", () => {
  it("is exchanged as a whole; a fetch that fails or finds nothing leaves the old content and no rest", async () => {
    const root = join(await temporaryFolder(), "registries");
    const folders = await FetchedFolders.open(root, silentLog);
    const folder = join(root, "npm", "app");
    expect(await folders.replace(folder, write("one"))).toBe(true);
    const failing = folders.replace(folder, async (partial) => {
      await write("half")(partial);
      throw new Error("cut off");
    });
    await expect(failing).rejects.toThrow("cut off");
    expect(await folders.replace(folder, async () => undefined)).toBe(false);
    await expect(folders.replace(folder, async (partial) => join(partial, "not-there"))).rejects.toThrow("ENOENT");
    expect(await readFile(join(folder, "text"), "utf8")).toBe("one");
    expect(await folders.replace(folder, write("two"))).toBe(true);
    expect(await readFile(join(folder, "text"), "utf8")).toBe("two");
    expect(await readdir(join(root, "npm"))).toEqual(["app"]);
  });

  it("is fetched once for all who want it at the same time", async () => {
    const root = await temporaryFolder();
    const folders = await FetchedFolders.open(root, silentLog);
    let count = 0;
    const fill = async (partial: string) => write(String(++count))(partial);
    expect(await Promise.all([1, 2, 3, 4].map(() => folders.replace(join(root, "a"), fill)))).toEqual([true, true, true, true]);
    expect([count, await readFile(join(root, "a", "text"), "utf8")]).toEqual([1, "1"]);
  });

  it("stays what it is while somebody reads it, and whoever reads later finds the new one", async () => {
    const root = await temporaryFolder();
    const folders = await FetchedFolders.open(root, silentLog);
    const folder = join(root, "a");
    await folders.replace(folder, write("one"));
    let finish = (): void => {};
    const text = () => readFile(join(folder, "text"), "utf8");
    const reading = folders.reading(folder, async () => {
      await new Promise<void>((resolve) => (finish = resolve));
      return text();
    });
    let [isFilled, isReplaced] = [false, false];
    const replacing = folders
      .replace(folder, async (partial) => {
        isFilled = true;
        return write("two")(partial);
      })
      .then(() => (isReplaced = true));
    await expect.poll(() => isFilled).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
    expect([isReplaced, await text()]).toEqual([false, "one"]);
    finish();
    expect(await reading).toBe("one");
    await replacing;
    expect(await folders.reading(folder, text)).toBe("two");
  });

  it("that was removed while it was fetched stays away, and what another has fetched under its name stays", async () => {
    const root = await temporaryFolder();
    const folders = await FetchedFolders.open(root, silentLog);
    const folder = join(root, "npm", "app");
    for (const removed of [folder, join(root, "npm")]) {
      let finish: (() => void) | undefined;
      const first = folders.replace(folder, async (partial) => {
        await new Promise<void>((resolve) => (finish = resolve));
        await mkdir(partial, { recursive: true });
        return write("first")(partial);
      });
      const refused = expect(first).rejects.toMatchObject({ code: "PD_CONFLICT" });
      await expect.poll(() => finish).toBeDefined();
      await folders.remove(removed);
      await folders.replace(folder, write("second"));
      finish?.();
      await refused;
      expect(await readFile(join(folder, "text"), "utf8")).toBe("second");
    }
  });

  it("is put back when a kill came after it was moved away", async () => {
    const root = await temporaryFolder();
    await mkdir(join(root, ".old-g"));
    await write("kept")(join(root, ".old-g"));
    await FetchedFolders.open(root, silentLog);
    expect([await readdir(root), await readFile(join(root, "g", "text"), "utf8")]).toEqual([["g"], "kept"]);
  });

  it("never lies outside; what killed fetches left is swept away", async () => {
    const root = await temporaryFolder();
    for (const name of [".partial-x", "npm/.partial-y", "npm/.old-app", "npm/app"]) await mkdir(join(root, name), { recursive: true });
    const folders = await FetchedFolders.open(root, silentLog);
    expect([await readdir(root), await readdir(join(root, "npm"))]).toEqual([["npm"], ["app"]]);
    expect(() => folders.replace(join(root, "..", "other"), write("x"))).toThrow(RangeError);
  });
});
