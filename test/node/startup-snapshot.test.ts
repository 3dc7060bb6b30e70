import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Duplex } from "node:stream";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Log } from "../../src/ports/log.ts";
import { belt } from "../../src/sandbox/wall/enclosure.ts";
import { ProcessRunner } from "../../src/sandbox/process-runner.ts";
import type { ToChild, ToHost } from "../../src/sandbox/channel/protocol.ts";
import { makeSnapshot } from "../../src/sandbox/snapshot/startup-snapshot.ts";
import { systemClock } from "../../src/system/clock.ts";
import { programFile } from "../../src/system/program-files.ts";
import { temporaryFolder } from "../support/home.ts";
import { componentPids } from "../support/processes.ts";
import { TestServer, eventually } from "../support/runtime.ts";

/** Longer than any test. */
const NEVER = 3_600_000;

const IS_QUICK = 'process.execArgv.includes("--snapshot-blob")';

async function setUp({ snapshotAfterMs, entry = programFile("child.cjs") }: { snapshotAfterMs?: number; entry?: string } = {}) {
  const folder = await temporaryFolder();
  const warnings: unknown[] = [];
  const log: Log = { info: () => {}, error: () => {}, warn: (text, facts) => warnings.push([text, facts]) };
  const runner = await ProcessRunner.start({
    entry,
    snapshotAfterMs,
    runFolder: join(folder, "run"),
    packagesFolder: join(folder, "packages"),
    memoryMb: 256,
    enclosure: belt("it is not looked at here"),
    apiUrl: () => "http://127.0.0.1:1",
    clock: systemClock,
    log,
  });
  onTestFinished(() => runner[Symbol.asyncDispose]());
  const valueOf = async (expression: string): Promise<unknown> => {
    const code = `export default { name: "t", version: "1", async run() { return ${expression}; } };`;
    const bundle = { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
    const unit = await runner.start({ bundle, env: {}, state: {} }, { late: () => {}, ended: () => {} });
    const method = { kind: "run", trigger: { kind: "manual", event: {} } } as const;
    const request = { id: "inv_1", method, configured: {}, dataStores: [], secrets: [], endpoint: "", deadlineMs: 20_000 } as const;
    const { returned, outcome } = await unit.call(request, { log: () => {}, respond: () => {} });
    expect(outcome).toEqual({ kind: "returned" });
    return JSON.parse(returned ?? "null");
  };
  return { folder, runner, warnings, valueOf };
}

async function commandsOfAll(): Promise<readonly string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  return Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
}

/** What a component reaches in three steps from its globals and Node's modules, with types. */
const REACHED = `(() => {
  const seen = new Set();
  const lines = [];
  const skipped = /^global\\.(global|globalThis)$|^process\\.(env|config|features|versions|release|argv|execArgv|mainModule|memoryUsage)\\.|_cache|_pathCache|\\.cache\\.|moduleLoadList|\\.domain$|defaultCipherList|\\bpaths\\b/;
  const walk = (value, path, depth) => {
    if (value === null || (typeof value !== "object" && typeof value !== "function") || seen.has(value) || depth > 3) return;
    seen.add(value);
    for (const key of Reflect.ownKeys(value)) {
      const name = path + "." + String(key);
      const found = Object.getOwnPropertyDescriptor(value, key);
      if (skipped.test(name) || found === undefined) continue;
      const kind = "value" in found ? typeof found.value + (typeof found.value === "function" ? found.value.length : "") : [found.get && "get", found.set && "set"].join();
      lines.push([name, kind, found.writable, found.enumerable, found.configurable].join(" "));
      if ("value" in found) walk(found.value, name, depth + 1);
    }
    walk(Object.getPrototypeOf(value), path + ".__proto__", depth + 1);
  };
  const modules = process.getBuiltinModule("node:module").builtinModules.filter((name) => !/^_|sqlite|inspector|^test|sea$|domain/.test(name));
  // Some are made when they are first asked for, and some make others.
  for (const made of [globalThis, ...modules.map((name) => process.getBuiltinModule(name)), process.getBuiltinModule("crypto").constants]) for (const key of Reflect.ownKeys(made)) try { void made[key]; } catch {}
  walk(process, "process", 0);
  walk(console, "console", 0);
  walk(globalThis, "global", 0);
  for (const name of modules) walk(process.getBuiltinModule(name), name, 1);
  return lines.sort();
})()`;

describe("a process that starts from a snapshot", () => {
  it("offers a component what any other does", async () => {
    const [plain, quick] = [await setUp({ snapshotAfterMs: NEVER }), await setUp({ snapshotAfterMs: 0 })];
    await quick.runner.whenQuick;
    expect([await plain.valueOf(IS_QUICK), await quick.valueOf(IS_QUICK)]).toEqual([false, true]);
    const reached = await plain.valueOf(REACHED);
    expect(reached).toHaveProperty(
      "length",
      expect.toSatisfy((length: number) => length > 5000),
    );
    expect(await quick.valueOf(REACHED)).toEqual(reached);
    const facts = `[require.main?.filename?.split("/").at(-1), require.main.paths.at(-1), Object.keys(require.cache).length, process.argv.length, process.argv[1].split("/").at(-1), new console.Console(process.stdout) instanceof console.Console, typeof console.createTask, await import("node:os").then(({ EOL }) => EOL), new SharedArrayBuffer(2).byteLength, typeof WebAssembly.compile, [3, 1].toSorted()]`;
    expect(await quick.valueOf(facts)).toEqual(await plain.valueOf(facts));
  });

  it("has errors of Node whose codes are texts, and no way into Node's insides", async () => {
    const { runner, valueOf } = await setUp({ snapshotAfterMs: 0 });
    await runner.whenQuick;
    const causes = [
      "Buffer.from(5)",
      'import("nothing-that-is-there")',
      'require("node:stream").Readable.from(5)',
      "process.chdir(5)",
      'new URL("x:y:z", 5)',
      'require("node:net").connect(1e9)',
      'require("node:fs").readFileSync("/etc/hostname")',
      "process.emitWarning(5)",
      "new AbortController().signal.throwIfAborted.call(5)",
      'process.binding("spawn_sync")',
      'require("node:zlib").gzipSync(5)',
      'require("node:crypto").createHash("sha1").update(5)',
    ];
    const codes = await valueOf(
      `(async () => { const codes = []; for (const cause of ${JSON.stringify(causes)}) { try { await new Function("require", "return " + cause)(require); codes.push("none"); } catch ({ code }) { codes.push(typeof code); } } return codes; })()`,
    );
    expect([await valueOf(IS_QUICK), codes]).toEqual([true, causes.map(() => "string")]);
  });

  it("knows which of its calls a line belongs to, also after an await", async () => {
    const { runner } = await setUp({ snapshotAfterMs: 0 });
    await runner.whenQuick;
    const code = `export default { name: "t", version: "1", async run({ text }) {
      await new Promise((resolve) => setTimeout(resolve, 5));
      console.log(text + " " + ${IS_QUICK});
    } };`;
    const bundle = { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] };
    const unit = await runner.start({ bundle, env: {}, state: {} }, { late: () => {}, ended: () => {} });
    const linesOf = async (id: "inv_a" | "inv_b"): Promise<string[]> => {
      const method = { kind: "run", trigger: { kind: "manual", event: { text: id } } } as const;
      const request = { id, method, configured: {}, dataStores: [], secrets: [], endpoint: "", deadlineMs: 20_000 } as const;
      return (await unit.call(request, { log: () => {}, respond: () => {} })).logs.map(({ text }) => text);
    };
    expect(await Promise.all([linesOf("inv_a"), linesOf("inv_b")])).toEqual([["inv_a true"], ["inv_b true"]]);
  });

  it("compiles nothing of what describes and calls a component: that is in the snapshot", async () => {
    const folder = await temporaryFolder();
    const [path, logPath] = [join(folder, "child.blob"), join(folder, "compiled.log")];
    const entry = programFile("child.cjs");
    const flags = ["--log-function-events", "--no-logfile-per-isolate", `--logfile=${logPath}`];
    await makeSnapshot({ entry, flags, env: {}, path, signal: new AbortController().signal });
    const [own, module] = [join(folder, "run", "own"), join(folder, "run", "component.mjs")];
    await mkdir(own, { recursive: true });
    await writeFile(module, 'export default { name: "t", version: "1", run() { this.$emit({ a: 1 }, { id: 1 }); console.log("was run"); } };');
    const child = spawn(process.execPath, [...flags, "--snapshot-blob", path, entry], { cwd: own, env: {}, stdio: ["ignore", "ignore", "ignore", "pipe"] });
    onTestFinished(() => void child.kill("SIGKILL"));
    const channel = child.stdio[3];
    if (!(channel instanceof Duplex)) throw new Error("there is no channel");
    const send = (message: ToChild): void => void channel.write(`${JSON.stringify(message)}\n`);
    const over = once(child, "exit");
    send({ type: "host:load", url: pathToFileURL(module).href, preloads: [], env: {}, state: {}, epoch: 0 });
    for await (const line of createInterface({ input: channel })) {
      const message: ToHost = JSON.parse(line);
      const { type } = message;
      if (type === "child:load-failed") channel.end();
      if (type === "child:loaded")
        send({
          type: "host:call",
          id: "inv_1",
          method: { kind: "run", trigger: { kind: "manual", event: {} } },
          configured: {},
          endpoint: "",
          dynamicProps: [],
        });
      if (message.type !== "child:done") continue;
      expect(message.outcome).toEqual({ kind: "returned" });
      channel.end();
    }
    await over;
    const compiled = (await readFile(logPath, "utf8")).split("\n").flatMap((line) => /^function,interpreter,.*,([^,]+)$/.exec(line)?.[1] ?? []);
    // Each process compiles its start and the component.
    expect(compiled).toEqual(expect.arrayContaining(["refuseLocalSockets", "run"]));
    expect(compiled.filter((name) => ["describeComponent", "buildInstance", "emitOf", "jsonText", "takePart", "#load", "#run"].includes(name))).toEqual([]);
  });

  it("has its own time, randomness and folder", async () => {
    const { runner, valueOf } = await setUp({ snapshotAfterMs: 0 });
    await runner.whenQuick;
    const facts =
      "[Math.random(), crypto.randomUUID(), process.pid, process.cwd(), process.uptime() < 60 && Math.abs(Date.now() - performance.timeOrigin) < 60_000]";
    const [one, two] = [await valueOf(facts), await valueOf(facts)].map((told) => (Array.isArray(told) ? told : []));
    for (const place of [0, 1, 2, 3]) expect(one?.[place]).not.toEqual(two?.[place]);
    expect([one?.[4], two?.[4]]).toEqual([true, true]);
  });

  it("is not had when it starts and cannot load a component", async () => {
    const entry = join(await temporaryFolder(), "child.cjs");
    // Code with import() must be compiled after the start.
    const text = await readFile(programFile("child.cjs"), "utf8");
    await writeFile(
      entry,
      text.replace(
        '"(url) => import(url)"',
        'process.execArgv.includes("--snapshot-blob") ? "() => Promise.reject(new Error(\'not today\'))" : "(url) => import(url)"',
      ),
    );
    const { runner, valueOf, warnings } = await setUp({ snapshotAfterMs: 0, entry });
    await runner.whenQuick;
    expect(warnings).toEqual([[expect.stringContaining("without a snapshot"), { reason: expect.stringContaining("not today") }]]);
    expect(await valueOf(IS_QUICK)).toBe(false);
  });

  it("takes the place of the one that waits already", async () => {
    const { folder, runner, valueOf } = await setUp({ snapshotAfterMs: 0 });
    await runner.whenQuick;
    await eventually(async () => (await componentPids(folder)).length === 1);
    expect(await valueOf(IS_QUICK)).toBe(true);
  });

  it("is not had when its code cannot be made a snapshot: others start, and the log tells why", async () => {
    const folder = await temporaryFolder();
    const entry = join(folder, "child.cjs");
    const refusal = 'if (require("node:v8").startupSnapshot.isBuildingSnapshot()) throw new Error("not today");';
    await writeFile(entry, `${refusal}\n${await readFile(programFile("child.cjs"), "utf8")}`);
    const { runner, valueOf, warnings } = await setUp({ snapshotAfterMs: 0, entry });
    await runner.whenQuick;
    expect(warnings).toEqual([[expect.stringContaining("without a snapshot"), { reason: expect.stringContaining("not today") }]]);
    expect(await valueOf(IS_QUICK)).toBe(false);
  });

  it("is replaced by one that loads its code when the snapshot is gone", async () => {
    const { folder, runner, valueOf, warnings } = await setUp({ snapshotAfterMs: 0 });
    await runner.whenQuick;
    const [name] = (await readdir(join(folder, "run"))).filter((name) => existsSync(join(folder, "run", name, "child.blob")));
    await rm(join(folder, "run", name ?? "", "child.blob"));
    // The spare process is older than the deletion.
    expect([await valueOf(IS_QUICK), await valueOf(IS_QUICK)]).toEqual([true, false]);
    expect(warnings).toEqual([[expect.stringContaining("without a snapshot"), expect.anything()]]);
  });

  it("leaves nothing behind when the server stops while the snapshot is made", async () => {
    const { folder, runner, warnings } = await setUp({ snapshotAfterMs: 0 });
    const isMade = (words: string): boolean => words.includes(folder) && words.includes("--build-snapshot-config");
    await eventually(async () => (await commandsOfAll()).some(isMade));
    await runner[Symbol.asyncDispose]();
    expect([(await commandsOfAll()).filter((words) => words.includes(folder)), warnings]).toEqual([[], []]);
  });

  it("is what a server's components have a while after its start, and not those that may start programs", async () => {
    const server = await TestServer.start({}, { snapshotAfterMs: 0, keepsSpare: true });
    const code = `export default { name: "t", version: "1", run() { return ${IS_QUICK}; } };`;
    await eventually(async () => (await (await server.deploy(code)).run())["returned"] === true);
    const source = await server.deploy(code);
    await source.update({ allow_run: true });
    expect((await source.run())["returned"]).toBe(false);
  });
});
