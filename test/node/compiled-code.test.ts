import { execFile } from "node:child_process";
import { chmod, copyFile, lstat, mkdir, readFile, readdir, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

const run = promisify(execFile);
const SCRIPTS = join(import.meta.dirname, "..", "..", "scripts");
const WORD = "'first '";
const OTHER_WORD = "'second'";

interface Saying {
  readonly command?: string;
  readonly flags?: readonly string[];
  readonly words?: readonly string[];
}

/** The build script has no type declarations. */
const { writeLoader }: { readonly writeLoader: (folder: string, target: string) => Promise<string> } = await import(join(SCRIPTS, "common-js.mjs"));

const saying = (word: string): string => `exports.say = () => ${word};`;

/** A program of two files, as the build writes it. `files` adds or replaces files. */
async function program(files: Readonly<Record<string, string>> = {}) {
  const folder = await temporaryFolder();
  const home = join(folder, "home");
  await mkdir(home);
  const own = { "word.cjs": saying(WORD), "pd.cjs": 'exports.main = () => console.log(require("./word.cjs").say());', ...files };
  const build = async (changed: Readonly<Record<string, string>>): Promise<string> => {
    for (const [name, text] of Object.entries(changed)) await writeFile(join(folder, name), text);
    return join(home, "compiled", `list-${await writeLoader(folder, "node20")}-${process.version}-${process.arch}`);
  };
  const kept = await build(own);
  const start = join(folder, "run.js");
  await writeFile(start, 'require("./pieces.cjs").begin(process.argv[2]).main();');
  const environment = { PATH: process.env["PATH"], PD_HOME: home };
  const say = async ({ command = "list", flags = [], words = [] }: Saying = {}): Promise<string> =>
    (await run(process.execPath, [...flags, start, command, ...words], { env: environment })).stdout.trim();
  /** The first start stores the loaded code as text, the second V8's compiled code. */
  const settle = async (more?: Saying): Promise<void> => {
    for (let times = 0; times < 2; times++) expect(await say(more)).toBe("first");
  };
  /** Swaps the word in the stored code, so that using it becomes visible. */
  const forge = async (): Promise<void> => writeFile(kept, (await readFile(kept, "latin1")).replaceAll(WORD, OTHER_WORD), "latin1");
  const rebuild = build;
  return { folder, home, kept, say, settle, forge, rebuild };
}

describe("code that was compiled by an earlier start", () => {
  it("is used, and not written anew", async () => {
    const { kept, say, settle, forge } = await program();
    await settle();
    await forge();
    const before = await stat(kept);
    // Only the stored code says this word now.
    expect(await say()).toBe("first");
    expect(await stat(kept)).toMatchObject({ ino: before.ino, mtimeMs: before.mtimeMs });
  });

  it("is not used by another build of the program", async () => {
    const { home, kept, say, settle, rebuild } = await program();
    await settle();
    const other = await rebuild({ "word.cjs": saying(OTHER_WORD) });
    for (let times = 0; times < 3; times++) expect(await say()).toBe("second");
    expect((await readdir(join(home, "compiled"))).toSorted()).toEqual([basename(kept), basename(other)].toSorted());
    await copyFile(other, kept);
    await rebuild({ "word.cjs": saying(WORD) });
    await settle();
  });

  it("is not used when it is damaged, its text or its code, and is then made anew", async () => {
    const { kept, say, settle } = await program();
    await settle();
    const whole = await readFile(kept);
    for (const place of [whole.length - 200, 20, whole.length / 2 + 40]) {
      const damaged = Buffer.from(whole);
      damaged.writeUInt8(damaged.readUInt8(place) ^ 0xff, place);
      await writeFile(kept, damaged);
      await settle();
      const { ino } = await stat(kept);
      expect(await say()).toBe("first");
      expect((await stat(kept)).ino).toBe(ino);
      expect((await readFile(kept)).length).toBe(whole.length);
    }
  });

  it("is not used when it ends too early or too late, and is then made anew", async () => {
    const { kept, say, settle } = await program();
    await settle();
    const whole = await readFile(kept);
    for (const bytes of [whole.subarray(0, -1), whole.subarray(0, whole.length / 2), whole.subarray(0, 11), Buffer.alloc(0), Buffer.concat([whole, whole])]) {
      await writeFile(kept, bytes);
      expect(await say()).toBe("first");
      await settle();
      expect((await readFile(kept)).length).toBe(whole.length);
    }
  });

  it("is not kept of a piece that imports something when it runs, which goes on to work", async () => {
    const { kept, say } = await program({
      "late.cjs": '"imports at run time";\nexports.load = () => import("node:path");',
      "pd.cjs": 'exports.main = async () => { const { sep } = await require("./late.cjs").load(); console.log(require("./word.cjs").say() + sep); };',
    });
    for (let times = 0; times < 3; times++) expect(await say()).toBe("first /");
    const text = await readFile(kept, "latin1");
    expect([text.includes('"word.cjs"'), text.includes('"late.cjs"')]).toEqual([true, false]);
  });

  it("fits the next start also when the process has changed how its heap grows", async () => {
    const { kept, say, settle } = await program({
      "pd.cjs": 'exports.main = () => { require("node:v8").setFlagsFromString("--semi-space-growth-factor=1"); console.log(require("./word.cjs").say()); };',
    });
    await settle();
    const { ino } = await stat(kept);
    await say();
    expect((await stat(kept)).ino).toBe(ino);
  });

  it("is kept apart for other flags", async () => {
    const { home, kept, settle } = await program();
    await settle();
    const { ino } = await stat(kept);
    await settle({ flags: ["--max-old-space-size=512"] });
    expect((await stat(kept)).ino).toBe(ino);
    expect(await readdir(join(home, "compiled"))).toHaveLength(2);
  });

  it("is not written at the end of what stays: its home may be gone", async () => {
    const { home, say } = await program();
    for (const command of ["up", "serve", "dev"]) await say({ command });
    expect(await readdir(home)).toEqual([]);
  });

  it("is kept although a draft of the same process id was left", async () => {
    const { home, kept, say } = await program({
      "pd.cjs": 'exports.main = () => { require("./word.cjs"); require("node:fs").writeFileSync(process.argv[3] + process.pid, "half"); };',
    });
    await mkdir(join(home, "compiled"));
    await say({ words: [`${kept}.`] });
    expect(await readdir(join(home, "compiled"))).toEqual([basename(kept)]);
  });

  it("leaves alone what is not of this program, and removes what nobody has used for a month", async () => {
    const { folder, home, kept, say } = await program();
    const place = (name: string): string => join(home, "compiled", name);
    await mkdir(place("aaa-folder"), { recursive: true });
    await symlink(join(folder, "nowhere"), place("aaa-link"));
    const old = ["list-v18.1.0-x64", "list-v18.1.0-x64.4711", "run-action-v18.1.0-x64-1f"];
    for (const name of ["notes.txt", ...old]) {
      await writeFile(place(name), "");
      await utimes(place(name), 1, 1);
    }
    await say();
    expect((await readdir(join(home, "compiled"))).toSorted()).toEqual(["aaa-folder", "aaa-link", basename(kept), "notes.txt"].toSorted());
  });

  it("is not kept where a link stands for the folder", async () => {
    const { folder, home, say } = await program();
    const precious = join(folder, "precious");
    await mkdir(precious);
    await symlink(precious, join(home, "compiled"));
    expect(await say()).toBe("first");
    expect(await readdir(precious)).toEqual([]);
  });

  it("asks for no home folder of a user who has none, when a home is given", async () => {
    const { folder, say } = await program();
    await writeFile(join(folder, "without.cjs"), 'require("node:os").homedir = () => { throw new Error("no home folder"); };');
    expect(await say({ flags: ["-r", join(folder, "without.cjs")] })).toBe("first");
  });

  it("is for its owner alone", async () => {
    const { home, kept, say } = await program();
    await say();
    expect([(await stat(kept)).mode & 0o777, (await stat(join(home, "compiled"))).mode & 0o777]).toEqual([0o600, 0o700]);
    expect(await readdir(join(home, "compiled"))).toHaveLength(1);
  });

  it("is not used when others may have written it, or when it is a link, and is then replaced", async () => {
    const { folder, kept, say, settle } = await program();
    await settle();
    const forged = (await readFile(kept, "latin1")).replaceAll(WORD, OTHER_WORD).replaceAll("first ", "second");
    await writeFile(kept, forged, "latin1");
    expect(await say()).toBe("second");
    await chmod(kept, 0o620);
    expect(await say()).toBe("first");
    expect((await stat(kept)).mode & 0o777).toBe(0o600);
    await writeFile(kept, forged, "latin1");
    await chmod(join(kept, ".."), 0o770);
    expect(await say()).toBe("first");
    await chmod(join(kept, ".."), 0o700);
    const elsewhere = join(folder, "elsewhere");
    await writeFile(elsewhere, forged, { encoding: "latin1", mode: 0o600 });
    await rm(kept);
    await symlink(elsewhere, kept);
    expect(await say()).toBe("first");
    expect((await lstat(kept)).isSymbolicLink()).toBe(false);
    expect(await readFile(elsewhere, "latin1")).toBe(forged);
  });

  it("does not matter when it is cut, empty, or something else", async () => {
    const { kept, say, settle } = await program();
    await settle();
    const whole = await readFile(kept);
    for (const bytes of [0, 3, 40, whole.length / 2, whole.length - 1]) {
      await truncate(kept, bytes);
      await settle();
      expect((await readFile(kept)).length).toBe(whole.length);
    }
    await writeFile(kept, "something else, and longer than a head");
    expect(await say()).toBe("first");
    await rm(kept);
    await mkdir(kept);
    await settle();
    expect(await readdir(join(kept, ".."))).toHaveLength(1);
    await rm(join(kept, ".."), { recursive: true });
    await writeFile(join(kept, ".."), "no folder");
    await settle();
  });

  it("is kept of its own build alone, when another one takes its place while it runs", async () => {
    const { folder, home, kept, say, settle } = await program({
      "pd.cjs":
        'exports.main = () => { if (process.argv[3]) require("node:fs").writeFileSync(process.argv[3], "exports.say = () => \'second\';"); console.log(require("./word.cjs").say()); };',
    });
    expect(await say({ words: [join(folder, "word.cjs")] })).toBe("second");
    expect(await readdir(home)).toEqual([]);
    await writeFile(join(folder, "word.cjs"), saying(WORD));
    await settle();
    expect((await stat(kept)).isFile()).toBe(true);
  });

  it("holds for a piece that is loaded late, when the program has gone meanwhile", async () => {
    const { folder, say } = await program({
      "late.cjs": 'exports.late = "late ";',
      "pd.cjs": `const pieces = require("./pieces.cjs"); pieces.hold(["./late.cjs"]); const { say } = require("./word.cjs");
        exports.main = async () => {
          if (process.argv[3]) for (const name of ["late.cjs", "word.cjs", "pd.cjs"]) require("node:fs").rmSync(__dirname + "/" + name);
          console.log((await pieces.load("./late.cjs")).late + say());
        };`,
    });
    for (let times = 0; times < 2; times++) expect(await say()).toBe("late first");
    expect(await say({ words: ["gone"] })).toBe("late first");
    expect(await readdir(folder)).not.toContain("late.cjs");
    expect(await say()).toBe("late first");
  });

  it("is kept whole while several start at once, and beside what one that was killed has left", async () => {
    const { home, kept, say } = await program();
    await mkdir(join(home, "compiled"));
    await writeFile(`${kept}.1`, "half");
    for (let times = 0; times < 2; times++) expect(await Promise.all([say(), say(), say(), say()])).toEqual(["first", "first", "first", "first"]);
    const before = await stat(kept);
    expect(await say()).toBe("first");
    expect((await stat(kept)).ino).toBe(before.ino);
  });

  it("is kept for all that a command has loaded so far", async () => {
    const { kept, say, settle } = await program({
      "more.cjs": 'exports.more = "and more ";',
      "pd.cjs": 'exports.main = () => console.log((process.argv[3] ? require("./more.cjs").more : "") + require("./word.cjs").say());',
    });
    await settle();
    for (let times = 0; times < 2; times++) expect(await say({ words: ["more"] })).toBe("and more first");
    const { ino } = await stat(kept);
    await settle();
    expect(await say({ words: ["more"] })).toBe("and more first");
    expect((await stat(kept)).ino).toBe(ino);
    const text = await readFile(kept, "latin1");
    expect(["pd.cjs", "word.cjs", "more.cjs"].map((name) => text.includes(`"${name}"`))).toEqual([true, true, true]);
  });

  it("is not kept where there is no home, and not for what is no command", async () => {
    const { home, say } = await program({ "pd.cjs": 'exports.main = () => console.log("no such command");' });
    expect(await say()).toBe("no such command");
    expect(await readdir(home)).toEqual([]);
    await rm(home, { recursive: true });
    await say();
    await expect(stat(home)).rejects.toThrow("ENOENT");
  });

  it("names the function of an error, and the place in the file as long as that was read", async () => {
    const { folder, say } = await program({ "word.cjs": "exports.say = () => new Error('here').stack.split('\\n')[1];" });
    expect(await say()).toContain(`exports.say (${join(folder, "word.cjs")}:1:21)`);
    for (let times = 0; times < 2; times++) expect(await say()).toContain(`exports.say (${join(folder, "pieces of list")}:`);
  });
});
