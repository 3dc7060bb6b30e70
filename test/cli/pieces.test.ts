import { cp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

interface Pieces {
  hold(names: readonly string[]): void;
  load(name: string): Promise<{ readonly own: string; readonly shared: object }>;
}

/** Two pieces that share a third, as the build writes them, and what loads them later. */
async function program(): Promise<{ folder: string; pieces: Pieces }> {
  const folder = await temporaryFolder();
  for (const name of ["pieces.cjs", "compiled-code.cjs"]) await cp(join(import.meta.dirname, "..", "..", "scripts", name), join(folder, name));
  await writeFile(join(folder, "shared.cjs"), 'exports.own = {}; exports.path = require("node:path").sep;');
  for (const name of ["one", "two"]) await writeFile(join(folder, `${name}.cjs`), `exports.own = "${name}"; exports.shared = require("./shared.cjs").own;`);
  const pieces: Pieces = createRequire(join(folder, "pd.cjs"))("./pieces.cjs");
  return { folder, pieces };
}

describe("a piece that is loaded when it is used", () => {
  it("is there when the program has gone meanwhile, and is loaded once", async () => {
    const { folder, pieces } = await program();
    pieces.hold(["./one.cjs", "./two.cjs", "./shared.cjs"]);
    await rm(folder, { recursive: true });
    const [one, again, two] = await Promise.all([pieces.load("./one.cjs"), pieces.load("./one.cjs"), pieces.load("./two.cjs")]);
    expect([one.own, two.own]).toEqual(["one", "two"]);
    expect(again).toBe(one);
    expect(two.shared).toBe(one.shared);
  });

  it("is that of its own program when another was put in its place", async () => {
    const { folder, pieces } = await program();
    pieces.hold(["./one.cjs", "./shared.cjs"]);
    await rm(join(folder, "one.cjs"));
    await writeFile(join(folder, "one.cjs"), 'exports.own = "of another version";');
    expect((await pieces.load("./one.cjs")).own).toBe("one");
  });

  it("is refused when it was written over in place", async () => {
    const { folder, pieces } = await program();
    pieces.hold(["./one.cjs", "./shared.cjs"]);
    await writeFile(join(folder, "one.cjs"), 'exports.own = "of another version";');
    await expect(pieces.load("./one.cjs")).rejects.toThrow("written over while the program runs. Start the program again");
  });
});
