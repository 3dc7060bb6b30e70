import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, readdir, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

const run = promisify(execFile);
const SCRIPTS = join(import.meta.dirname, "..", "..", "scripts");
const WORD = "'first '";
const OTHER_WORD = "'second'";

/** A program whose command says the word of a second piece, as the build writes it, with a home of its own. */
async function program() {
  const folder = await temporaryFolder();
  const home = join(folder, "home");
  await mkdir(home);
  for (const name of ["pieces.cjs", "compiled-code.cjs"]) await cp(join(SCRIPTS, name), join(folder, name));
  const write = (word: string): Promise<void> => writeFile(join(folder, "word.cjs"), `exports.say = () => ${word};`);
  await write(WORD);
  await writeFile(join(folder, "pd.cjs"), 'exports.main = () => console.log(require("./word.cjs").say());');
  const script = `require(${JSON.stringify(join(folder, "pieces.cjs"))}).begin("list").main()`;
  const say = async (): Promise<string> => (await run(process.execPath, ["-e", script], { env: { ...process.env, PD_HOME: home } })).stdout.trim();
  const kept = join(home, "compiled", `list-${process.versions["v8"]}-${process.arch}`);
  /** What was kept, made to claim that its code is that of another text. */
  const forge = async (): Promise<void> => writeFile(kept, (await readFile(kept, "latin1")).replace(WORD, OTHER_WORD), "latin1");
  return { folder, home, kept, say, write, forge };
}

describe("code that was compiled by an earlier start", () => {
  it("is used, and not written anew", async () => {
    const { kept, say, write, forge } = await program();
    expect(await say()).toBe("first");
    await forge();
    await write(OTHER_WORD);
    const before = await stat(kept);
    // Only code that was kept can say that by now.
    expect(await say()).toBe("first");
    expect(await stat(kept)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  it("is not used for another text of the same length", async () => {
    const { say, write } = await program();
    await say();
    await write(OTHER_WORD);
    expect(await say()).toBe("second");
    expect(await say()).toBe("second");
  });

  it("is for its owner alone", async () => {
    const { home, kept, say } = await program();
    await say();
    expect([(await stat(kept)).mode & 0o777, (await stat(join(home, "compiled"))).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await readdir(join(home, "compiled"))).toHaveLength(1);
  });

  it("is not used when others may have written it, or when it is a link, and is then replaced", async () => {
    const { folder, kept, say, write, forge } = await program();
    await say();
    await forge();
    await write(OTHER_WORD);
    const elsewhere = join(folder, "elsewhere");
    await cp(kept, elsewhere);
    await chmod(kept, 0o620);
    expect(await say()).toBe("second");
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    await rm(kept);
    await symlink(elsewhere, kept);
    expect(await say()).toBe("second");
    expect(await readFile(elsewhere, "latin1")).toContain(OTHER_WORD);
  });

  it("does not matter when it is cut, empty, or something else", async () => {
    const { kept, say } = await program();
    await say();
    const whole = await readFile(kept);
    for (const bytes of [0, 3, 40, whole.length - 1]) {
      await truncate(kept, bytes);
      expect(await say()).toBe("first");
      expect((await readFile(kept)).length).toBe(whole.length);
    }
    await writeFile(kept, "something else, and longer than a head");
    expect(await say()).toBe("first");
    await rm(kept);
    await mkdir(kept);
    expect(await say()).toBe("first");
    expect(await readdir(join(kept, ".."))).toHaveLength(1);
    await rm(join(kept, ".."), { recursive: true });
    await writeFile(join(kept, ".."), "no folder");
    expect(await say()).toBe("first");
  });

  it("is kept whole while several start at once, and beside what one that was killed has left", async () => {
    const { home, kept, say } = await program();
    await mkdir(join(home, "compiled"));
    await writeFile(`${kept}.1`, "half");
    expect(await Promise.all([say(), say(), say(), say()])).toEqual(["first", "first", "first", "first"]);
    const before = await stat(kept);
    expect(await say()).toBe("first");
    expect((await stat(kept)).ino).toBe(before.ino);
  });

  it("is kept for all that a command has loaded so far, and of this program alone", async () => {
    const { folder, kept, say } = await program();
    await writeFile(join(folder, "gone.cjs"), "");
    await writeFile(join(folder, "pd.cjs"), 'exports.main = () => { require("./gone.cjs"); require("./word.cjs"); };');
    await say();
    await rename(join(folder, "gone.cjs"), join(folder, "went.cjs"));
    await writeFile(join(folder, "pd.cjs"), 'exports.main = () => { require("./went.cjs"); };');
    await say();
    const text = await readFile(kept, "latin1");
    expect(["pd.cjs", "word.cjs", "went.cjs", "gone.cjs"].map((name) => text.includes(`"${name}"`))).toEqual([true, true, true, false]);
  });

  it("is not kept where there is no home, and not for what is no command", async () => {
    const { folder, home, say } = await program();
    await writeFile(join(folder, "pd.cjs"), 'exports.main = () => console.log("no such command");');
    expect(await say()).toBe("no such command");
    expect(await readdir(home)).toEqual([]);
    await rm(home, { recursive: true });
    await say();
    await expect(stat(home)).rejects.toThrow("ENOENT");
  });

  it("shows the place of an error as it is in the file", async () => {
    const { folder, say } = await program();
    await writeFile(join(folder, "word.cjs"), "exports.say = () => new Error('here').stack.split('\\n')[1];");
    for (let times = 0; times < 2; times++) expect(await say()).toContain(`${join(folder, "word.cjs")}:1:21`);
  });
});
