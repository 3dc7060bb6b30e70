/** V8 counts allocations and object shapes in a separate process, independent of the machine's speed. A change that raises a figure needs a reason. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { build } from "esbuild";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "..", "..", "src");

/** One request after another, from the pipe to the writer's thread. */
const PROGRAM = `
import { ComponentHost } from "${SRC}/sandbox/child/component/component-host.ts";
import { readToHost } from "${SRC}/sandbox/channel/read-message.ts";
import { runText } from "${SRC}/sandbox/channel/protocol.ts";
import { commitRun } from "${SRC}/engine/runs/commits/commit-run.ts";
import { EventFeed } from "${SRC}/engine/runs/commits/event-feed.ts";
import { runMessage } from "${SRC}/store/sqlite/rows/run-message.ts";
import { StoredCommit } from "${SRC}/store/rows/stored-commit.ts";

const BODY = JSON.stringify({ text: "x".repeat(1000) });
const trigger = { kind: "http", method: "POST", path: "/", query: "", url: "http://127.0.0.1:1/key/", headers: { host: "127.0.0.1:1", "content-type": "application/json" }, clientIp: "127.0.0.1", body: BODY, encoding: "utf8" };
let told;
const tell = (message) => (told = JSON.stringify(message));
const component = { name: "n", version: "1", props: { db: "$.service.db" }, run(event) { this.$emit(event.body, { id: event.headers["x-id"] ?? ++globalThis.n }); if (globalThis.n % 3 === 0) this.db.set("n", 1); } };
globalThis.n = 0;
const host = new ComponentHost({ tell, sendNow: tell, importModule: async () => ({ default: component }) });
await host.receive({ type: "host:load", url: "", preloads: [], env: {}, state: {}, epoch: 0 });

const shapes = [];
const commits = [];
const ports = {
  clock: { now: () => 1 },
  meter: { ran() {} },
  feed: new EventFeed({}),
  onDeliveries() {},
  onPostponed() {},
  signal: new AbortController().signal,
  store: {
    commit: async (run) => {
      const travelling = runMessage(run);
      const stored = new StoredCommit({ firstSeq: 1, listeners: [] }, run.events, travelling);
      if (commits.length < 50) commits.push([run, run.invocation, travelling, stored]);
      return stored;
    },
  },
};
const owner = { sourceId: "dc_a", fence: 1, cache: {} };

async function request(n) {
  const call = { type: "host:call", id: "inv_" + n, method: { kind: "run", trigger }, configured: {}, endpoint: "", dynamicProps: [], asksHost: undefined, nowMs: undefined };
  await host.receive(JSON.parse(runText(call, JSON.stringify(trigger))));
  const { id, outcome, part, returned } = readToHost(told);
  const result = { outcome, emits: part.emits, stateChanges: part.stateChanges, touched: part.touched, logs: [], hasExited: undefined, returned, report: undefined };
  const invocation = { id, sourceId: "dc_a", version: 1, trigger, startedAt: 0, replayOf: undefined, responseStatus: 200 };
  await commitRun(ports, { owner, strategy: "unique", invocation, result, triggerText: "{}", step: undefined });
}

const { PerformanceObserver, constants } = process.getBuiltinModule("node:perf_hooks");
let scavenges = 0;
new PerformanceObserver((list) => (scavenges += list.getEntries().filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MINOR).length)).observe({ entryTypes: ["gc"] });
for (let n = 0; n < 5000; n++) await request(n);
for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
const before = scavenges;
const REQUESTS = 20_000;
for (let n = 0; n < REQUESTS; n++) await request(n);
for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
const same = [0, 1, 2, 3].map((place) => commits.every((made) => %HaveSameMap(made[place], commits[0][place])));
console.log(JSON.stringify({ scavenges: scavenges - before, same }));
`;

describe("a request", () => {
  it("allocates no more than it did, and its objects keep one shape", async () => {
    const { outputFiles } = await build({
      stdin: { contents: PROGRAM.replace(/%HaveSameMap/g, "globalThis.haveSameMap"), resolveDir: SRC, loader: "js" },
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
      write: false,
    });
    const code = `globalThis.haveSameMap = new Function("a", "b", "return %HaveSameMap(a, b)");\n${outputFiles[0]?.text ?? ""}`;
    // Each scavenge counts as 1 MB, the space for new objects.
    const flags = ["--allow-natives-syntax", "--max-semi-space-size=1", "--min-semi-space-size=1", "--no-warnings", "--input-type=module"];
    const { scavenges, same } = JSON.parse(execFileSync(process.execPath, [...flags, "-"], { input: code, encoding: "utf8" }));
    expect(same).toEqual([true, true, true, true]);
    const kilobytes = (scavenges * 1024) / 20_000;
    expect(kilobytes).toBeGreaterThan(1);
    expect(kilobytes).toBeLessThanOrEqual(58);
  });
});
