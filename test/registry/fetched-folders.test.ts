import { mkdir, readFile, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { FetchedFolders } from "../../src/registry/fetched-folders.ts";
import { temporaryFolder } from "../support/home.ts";

const write = (text: string) => async (partial: string) => {
  await writeFile(join(partial, "text"), text);
  return partial;
};

describe("a fetched folder", () => {
  it("is exchanged as a whole; a fetch that fails or finds nothing leaves the old content and no rest", async () => {
    const root = await temporaryFolder();
    const folders = await FetchedFolders.open(root);
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
    const folders = await FetchedFolders.open(root);
    let count = 0;
    const fill = async (partial: string) => write(String(++count))(partial);
    expect(await Promise.all([1, 2, 3, 4].map(() => folders.replace(join(root, "a"), fill)))).toEqual([true, true, true, true]);
    expect([count, await readFile(join(root, "a", "text"), "utf8")]).toEqual([1, "1"]);
  });

  it("never lies outside; what killed fetches left is swept away", async () => {
    const root = await temporaryFolder();
    for (const name of [".partial-x", "npm/.partial-y", "npm/.old-app", "npm/app"]) await mkdir(join(root, name), { recursive: true });
    const folders = await FetchedFolders.open(root);
    expect([await readdir(root), await readdir(join(root, "npm"))]).toEqual([["npm"], ["app"]]);
    expect(() => folders.replace(join(root, "..", "other"), write("x"))).toThrow(RangeError);
  });
});
