import { cp, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { transform } from "esbuild";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

interface Pieces {
  hold(names: readonly string[]): void;
  load(name: string): Promise<{ readonly own: string; readonly shared: object }>;
}

/** Two pieces that share a third, as the build writes them. */
async function program(): Promise<{ folder: string; pieces: Pieces }> {
  const folder = await temporaryFolder();
  for (const name of ["pieces.cjs", "compiled-code.cjs"]) await cp(join(import.meta.dirname, "..", "..", "scripts", name), join(folder, name));
  await writeFile(join(folder, "shared.cjs"), 'exports.own = {}; exports.path = require("node:path").sep;');
  for (const name of ["one", "two"]) await writeFile(join(folder, `${name}.cjs`), `exports.own = "${name}"; exports.shared = require("./shared.cjs").own;`);
  const pieces: Pieces = createRequire(join(folder, "pd.cjs"))("./pieces.cjs");
  return { folder, pieces };
}

it("one piece alone imports something when it runs, and says so: its code is compiled anew each time", async () => {
  const dist = join(import.meta.dirname, "..", "..", "dist");
  const names = (await readdir(dist)).filter((name) => name.endsWith(".cjs") && name !== "child.cjs" && name !== "pieces.cjs");
  const importing: string[] = [];
  const marked: string[] = [];
  for (const name of names) {
    const code = await readFile(join(dist, name), "utf8");
    const [one, other] = await Promise.all([true, false].map((isKnown) => transform(code, { supported: { "dynamic-import": isKnown } })));
    if (one?.code !== other?.code) importing.push(name);
    if (code.startsWith('"imports at run time";')) marked.push(name);
  }
  expect([importing, marked]).toEqual([["fixture.cjs"], ["fixture.cjs"]]);
});

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
