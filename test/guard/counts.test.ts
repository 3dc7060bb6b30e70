/** The cost of a request and of a start, the same on every machine. A change that raises one needs a reason. */
import { readFile, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import type { Database, Statement } from "../../src/database/driver.ts";
import type { ToHost } from "../../src/sandbox/channel/protocol.ts";
import { runText } from "../../src/sandbox/channel/protocol.ts";
import { ComponentHost } from "../../src/sandbox/child/component/component-host.ts";
import { Publisher } from "../../src/store/sqlite/tables/deliveries.ts";
import { openForReading, openForWriting } from "../../src/store/sqlite/file/open.ts";
import { row } from "../../src/store/rows/rows.ts";
import { runWrites } from "../../src/store/sqlite/tables/runs.ts";
import { SourceProgress } from "../../src/store/sqlite/rows/source-progress.ts";
import { runMessage } from "../../src/store/sqlite/rows/run-message.ts";
import { Witness, witnessPath } from "../../src/store/sqlite/file/witness.ts";
import { programFile } from "../../src/system/program-files.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { component, run, source } from "../contract/store.ts";
import { temporaryFolder } from "../support/home.ts";
import { PD } from "../support/pd.ts";
import { STORE_DEFAULTS } from "../support/store.ts";

const BODY = JSON.stringify({ text: "x".repeat(1000) });
const TRIGGER = {
  kind: "http",
  method: "POST",
  path: "/",
  query: "",
  url: "http://127.0.0.1:1/key/",
  headers: { host: "127.0.0.1:1", "content-type": "application/json", "content-length": "1011" },
  clientIp: "127.0.0.1",
  body: BODY,
  encoding: "utf8",
} as const;

function openAt(path: string): Promise<Store> {
  return openSqliteStore({
    path,
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    ...STORE_DEFAULTS,
    onRevision: () => {},
    identity: { userId: "u_1", workspaceId: "o_1" },
  });
}

function counting(db: Database): { db: Database; count: () => number } {
  let count = 0;
  const counted = (statement: Statement): Statement => ({
    get: (...values) => (count++, statement.get(...values)),
    all: (...values) => (count++, statement.all(...values)),
    run: (...values) => (count++, statement.run(...values)),
  });
  return { db: { ...db, prepare: (sql) => counted(db.prepare(sql)) }, count: () => count };
}

describe("what a request costs at most", () => {
  it("one message to the component's process and one back, of little more than what it carries", async () => {
    const call = {
      type: "host:call",
      id: "inv_1",
      method: { kind: "run", trigger: TRIGGER },
      configured: {},
      endpoint: "http://127.0.0.1:1/key",
      dynamicProps: [],
    } as const;
    expect(runText(call, JSON.stringify(TRIGGER)).length - BODY.length).toBeLessThanOrEqual(480);
    const told: ToHost[] = [];
    const tell = (message: ToHost): void => void told.push(message);
    const component = {
      name: "n",
      version: "1",
      run(this: { $emit(event: unknown, meta: object): void }, event: { body: unknown }) {
        this.$emit(event.body, { id: 1 });
      },
    };
    const host = new ComponentHost({ tell, sendNow: tell, importModule: async () => ({ default: component }) });
    await host.receive({ type: "host:load", url: "", preloads: [], env: {}, state: {}, epoch: 0 });
    told.length = 0;
    await host.receive(call);
    expect(told.map(({ type }) => type)).toEqual(["child:done"]);
    expect(JSON.stringify(told[0]).length).toBeLessThanOrEqual(BODY.length + 200);
  });

  it("three statements, and three for all of its source that wait together", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    await store.close();
    const opened = openForWriting(path, programFile("migrations"), { witness: new Witness(witnessPath(path)), onRevision: () => {} });
    onTestFinished(() => opened.close());
    const { db, count } = counting(opened);
    const progress = new SourceProgress(db);
    const writes = runWrites(db, { progress, publisher: new Publisher(db) });
    const runs = 20;
    db.transaction(() => {
      for (let n = 0; n < runs; n++)
        writes.commit(runMessage(run(fence, "dc_a", `inv_${n}`, { events: [{ payload: BODY, channel: "" }], learned: { unique: [String(n)] } })));
      progress.flush();
    });
    expect(count()).toBeLessThanOrEqual(3 * runs + 3);
  });

  it("a hundredth of a commit, when 100 wait at once", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openAt(path);
    onTestFinished(() => store.close());
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    const db = openDatabase(path, { isReadOnly: true, timeoutMs: 5000 });
    onTestFinished(() => db.close());
    const commits = (): number => Number(row(db.prepare("select count from commits").get())?.["count"]);
    const before = commits();
    await Promise.all(Array.from({ length: 100 }, (_none, n) => store.commit(run(fence, "dc_a", `inv_${n}`, { events: [{ payload: BODY, channel: "" }] }))));
    expect(commits() - before).toBe(1);
  });
});

describe("what a connection to the database keeps in memory at most", () => {
  it("2 MB of pages, whatever the driver would keep", async () => {
    const path = join(await temporaryFolder(), "db");
    const writing = openForWriting(path, programFile("migrations"), { witness: new Witness(witnessPath(path)), onRevision: () => {} });
    const connections = [writing, openForReading(path)];
    onTestFinished(() => connections.forEach((db) => db.close()));
    expect(connections.map((db) => db.pragma("cache_size"))).toEqual([-2000, -2000]);
  });
});

describe("what the start of the command costs at most", () => {
  it("no file of dist for its version, and 138 kB before it knows what a command needs", async () => {
    const text = await readFile(PD, "utf8");
    expect(text.indexOf('words[0] === "--version"')).toBeLessThan(text.indexOf('import("../dist/pd.js")'));
    expect(sizeOf(await filesOf(join(DIST, "pd.js")))).toBeLessThanOrEqual(138_000);
  });

  it("300 kB more for one that asks the server, without undici, which is loaded when it asks", async () => {
    const texts = await filesOf(await chunkOf("list"));
    expect(texts.length).toBeGreaterThan(1);
    expect(sizeOf(texts)).toBeLessThanOrEqual(300_000);
    expect(texts.some((text) => text.includes("undici:request:create"))).toBe(false);
  });
});

describe("what the start of a server costs at most", () => {
  it("1,000 kB of text, without what it may never use and the API", async () => {
    const texts = await filesOf(await chunkOf("up"));
    expect(texts.length).toBeGreaterThan(5);
    expect(sizeOf(texts)).toBeLessThanOrEqual(1_000_000);
    // These texts are from undici, the MCP SDK, YAML, ws and prom-client.
    for (const mark of ["undici:request:create", "notifications/initialized", "BAD_COLLECTION_TYPE", "WS_ERR_INVALID", "nodejs_eventloop_lag"])
      expect([mark, texts.some((text) => text.includes(mark))]).toEqual([mark, false]);
  });
});

describe("what each process of a component has in memory at most", () => {
  it("230 kB of text, without what reads timers", async () => {
    const texts = await filesOf(join(dirname(PD), "..", "dist", "child.cjs"));
    expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(230_000);
    // This text is from croner.
    expect(texts.some((text) => text.includes("CronDate"))).toBe(false);
  });
});

const DIST = join(dirname(PD), "..", "dist");

async function chunkOf(command: string): Promise<string> {
  const name = (await readdir(DIST)).find((file) => new RegExp(`^${command}-[A-Z0-9]{8}\\.js$`).test(file));
  return join(DIST, name ?? `${command}.js`);
}

function sizeOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}

/** Includes all files that it imports at its start. */
async function filesOf(path: string, seen = new Set<string>()): Promise<string[]> {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = await readFile(path, "utf8");
  const imported = [...text.matchAll(/(?:\bfrom|\bimport)"(\.\/[\w.-]+)"/g)].map(([, name = ""]) => join(dirname(path), name));
  const others: string[] = [];
  for (const other of imported) others.push(...(await filesOf(other, seen)));
  return [text, ...others];
}
