import { type ChildProcess, execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmod, readFile, rename, rm, writeFile, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { Gate } from "../support/gate.ts";
import { IMPORTS_UNDER_PIPES, isWaitedFor, makePipes } from "../support/pipes.ts";
import { PD, PdHome, collect, killHard } from "../support/pd.ts";
import { eventually } from "../support/runtime.ts";

const version = (text: string, props = ""): string => `import { end } from "./lib.ts";
export default {
  name: "Dev source",
  version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true }, ${props} },
  run() {
    console.log("running ${text}");
    this.http.respond({ body: "${text}" + end });
    this.$emit({ text: "${text}" }, { summary: "an event of ${text}" });
  },
};
`;

interface Session {
  readonly child: ChildProcess;
  readonly shown: () => string;
  readonly endpoint: string;
  readonly id: string;
}

async function startDev(home: PdHome, words: readonly string[]): Promise<Session> {
  const child = home.spawn(["dev", ...words]);
  const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
  const shown = (): string => stdout() + stderr();
  await eventually(async () => shown().includes("Ready for updates!"));
  return { child, shown, endpoint: /Endpoint: (\S+)/.exec(shown())?.[1] ?? "", id: /\((dc_\w+)\)/.exec(shown())?.[1] ?? "" };
}

interface Terminal {
  readonly terminal: ChildProcess;
  readonly shown: () => string;
  readonly press: (text: string) => void;
  readonly closed: Promise<unknown>;
}

function startOnTerminal(home: PdHome, words: string, env: Record<string, string> = {}): Terminal {
  const terminal = home.spawn([], { shell: `exec script -qec "${process.execPath} ${PD} dev ${words}" /dev/null; exit`, env });
  return { terminal, shown: collect(terminal, "stdout"), press: (text) => void terminal.stdin?.write(text), closed: once(terminal, "close") };
}

async function stop({ child }: Session): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGINT");
  await closed;
}

async function answer(url: string): Promise<string> {
  return (await fetch(url)).text();
}

async function until(endpoint: string, text: string): Promise<void> {
  await eventually(async () => (await answer(endpoint)) === text);
}

async function files(home: PdHome): Promise<{ source: string; lib: string }> {
  return { source: await home.file("src/dev.ts", version("one")), lib: await home.file("src/lib.ts", 'export const end: string = "!";') };
}

describe("pd dev", () => {
  it("serves what is saved, also in files that it imports, and shows runs, logs and events", async () => {
    const home = await PdHome.inProcess();
    const { source, lib } = await files(home);
    const session = await startDev(home, [source]);
    expect(await answer(session.endpoint)).toBe("one!");
    await writeFile(source, version("two"));
    await until(session.endpoint, "two!");
    await writeFile(lib, 'export const end = "?";');
    await until(session.endpoint, "two?");
    await eventually(async () => session.shown().includes("◆ event an event of two"));
    // The next request may precede the end of this run in the session.
    expect(session.shown()).toMatch(/▶ run {3}GET \/\n[^]*?│ log {3}running one {2}dev\.ts:7\n[^]*?✔ succeeded \d+ ms, 1 event {2}inv_\w+\n/);
    // The version is stored before this appears.
    await eventually(async () => session.shown().includes("↻ new   now runs version 0.0.1"));
    await stop(session);
  });

  it("takes up a file that was missing, and one that an import leads to by now", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    await writeFile(source, version("two").replace("./lib.ts", "./more"));
    await eventually(async () => session.shown().includes("Still running the previous version"));
    await home.file("src/more/index.ts", 'export const end = " from a folder";');
    await home.file("src/more.js", 'export const end = " from a file";');
    await until(session.endpoint, "two from a file");
    // The compiler prefers the .ts file.
    await home.file("src/more.ts", 'export const end = " in TypeScript";');
    await until(session.endpoint, "two in TypeScript");
    await stop(session);
  });

  it("shows what does not compile with its place, and the version before goes on", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    await writeFile(source, "export default {\n  name: 'x'\n  version: '1' };\n");
    await eventually(async () => session.shown().includes("Still running the previous version"));
    expect(session.shown()).toMatch(/Error: Cannot build .*\ndev\.ts:3:3: Expected "}" but found "version"\n3 │ {3}version: '1' };\n {6}~~~~~~~\n/);
    expect(await answer(session.endpoint)).toBe("one!");
    await writeFile(source, "throw new Error('while loading');\nexport default {};\n");
    await eventually(async () => session.shown().includes("Error: Cannot load the component: Error: while loading (dev.ts:1:7)"));
    expect(await answer(session.endpoint)).toBe("one!");
    await writeFile(source, version("three"));
    await until(session.endpoint, "three!");
    await stop(session);
  });

  it("never serves an empty file, and loses no save, however a file is written", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    for (let n = 1; n <= 15; n++) {
      await writeFile(source, "");
      if (n % 2 === 0) await new Promise((done) => setTimeout(done, n));
      await writeFile(source, version(`save ${n}`));
      await until(session.endpoint, `save ${n}!`);
    }
    expect(session.shown()).not.toContain("Error");
    await stop(session);
  });

  it("shows nothing of half a save, and takes up a file that is imported from then on", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    let longestMs = 0;
    for (let n = 1; n <= 8; n++) {
      const text = version(`save ${n}`);
      const began = performance.now();
      await writeFile(source, text.slice(0, 120 + 10 * n));
      await new Promise((done) => setTimeout(done, n));
      await writeFile(source, text);
      longestMs = Math.max(longestMs, performance.now() - began);
      await until(session.endpoint, `save ${n}!`);
    }
    await home.file("src/added.ts", 'export const end = " of an added file";');
    await writeFile(source, version("one").replace("./lib.ts", "./added.ts"));
    await until(session.endpoint, "one of an added file");
    await home.file("src/added.ts", 'export const end = " of the same file";');
    await until(session.endpoint, "one of the same file");
    // On a stalled machine, the session may read half a save.
    expect([longestMs < 20, session.shown().includes("Error")]).not.toEqual([true, true]);
    await stop(session);
  });

  it("goes on with files that are moved away and put back, and with files that appear", async () => {
    const home = await PdHome.inProcess();
    const { source, lib } = await files(home);
    const session = await startDev(home, [source]);
    await rename(lib, `${lib}.away`);
    await expect.poll(session.shown).toContain('Could not resolve "./lib.ts"');
    await rename(`${lib}.away`, lib);
    await writeFile(lib, 'export const end = " is back";');
    await until(session.endpoint, "one is back");
    await writeFile(lib, 'export { end } from "./other.ts";');
    await expect.poll(session.shown).toContain('Could not resolve "./other.ts"');
    await home.file("src/other.ts", 'export const end = " has appeared";');
    await until(session.endpoint, "one has appeared");
    execFileSync("mkfifo", [`${lib}.pipe`]);
    await rename(`${lib}.pipe`, lib);
    await expect.poll(session.shown).toContain("not a regular file");
    await rm(lib);
    await writeFile(lib, 'export const end = " is a file again";');
    await until(session.endpoint, "one is a file again");
    await stop(session);
  });

  it("ends at once while the compiler waits for somebody to write into a pipe", async () => {
    const home = await PdHome.inProcess();
    const { first } = makePipes(home.folder);
    const path = await home.file("a.mjs", IMPORTS_UNDER_PIPES);
    const begun = home.spawn(["dev", path]);
    await eventually(() => isWaitedFor(first));
    begun.kill("SIGTERM");
    // Sooner than the compiler's timeout of 30 s.
    await expect.poll(() => begun.exitCode, { timeout: 20_000 }).toBe(0);

    const code = 'export default { name: "t", version: "1", run() {} };';
    await writeFile(path, code);
    const session = await startDev(home, [path]);
    await writeFile(path, IMPORTS_UNDER_PIPES + code);
    await eventually(() => isWaitedFor(first));
    await stop(session);
    expect([session.child.exitCode, session.shown()]).toEqual([0, expect.not.stringContaining("has ended")]);
  });

  it("attaches to its component again when it is restarted, and to another that is named", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const { source } = await files(home);
    const first = await startDev(home, [source]);
    await stop(first);
    const second = await startDev(home, [source]);
    expect([second.id, second.endpoint]).toEqual([first.id, first.endpoint]);
    expect((await stat(join(home.home, "dev-attachments.json"))).mode & 0o777).toBe(0o600);
    await stop(second);
    const other = await home.json("deploy", await home.file("other.mjs", 'export default { name: "Dev source", version: "1", run() {} };'));
    const third = await startDev(home, [source, "--dc", String(other["id"])]);
    expect(third.id).toBe(other["id"]);
    expect(await answer(third.endpoint)).toBe("one!");
    await stop(third);
    expect(await home.json("list")).toHaveLength(2);
  });

  it("deploys another one with --new, finds the file of a source by its name, and refuses a source of another component", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = await home.file("source.ts", version("one"));
    await home.file("lib.ts", 'export const end = "!";');
    const first = await startDev(home, [file]);
    const second = await startDev(home, [file, "--new"]);
    expect(second.id).not.toBe(first.id);
    const third = home.spawn(["dev", "Dev source"]);
    expect(await once(third, "close")).toEqual([1, null]);
    await stop(second);
    const named = await startDev(home, ["dev-source-2"]);
    expect([named.id, named.shown()]).toEqual([second.id, expect.stringContaining("watching source.ts")]);
    const other = await home.file("other.mjs", 'export default { name: "Other", version: "1", run() {} };');
    const refused = await home.pd("dev", other, "--dc", first.id);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`Cannot attach to dev-source (${first.id}): it runs "Dev source", and the file is "Other"`),
    ]);
    const both = await home.pd("dev", other, "--dc", first.id, "--new");
    expect([both.code, both.stderr]).toEqual([2, expect.stringContaining("Cannot both attach to a source and deploy another one")]);
    await stop(first);
    await stop(named);
    const forced = await startDev(home, [other, "--dc", first.id, "--force"]);
    expect(forced.id).toBe(first.id);
    await stop(forced);
  });

  it("lets one session save a source, and others watch it", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const file = await home.file("source.ts", version("one"));
    await home.file("lib.ts", 'export const end = "!";');
    const first = await startDev(home, [file]);
    const second = await startDev(home, [file]);
    expect(second.shown()).toContain("Another pd dev saves source.ts: this one shows what happens, and saves nothing");
    await home.file("source.ts", version("two"));
    await eventually(async () => second.shown().includes("↻ new"));
    expect(await answer(first.endpoint)).toBe("two!");
    await eventually(async () => first.shown().includes("an event of two") && second.shown().includes("an event of two"));
    expect(second.shown().match(/↻ new/g)).toHaveLength(1);
    // A killed session must not block the other one.
    await killHard(first.child);
    await home.file("source.ts", version("three"));
    await eventually(async () => second.shown().includes("The other pd dev has ended: this one saves from now on"));
    await eventually(async () => (await answer(first.endpoint)) === "three!");
    await stop(second);
  });

  it("hosts the server while none runs, and the source is still there for the next", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    expect(await home.json("status")).toMatchObject({ running: true, sources: 1 });
    await stop(session);
    expect(await home.json("status")).toMatchObject({ running: false });
    expect(await home.json("list")).toMatchObject([{ id: session.id }]);
  });

  it("waits for a first version that compiles", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    await writeFile(source, "export default {");
    const child = home.spawn(["dev", source]);
    const [stdout, stderr] = [collect(child, "stdout"), collect(child, "stderr")];
    await expect.poll(stderr).toContain("Waiting for file change (or ^C to quit)...");
    await writeFile(source, version("at last"));
    await expect.poll(stdout).toContain("Ready for updates!");
  });

  it("asks under --prompt-all for every prop, with the value that it has", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    await writeFile(source, version("x", 'who: { type: "string", label: "Whom" }, timer: { type: "$.interface.timer", default: { intervalSeconds: 900 } }'));
    const { shown, press, closed } = startOnTerminal(home, `${source} --prompt-all --prop who=me`);
    await eventually(async () => shown().includes("Whom"));
    press("you\r");
    await eventually(async () => shown().includes("timer"));
    press("\r");
    await eventually(async () => shown().includes("Ready for updates!"));
    expect(await home.json("list")).toMatchObject([{ configured_props: { who: "you", timer: { interval_seconds: 900 } } }]);
    press("q");
    await closed;
  });

  it("keeps under --prompt-all what is left as it is, secrets too", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    await writeFile(
      source,
      version("x", 'token: { type: "string", label: "Token", secret: true }, colour: { type: "string", label: "Colour", options: ["red", "green"] }'),
    );
    const { shown, press, closed } = startOnTerminal(home, `${source} --prompt-all --prop token=hidden --prop colour=green`);
    await eventually(async () => shown().includes("Token (Enter keeps it)"));
    press("\r");
    await eventually(async () => shown().includes("Colour"));
    press("\r");
    await eventually(async () => shown().includes("Ready for updates!"));
    press("q");
    await closed;
    expect(await home.json("list")).toMatchObject([{ configured_props: { token: "********", colour: "green" } }]);
  });

  it("says without a terminal what is missing", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    await writeFile(source, version("x", 'who: "string"'));
    expect(await home.pd("dev", source)).toMatchObject({ code: 1, stderr: expect.stringContaining("who is required") });
    expect(await home.pd("dev", "nowhere.ts")).toMatchObject({ code: 1, stderr: expect.stringContaining("Error: Cannot read nowhere.ts") });
  });

  it("takes a question back when a save makes it idle", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const { shown, press, closed } = startOnTerminal(home, source);
    await eventually(async () => shown().includes("Ready for updates!"));
    const endpoint = /Endpoint: (\S+)/.exec(shown())?.[1] ?? "";
    await writeFile(source, version("two", 'who: { type: "string", label: "Whom to greet" }'));
    await eventually(async () => shown().includes("Whom to greet"));
    expect(await answer(endpoint)).toBe("one!");
    await writeFile(source, version("three"));
    await until(endpoint, "three!");
    press("q");
    await closed;
  });

  it.each(["of its own", "that was there"])("takes keys while a save is on its way to a server %s", async (whose) => {
    const home = await PdHome.inProcess();
    if (whose === "that was there") await home.up();
    const { source } = await files(home);
    const { shown, press, closed } = startOnTerminal(home, source);
    await eventually(async () => shown().includes("Ready for updates!"));
    const gate = await Gate.open();
    await writeFile(source, `${version("two")}\nawait fetch("${gate.url}");`);
    await gate.reached;
    press("q");
    await closed;
    if (whose === "of its own") return;
    gate.release();
    await until(/Endpoint: (\S+)/.exec(shown())?.[1] ?? "", "two!");
  });

  it("takes a question back also before anything is deployed, and deploys once", async () => {
    const home = await PdHome.inProcess();
    await home.upInProcess();
    const { source } = await files(home);
    await writeFile(source, version("one", 'who: { type: "string", label: "Whom to greet" }'));
    const { shown, press, closed } = startOnTerminal(home, source);
    await eventually(async () => shown().includes("Whom to greet"));
    await writeFile(source, version("two"));
    await eventually(async () => shown().includes("Ready for updates!"));
    await until(/Endpoint: (\S+)/.exec(shown())?.[1] ?? "", "two!");
    press("q");
    await closed;
    expect(await home.json("list")).toHaveLength(1);
  });

  it("holds its lines back while it asks", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const { shown, press, closed } = startOnTerminal(home, source);
    await eventually(async () => shown().includes("Ready for updates!"));
    const endpoint = /Endpoint: (\S+)/.exec(shown())?.[1] ?? "";
    await writeFile(source, version("two", 'who: { type: "string", label: "Whom to greet" }'));
    await eventually(async () => shown().includes("Whom to greet"));
    await answer(endpoint);
    await eventually(async () => (await home.json("events", "dev-source"))["length"] === 1);
    expect(shown()).not.toContain("an event of one");
    press("you\r");
    await eventually(async () => shown().includes("an event of one"));
    press("q");
    await closed;
  });

  it("opens the endpoint, and ends when its terminal goes away", async () => {
    const home = await PdHome.inProcess();
    const opened = join(home.folder, "opened");
    const opener = await home.file("bin/xdg-open", `#!/bin/sh\necho "$1" > ${opened}\n`);
    await chmod(opener, 0o755);
    const { source } = await files(home);
    const { shown, press, terminal } = startOnTerminal(home, source, { BROWSER: "", PATH: `${dirname(opener)}:${process.env["PATH"]}` });
    await eventually(async () => shown().includes("Ready for updates!"));
    press("o");
    await expect.poll(() => readFile(opened, "utf8").catch(() => "")).toBe(`${/Endpoint: (\S+)/.exec(shown())?.[1]}\n`);
    press("i");
    const page = join(home.home, "open.html");
    await expect.poll(() => readFile(opened, "utf8")).toBe(`${pathToFileURL(page).href}\n`);
    // Other users can read a program's arguments, so a private file has the ticket.
    expect(await readFile(page, "utf8")).toMatch(new RegExp(`url=${/Inspector: ([^\s#]+)/.exec(shown())?.[1]}#ticket=\\w{32}"`));
    expect((await stat(page)).mode & 0o777).toBe(0o600);
    await killHard(terminal);
    await expect.poll(() => home.json("status")).toMatchObject({ running: false });
  });

  it("goes on with a server that was started again, and ends when its source is deleted", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    await killHard(first.child);
    const second = await home.up();
    await writeFile(source, version("two"));
    const endpoint = second.endpointUrl + new URL(session.endpoint).pathname;
    await until(endpoint, "two!");
    await eventually(async () => session.shown().includes("an event of two"));
    const closed = once(session.child, "close");
    await home.pd("delete", session.id, "--yes");
    expect((await closed)[0]).toBe(1);
    expect(session.shown()).toContain("[PD_SOURCE_NOT_FOUND]");
  });

  it("sends a save again that a server which stopped was still loading", async () => {
    const home = await PdHome.inProcess();
    const first = await home.up();
    const { source } = await files(home);
    const session = await startDev(home, [source]);
    const gate = await Gate.open();
    await writeFile(source, `${version("two")}\nawait fetch("${gate.url}");`);
    await gate.reached;
    const ended = once(first.child, "close");
    first.child.kill("SIGTERM");
    await ended;
    gate.release();
    const second = await home.up();
    await until(second.endpointUrl + new URL(session.endpoint).pathname, "two!");
    await stop(session);
  });

  it("asks on a terminal for props that appear, and takes keys: run, replay, quit", async () => {
    const home = await PdHome.inProcess();
    const { source } = await files(home);
    const { shown, press, closed } = startOnTerminal(home, source);
    await eventually(async () => shown().includes("Ready for updates!"));
    expect(shown()).toContain("r run now · p replay the last trigger · o open the endpoint · i open the inspector · h help · q quit");
    press("r");
    await eventually(async () => shown().includes("run by hand"));
    await writeFile(source, version("asked", 'who: { type: "string", label: "Whom to greet" }'));
    await eventually(async () => shown().includes("Whom to greet"));
    press("you\r");
    await eventually(async () => shown().split("now runs version").length > 1);
    press("p");
    await eventually(async () => shown().includes("an event of asked"));
    press("q");
    await closed;
    expect(await home.json("list")).toMatchObject([{ configured_props: { who: "you" } }]);
  });
});
