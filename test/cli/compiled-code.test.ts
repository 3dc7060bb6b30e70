import { execFile } from "node:child_process";
import { chmod, cp, mkdir, readFile, readdir, rename, rm, stat, symlink, truncate, utimes, writeFile } from "node:fs/promises";
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
}

/** A program whose command says the word of a second piece, as the build writes it, with a home of its own. */
async function program() {
  const folder = await temporaryFolder();
  const home = join(folder, "home");
  await mkdir(home);
  for (const name of ["pieces.cjs", "compiled-code.cjs"]) await cp(join(SCRIPTS, name), join(folder, name));
  const write = (word: string): Promise<void> => writeFile(join(folder, "word.cjs"), `exports.say = () => ${word};`);
  await write(WORD);
  await writeFile(join(folder, "pd.cjs"), 'exports.main = () => console.log(require("./word.cjs").say());');
  const file = join(folder, "run.cjs");
  await writeFile(file, 'require("./pieces.cjs").begin(process.argv[2]).main();');
  const environment = { PATH: process.env["PATH"], PD_HOME: home };
  const say = async ({ command = "list", flags = [] }: Saying = {}): Promise<string> =>
    (await run(process.execPath, [...flags, file, command], { env: environment })).stdout.trim();
  const kept = join(home, "compiled", `list-${process.version}-${process.arch}`);
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

  it("is not used when it is damaged, and is then made anew", async () => {
    const { kept, say } = await program();
    await say();
    const whole = await readFile(kept);
    const place = whole.length - 200;
    whole.writeUInt8(whole.readUInt8(place) ^ 0xff, place);
    await writeFile(kept, whole);
    expect(await say()).toBe("first");
    expect((await readFile(kept)).readUInt8(place)).toBe(whole.readUInt8(place) ^ 0xff);
  });

  it("is not kept of a piece that imports something when it runs, which goes on to work", async () => {
    const { folder, kept, say } = await program();
    await writeFile(join(folder, "late.cjs"), '"imports at run time";\nexports.load = () => import("node:path");');
    await writeFile(
      join(folder, "pd.cjs"),
      'exports.main = async () => { const { sep } = await require("./late.cjs").load(); console.log(require("./word.cjs").say() + sep); };',
    );
    for (let times = 0; times < 2; times++) expect(await say()).toBe("first /");
    const text = await readFile(kept, "latin1");
    expect([text.includes('"word.cjs"'), text.includes('"late.cjs"')]).toEqual([true, false]);
  });

  it("fits the next start also when the process has changed how its heap grows", async () => {
    const { folder, kept, say } = await program();
    await writeFile(
      join(folder, "pd.cjs"),
      'exports.main = () => { require("node:v8").setFlagsFromString("--semi-space-growth-factor=1"); console.log(require("./word.cjs").say()); };',
    );
    await say();
    const { ino } = await stat(kept);
    await say();
    expect((await stat(kept)).ino).toBe(ino);
  });

  it("is kept apart for other flags", async () => {
    const { home, kept, say } = await program();
    await say();
    const { ino } = await stat(kept);
    for (let times = 0; times < 2; times++) expect(await say({ flags: ["--max-old-space-size=512"] })).toBe("first");
    expect((await stat(kept)).ino).toBe(ino);
    expect(await readdir(join(home, "compiled"))).toHaveLength(2);
  });

  it("is not written at the end of what stays: its home may be gone", async () => {
    const { home, say } = await program();
    for (const command of ["up", "serve", "dev"]) await say({ command });
    expect(await readdir(home)).toEqual([]);
  });

  it("is kept although a draft of the same process id was left", async () => {
    const { folder, home, kept, say } = await program();
    await mkdir(join(home, "compiled"));
    await writeFile(
      join(folder, "pd.cjs"),
      'exports.main = () => { require("./word.cjs"); require("node:fs").writeFileSync(process.env.DRAFT + process.pid, "half"); };'.replace(
        "process.env.DRAFT",
        JSON.stringify(`${kept}.`),
      ),
    );
    await say();
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
    // As the system answers for a user who is not listed.
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
