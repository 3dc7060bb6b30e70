import { describe, expect, it } from "vitest";
import type { RunId } from "../../src/domain/ids.ts";
import { RUN_FILES } from "../../src/domain/run/run-files.ts";
import type { RunFiles } from "../../src/ports/run-files.ts";

const [RUN, OTHER]: readonly [RunId, RunId] = ["run_0Vbjaaaaaaaaaaa", "run_0Vbjbbbbbbbbbbb"];
const part = (path: string, text: string, more: object = {}) => ({ path, at: 0, bytes: Buffer.from(text), isLast: true, isExecutable: false, ...more });

export function runFilesContract(open: () => Promise<{ files: RunFiles; reopen: () => Promise<RunFiles> }>): void {
  describe("files of runs", () => {
    it("come back as they were written, also after a restart, and are those of their run alone", async () => {
      const { files, reopen } = await open();
      expect([await files.has(RUN), await files.list(RUN), await files.runs()]).toEqual([false, [], []]);
      await files.write(RUN, "inv_1", part("a/b.txt", "one"));
      await files.write(RUN, "inv_1", part("run.sh", "x", { isExecutable: true }));
      await files.makeFolder(RUN, "empty");
      for (const at of [files, await reopen()]) {
        expect((await at.list(RUN)).toSorted((x, y) => (x.path < y.path ? -1 : 1))).toEqual([
          { path: "a", kind: "folder", size: 0, isExecutable: false },
          { path: "a/b.txt", kind: "file", size: 3, isExecutable: false },
          { path: "empty", kind: "folder", size: 0, isExecutable: false },
          { path: "run.sh", kind: "file", size: 1, isExecutable: true },
        ]);
        expect(Buffer.from(await at.read(RUN, "a/b.txt", 1)).toString()).toBe("ne");
        expect([await at.has(RUN), await at.has(OTHER), await at.list(OTHER), await at.runs()]).toEqual([true, false, [], [RUN]]);
      }
    });

    it("are there when their last part is; two may write one file at the same time, and the last to end counts", async () => {
      const { files } = await open();
      await files.write(RUN, "inv_1", part("x", "AA", { isLast: false }));
      await files.write(RUN, "inv_2", part("x", "bb"));
      expect(Buffer.from(await files.read(RUN, "x", 0)).toString()).toBe("bb");
      await files.write(RUN, "inv_1", part("x", "A", { at: 2 }));
      expect(Buffer.from(await files.read(RUN, "x", 0)).toString()).toBe("AAA");
    });

    it("go one by one, with a folder, and with their run; a file may become a folder and the other way round", async () => {
      const { files } = await open();
      for (const path of ["a/b", "a/c/d", "e"]) await files.write(RUN, "inv_1", part(path, path));
      await files.remove(RUN, "a");
      await files.remove(RUN, "a");
      expect((await files.list(RUN)).map(({ path }) => path)).toEqual(["e"]);
      await files.makeFolder(RUN, "f");
      await files.write(RUN, "inv_1", part("f", "a file now"));
      await files.remove(RUN, "e");
      await files.write(RUN, "inv_1", part("e/in", "a folder now"));
      expect((await files.list(RUN)).map(({ path }) => path).toSorted()).toEqual(["e", "e/in", "f"]);
      await files.drop(RUN);
      expect([await files.has(RUN), await files.list(RUN)]).toEqual([false, []]);
    });

    it("have a limit, which what was removed or written anew does not count against", async () => {
      const { files } = await open();
      for (const path of ["one", "two"]) {
        await files.write(RUN, "inv_1", part(path, "x", { isLast: false }));
        await files.write(RUN, "inv_1", part(path, "x", { at: RUN_FILES.bytes / 2 - 1 }));
      }
      await expect(files.write(RUN, "inv_1", part("three", "x"))).rejects.toThrow("the files of one run in /tmp may have 512 MB: three exceeds it");
      await files.write(RUN, "inv_1", part("two", "x"));
      await files.write(RUN, "inv_1", part("three", "x"));
      expect((await files.list(RUN)).map(({ path }) => path).toSorted()).toEqual(["one", "three", "two"]);
    });
  });
}
