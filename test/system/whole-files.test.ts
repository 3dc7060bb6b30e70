import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readNow, readStable } from "../../src/system/home/whole-files.ts";
import { temporaryFolder } from "../support/home.ts";

describe("readStable", () => {
  it("does not wait for a pipe or a device to end", async () => {
    const pipe = join(await temporaryFolder(), "pipe.mjs");
    execFileSync("mkfifo", [pipe]);
    for (const path of [pipe, "/dev/zero"]) {
      await expect(readStable(path)).rejects.toThrow(`Cannot read ${path}: not a regular file`);
      expect(() => readNow(path)).toThrow(`Cannot read ${path}: not a regular file`);
    }
  });

  it("never gives a file cut to the length that it had before a save", async () => {
    const path = join(await temporaryFolder(), "saved.mjs");
    const cut: string[] = [];
    for (let round = 0; round < 200; round++) {
      const [before, after] = [`${"o".repeat(100)}\n`, `${"n".repeat(101)}\n`];
      writeFileSync(path, before);
      const reading = readStable(path);
      // Writes at a different moment of each read.
      for (let turns = round % 50; turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      writeFileSync(path, after);
      const text = await reading;
      if (![before, after, ""].includes(text)) cut.push(text);
    }
    expect(cut).toEqual([]);
  });
});
