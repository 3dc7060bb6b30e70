/** Attacks return what they obtained. Empty: every attempt failed. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { type TestServer, eventually } from "../support/runtime.ts";
import { startAttacked } from "./attacked-server.ts";
import { HARMLESS, HARMLESS_ANSWERS } from "./harmless.ts";

const component = (body: string, props = ""): string => `
  import fs from "node:fs"; import os from "node:os"; import v8 from "node:v8"; import net from "node:net"; import path from "node:path"; import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  export default { name: "attack", version: "1", props: { ${props} }, async run(event) {
    const got = {};
    const attempt = async (name, work) => { try { const value = await work(); if (value !== undefined) got[name] = String(value).slice(0, 200); } catch {} };
    ${body}
    return got;
  } };`;

const QUICK = `export default { name: "quick", version: "1", run() { return process.execArgv.includes("--snapshot-blob"); } };`;

async function untilQuick(server: TestServer): Promise<void> {
  await eventually(async () => (await (await server.deploy(QUICK)).run())["returned"] === true);
}

interface Place {
  readonly sandbox: string;
  readonly isQuick: boolean;
}

async function attack({ sandbox, isQuick }: Place, body: string, env: Record<string, string> = {}): Promise<unknown> {
  const { server, pid } = await startAttacked({ sandboxUse: sandbox });
  if (isQuick) await untilQuick(server);
  const source = await server.deploy(component(body), { env: { HOME_OF_SERVER: server.home, SERVER_PID: String(pid), ...env } });
  return (await source.run())["returned"];
}

const PLACES = ["wall", "belt"].flatMap((sandbox) =>
  [false, true].map((isQuick) => ({ sandbox, isQuick, from: isQuick ? "from a snapshot" : "from its code" })),
);

describe.each(PLACES)("a component in the $sandbox, in a process that starts $from", (place) => {
  it("reads nothing of the server, of other sources or of the machine", async () => {
    const secret = join(await temporaryFolder(), "secret.txt");
    await writeFile(secret, "hush");
    const got = await attack(
      place,
      `const home = process.env.HOME_OF_SERVER;
      for (const name of ["api-key", "secret-key", "headwater.db", "server.json"]) await attempt(name, () => fs.readFileSync(home + "/" + name, "latin1"));
      await attempt("run", () => fs.readdirSync(home + "/run").filter((one) => !process.cwd().includes(one)).join() || undefined);
      await attempt("secret", () => fs.readFileSync(process.env.SECRET, "utf8"));
      await attempt("passwd", () => fs.readFileSync("/etc/shadow", "utf8"));
      await attempt("proc", () => fs.readFileSync("/proc/" + process.env.SERVER_PID + "/environ", "utf8"));
      await attempt("root", () => fs.readFileSync("/proc/self/root" + process.env.SECRET, "utf8"));
      await attempt("dots", () => fs.readFileSync("../../../../../../../../.." + process.env.SECRET, "utf8"));
      await attempt("buffer", () => fs.readFileSync(Buffer.from(process.env.SECRET), "utf8"));
      await attempt("blob", async () => (await fs.openAsBlob(process.env.SECRET)).text());
      await attempt("import", async () => (await import(process.env.SECRET)).default);
      await attempt("fetch", async () => (await fetch("file://" + process.env.SECRET)).text());
      await attempt("env file", () => process.loadEnvFile?.(process.env.SECRET));
      await attempt("binding", () => process.binding("fs").readFileUtf8(process.env.SECRET, 0));
      await attempt("sqlite", () => { const { DatabaseSync } = process.getBuiltinModule("node:sqlite"); return new DatabaseSync(home + "/headwater.db"); });`,
      { SECRET: secret },
    );
    expect(got).toEqual({});
  });

  it("gets of Node's insides what SECURITY.md says, and no more", async () => {
    const { server } = await startAttacked({ sandboxUse: place.sandbox });
    if (place.isQuick) await untilQuick(server);
    expect((await (await server.deploy(HARMLESS)).run())["returned"]).toEqual(HARMLESS_ANSWERS);
  });

  it("writes nowhere but in its own folder", async () => {
    const folder = await temporaryFolder();
    const got = await attack(
      place,
      `const target = process.env.TARGET;
      await attempt("write", () => fs.writeFileSync(target + "/a", "x"));
      await attempt("code", () => { fs.writeFileSync("../component.mjs", "x"); return "written"; });
      await attempt("link", () => { fs.symlinkSync(target, "link"); fs.writeFileSync("link/b", "x"); return "written"; });
      await attempt("relative link", () => { fs.symlinkSync("../../..", "up"); fs.writeFileSync("up/c", "x"); return "written"; });
      await attempt("report", () => { process.report.directory = target; process.report.filename = "report.json"; return process.report.writeReport(); });
      await attempt("flags", () => { v8.setFlagsFromString("--trace-turbo"); v8.setFlagsFromString("--trace-turbo-path=" + target); return "set"; });
      await attempt("cfg", () => { v8.setFlagsFromString("--trace-turbo-cfg-file=" + target + "/cfg"); return "set"; });
      await attempt("snapshot", () => v8.writeHeapSnapshot(target + "/heap"));
      await attempt("near limit", () => { v8.setHeapSnapshotNearHeapLimit(1); return "set"; });
      await attempt("cache", () => { require("node:module").enableCompileCache?.(target + "/cache"); });`,
      { TARGET: folder },
    );
    expect(got).toEqual({});
    expect(await readdir(folder)).toEqual([]);
  });

  it("starts, signals and slows down no process", async () => {
    const bystander = spawn("sleep", ["60"], { detached: true });
    onTestFinished(() => void bystander.kill("SIGKILL"));
    const got = await attack(
      place,
      `const pid = Number(process.env.BYSTANDER);
      const { ChildProcess, spawnSync, fork } = require("node:child_process");
      await attempt("kill", () => process.kill(pid, 9));
      await attempt("own kill", () => Reflect.getPrototypeOf(process).kill?.(pid, 9));
      await attempt("kill uncovered", () => { delete process.kill; delete process._kill; return (process.kill ?? process._kill)?.(pid, 9); });
      await attempt("flags uncovered", () => { delete v8.setFlagsFromString; v8.setFlagsFromString?.("--expose-gc"); return v8.setFlagsFromString && "set"; });
      for (const broken of [() => Buffer.from(5), () => import(["nothing", "there"].join("-")), () => net.connect(1e9), () => process.chdir(5), () => fs.readFileSync("/etc/hostname")])
        await attempt("insides by an error", async () => { try { await broken(); } catch ({ code }) { return typeof code === "function" ? code("process_methods") : undefined; } });
      for (let n = 0; n < 300; n++) await attempt("handle", () => { new ArrayBuffer(300); return new ChildProcess()._handle.kill(9); });
      await attempt("handle spawn", () => new ChildProcess()._handle.spawn({ file: "/bin/sh", args: ["sh", "-c", "true"] }));
      await attempt("spawn", () => spawnSync("true").status ?? undefined);
      await attempt("fork", () => fork("x.mjs").pid);
      await attempt("worker", () => new (require("node:worker_threads").Worker)("1", { eval: true }).threadId);
      await attempt("cluster", () => require("node:cluster").fork().process.pid);
      await attempt("priority", () => { os.setPriority(process.ppid, 19); return "set"; });
      await attempt("debug", () => process._debugProcess(process.ppid));
      await attempt("inspector", () => { require("node:inspector").open(0); return "open"; });
      await attempt("execve", () => process.execve?.("/bin/sh", ["sh"]));`,
      { BYSTANDER: String(bystander.pid) },
    );
    expect(got).toEqual({});
    expect([bystander.exitCode, bystander.signalCode]).toEqual([null, null]);
  });

  it("reaches no local socket, by whatever handle", async () => {
    const path = join(await temporaryFolder(), "socket");
    const server = createServer((socket) => socket.end("hello"));
    await new Promise<void>((resolve) => server.listen(path, resolve));
    onTestFinished(() => void server.close());
    const got = await attack(
      place,
      `const read = (socket) => new Promise((resolve, reject) => socket.once("data", resolve).once("error", reject).once("close", () => resolve(undefined)));
      await attempt("path", () => read(net.connect(process.env.SOCKET)));
      await attempt("abstract", () => read(net.connect("\\0" + process.env.SOCKET)));
      await attempt("handle", () => { const Pipe = process.stdout._handle.constructor; const pipe = new Pipe(0); return pipe.connect({ oncomplete() {} }, process.env.SOCKET); });
      await attempt("bind", () => { const Pipe = process.stdout._handle.constructor; return new Pipe(0).bind(process.env.SOCKET + "2"); });
      await attempt("listen", () => new Promise((resolve, reject) => net.createServer().once("error", reject).listen(process.env.SOCKET + "3", () => resolve("listens"))));`,
      { SOCKET: path },
    );
    expect(got).toEqual({});
  });

  it("keeps nothing of the files that its server had open", async () => {
    const got = await attack(place, `for (let fd = 4; fd < 300; fd++) await attempt("fd " + fd, () => (fs.fstatSync(fd).isFile() ? "a file" : undefined));`);
    expect(Object.values(Object(got))).toEqual([]);
  });
});

describe("a component that may start programs", () => {
  const code = `import { execFileSync } from "node:child_process";
    const run = (...words) => { try { return execFileSync(...words, { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }); } catch (error) { return "failed: " + error.message; } };
    export default { name: "p", version: "1", run() { return [run("sh", ["-c", "echo hello"]), run("sh", ["-c", "cat " + process.env.SECRET]), run("sh", ["-c", "ls /root /home " + process.env.HOME_OF_SERVER]),
      run("sh", ["-c", "cat /proc/slabinfo /proc/kallsyms /proc/iomem /proc/keys 2>/dev/null; true"])]; } };`;

  it("starts them inside the wall alone, where they see no more than it does", async () => {
    const { server } = await startAttacked({ sandboxUse: "wall" });
    const secret = join(await temporaryFolder(), "secret.txt");
    await writeFile(secret, "hush");
    const source = await server.deploy(code, { env: { SECRET: secret, HOME_OF_SERVER: server.home } });
    expect(JSON.stringify(await source.run())).toContain("components may not start programs");
    await source.update({ allow_run: true });
    const { returned } = await source.run();
    expect(returned).toEqual(["hello\n", expect.stringContaining("failed"), expect.stringContaining("failed"), ""]);
    expect(JSON.stringify(returned)).not.toContain("hush");
    expect(JSON.stringify(returned)).not.toContain("headwater.db");
    await source.update({ allow_run: false });
    expect(JSON.stringify(await source.run())).toContain("components may not start programs");
  });

  it.each(["/tmp", "/var/tmp"])("shares its temporary files with them, and with nobody else, with a home in %s", async (place) => {
    const home = await mkdtemp(join(place, "headwater-test-"));
    onTestFinished(() => rm(home, { recursive: true, force: true, maxRetries: 5 }));
    const { server } = await startAttacked({ sandboxUse: "wall", home });
    const shares = `import { execFileSync } from "node:child_process"; import fs from "node:fs"; import os from "node:os";
      export default { name: "p", version: "1", run() { fs.writeFileSync("/tmp/in", "x"); return execFileSync("sh", ["-c", "cat $TMPDIR/in; echo y > $TMPDIR/out"], { encoding: "utf8" }) + fs.readFileSync("/tmp/out", "utf8") + fs.readdirSync(os.tmpdir()); } };`;
    const source = await server.deploy(shares);
    await source.update({ allow_run: true });
    expect((await source.run())["returned"]).toBe("xy\nin,out");
    await expect(stat("/tmp/out")).rejects.toMatchObject({ code: "ENOENT" });
  });

  it("is refused where there is only the belt", async () => {
    const { server } = await startAttacked({ sandboxUse: "belt" });
    const source = await server.deploy(code);
    await expect(source.update({ allow_run: true })).rejects.toMatchObject({ code: "PD_SANDBOX_UNAVAILABLE" });
    expect((await source.run())["outcome"]).toBe("returned");
  });
});

describe("a home", () => {
  it("that was made for everybody is its owner's alone after a start, with all that lies in it", async () => {
    const { chmod, mkdir } = await import("node:fs/promises");
    const home = join(await temporaryFolder(), "home");
    await mkdir(home, { mode: 0o777 });
    await chmod(home, 0o777);
    await writeFile(join(home, "api-key"), "0123456789abcdef0123456789abcdef\n", { mode: 0o644 });
    const { server } = await startAttacked({ home });
    await server.deploy(component(""));
    expect((await stat(home)).mode & 0o077).toBe(0);
    for (const name of await readdir(home)) expect([name, (await stat(join(home, name))).mode & 0o077]).toEqual([name, 0]);
    expect(await readFile(join(home, "api-key"), "utf8")).toContain("0123456789");
  });
});
