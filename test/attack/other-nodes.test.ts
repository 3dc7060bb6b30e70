/** Each version of Node has its own modules and flags. Installs them, with ATTACK_NODES=22,24,26. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { HARMLESS, HARMLESS_ANSWERS } from "./harmless.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const VERSIONS = (process.env["ATTACK_NODES"] ?? "").split(",").filter((version) => version !== "");
const ROOT = join(import.meta.dirname, "..", "..");

const ATTEMPTS = `
  import fs from "node:fs"; import os from "node:os"; import v8 from "node:v8"; import { createRequire } from "node:module";
  const require = createRequire(import.meta.url);
  export default { name: "attack", version: "1", async run() {
    const got = {};
    const attempt = async (name, work) => { try { const value = await work(); if (value !== undefined) got[name] = String(value).slice(0, 200); } catch {} };
    const target = process.env.TARGET;
    for (const load of [() => require("node:sqlite"), () => import("node:sqlite"), () => process.getBuiltinModule("node:sqlite")])
      await attempt("sqlite " + load, async () => { const { DatabaseSync } = await load(); new DatabaseSync(target + "/made.db").exec("create table a (b)"); return "made"; });
    await attempt("backup", async () => { const { backup, DatabaseSync } = process.getBuiltinModule("node:sqlite"); await backup(new DatabaseSync(":memory:"), target + "/backup.db"); return "made"; });
    await attempt("flags", () => { v8.setFlagsFromString("--trace-turbo-cfg-file=" + target + "/cfg"); return "set"; });
    await attempt("report", () => { process.report.directory = target; return process.report.writeReport(); });
    await attempt("report on signal", () => { process.report.reportOnFatalError = true; return process.report.reportOnFatalError === true ? "set" : undefined; });
    await attempt("snapshot", () => v8.writeHeapSnapshot(target + "/heap"));
    const { ChildProcess, spawnSync } = require("node:child_process");
    await attempt("handle kill", () => new ChildProcess()._handle.kill(0));
    await attempt("kill", () => process.kill(Number(process.env.SERVER_PID), 0));
    await attempt("spawn", () => spawnSync("true").status ?? undefined);
    await attempt("execve", () => process.execve?.("/bin/true", ["true"]));
    await attempt("pipe", () => new process.stdout._handle.constructor(0).bind(target + "/socket"));
    await attempt("priority", () => { os.setPriority(process.ppid, 19); return "set"; });
    await attempt("worker", () => new (require("node:worker_threads").Worker)("1", { eval: true }).threadId);
    await attempt("read", () => fs.readFileSync("/etc/shadow", "utf8"));
    await attempt("write", () => fs.writeFileSync(target + "/file", "x") ?? "written");
    await attempt("env file", () => { process.loadEnvFile?.("/etc/passwd"); return undefined; });
    await attempt("cache", () => { require("node:module").enableCompileCache?.(target + "/cache"); return fs.existsSync(target + "/cache") ? "made" : undefined; });
    await attempt("ffi", () => { const ffi = process.getBuiltinModule("node:ffi"); return ffi === undefined ? undefined : ffi.dlopen("libc.so.6", { getpid: { result: "int32", parameters: [] } }).functions?.getpid?.(); });
    return got;
  } };`;

/** The component may only reach the API and itself. */
const REACHING = `
  import http from "node:http"; import net from "node:net"; import os from "node:os"; import dns from "node:dns";
  export default { name: "reach", version: "1", async run() {
    const told = (work) => work.then((value) => value, (error) => error.code ?? error.cause?.code ?? error.message);
    const named = (url) => told(fetch(url, { method: "POST", body: "hello" }).then(async (answer) => answer.headers.get("x-name") + " " + (await answer.text())));
    const get = (url) => told(new Promise((resolve, reject) => http.get(url, (answer) => { answer.resume(); resolve(answer.headers["x-name"]); }).on("error", reject)));
    const raw = (url) => told(new Promise((resolve, reject) => { const { hostname: host, port } = new URL(url); net.connect({ host, port }, function () { resolve("connected"); this.destroy(); }).on("error", reject); }));
    const own = http.createServer((request, response) => response.end("own"));
    await new Promise((resolve) => own.listen(0, "127.0.0.1", resolve));
    const itself = await told(fetch("http://127.0.0.1:" + own.address().port).then((answer) => answer.text()));
    own.close(); own.closeAllConnections();
    const others = Object.values(os.networkInterfaces()).flat().filter(({ internal }) => !internal).length;
    const { API, OTHER } = process.env;
    return [await named(API), await get(API), await raw(API), await named(OTHER), await get(OTHER), await raw(OTHER), await told(dns.promises.lookup("localhost")), itself, others];
  } };`;

async function nodeOf(version: string): Promise<string> {
  const folder = join(ROOT, "node_modules", ".cache", "nodes", version);
  const node = join(folder, "node_modules", "node", "bin", "node");
  if (existsSync(node)) return node;
  mkdirSync(folder, { recursive: true });
  execFileSync("npm", ["install", "--no-save", "--no-audit", "--prefix", folder, `node@${version}`], { stdio: "ignore" });
  return node;
}

describe.runIf(VERSIONS.length > 0)("a component's process on another Node", () => {
  let [folder, harness] = ["", ""];

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "attack-nodes-"));
    harness = join(folder, "harness.mjs");
    await build({
      entryPoints: [join(import.meta.dirname, "node-harness.ts")],
      outfile: harness,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
    });
  });

  it.each(VERSIONS.flatMap((version) => ["wall", "belt"].map((sandbox) => [version, sandbox] as const)))(
    "%s, in the %s, gets nothing",
    async (version, sandbox) => {
      const output = execFileSync(await nodeOf(version), [harness, join(ROOT, "dist", "child.cjs"), sandbox, ATTEMPTS], { encoding: "utf8", timeout: 60_000 });
      expect(JSON.parse(output)).toMatchObject({ outcome: { kind: "returned" }, version: expect.stringMatching(new RegExp(`^v${version}\\.`)) });
      expect(JSON.parse(output).returned).toEqual({});
    },
  );

  it.each(VERSIONS.flatMap((version) => ["wall", "belt"].map((sandbox) => [version, sandbox] as const)))(
    "%s, in the %s, gets of Node's insides what SECURITY.md says, and no more",
    async (version, sandbox) => {
      const output = execFileSync(await nodeOf(version), [harness, join(ROOT, "dist", "child.cjs"), sandbox, HARMLESS], { encoding: "utf8", timeout: 60_000 });
      expect(JSON.parse(output).returned).toEqual(HARMLESS_ANSWERS);
    },
  );

  it.each(VERSIONS)("%s, whose network is public, reaches the API and itself", async (version) => {
    const output = execFileSync(await nodeOf(version), [harness, join(ROOT, "dist", "child.cjs"), "public", REACHING], { encoding: "utf8", timeout: 60_000 });
    expect(JSON.parse(output)).toMatchObject({ outcome: { kind: "returned" } });
    expect(JSON.parse(output).returned).toEqual(["api hello", "api", "connected", "EACCES", "EACCES", "EACCES", "EACCES", "own", 0]);
  });
});
