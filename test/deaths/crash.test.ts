import { createClient } from "../../src/client/client.ts";
import { readdirSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { componentPath } from "../support/components.ts";
import { Gate } from "../support/gate.ts";
import { PdHome, type Server, killHard } from "../support/pd.ts";
import { FakeRegistry } from "../support/registry.ts";
import { eventually } from "../support/runtime.ts";

function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return state / 2 ** 31;
  };
}

async function storedIds(home: PdHome, source: string): Promise<number[]> {
  const events: unknown = await home.json("events", source, "-n", "1000");
  return Array.isArray(events) ? events.map((event) => Number(event.event.id)) : [];
}

async function sendUntilGone(url: string, firstId: number, onAcknowledged: () => void): Promise<number[]> {
  const acknowledged: number[] = [];
  for (let id = firstId; ; id++) {
    const answer = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ id }) }).catch(() => undefined);
    if (answer?.status !== 200) return acknowledged;
    acknowledged.push(id);
    onAcknowledged();
  }
}

function endpointOf(server: Server, source: Record<string, unknown>): string {
  return server.endpointUrl + new URL(String(source["endpoint_url"])).pathname;
}

describe("a server that is killed", () => {
  it("has lost nothing that it acknowledged, and doubled nothing, kill after kill", async () => {
    const home = await PdHome.make();
    const random = seeded(7);
    let server = await home.up();
    const source = await home.json("deploy", componentPath("http-plain.mjs"));
    const acknowledged: number[] = [];
    for (let round = 0; round < 6; round++) {
      const url = endpointOf(server, source);
      let left = 20 + Math.floor(random() * 60);
      let hit = (): void => {};
      const isTime = new Promise<void>((resolve) => (hit = resolve));
      const clients = [0, 1, 2, 3].map((client) => sendUntilGone(url, round * 100_000 + client * 10_000, () => (--left === 0 ? hit() : undefined)));
      await isTime;
      await killHard(server.child);
      acknowledged.push(...(await Promise.all(clients)).flat());
      server = await home.up();
    }
    const ids = await storedIds(home, "http-plain");
    expect(acknowledged.length).toBeGreaterThanOrEqual(6 * 20);
    expect(acknowledged.slice(-900).filter((id) => !ids.includes(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("runs again what it had acknowledged while the run went on", async () => {
    const home = await PdHome.make();
    const first = await home.up();
    const file = await home.file(
      "slow.mjs",
      'export default { name: "Slow", version: "1", props: { http: "$.interface.http" }, async run(event) { await new Promise((done) => setTimeout(done, 900)); this.$emit({ id: Number(event.body) }); } };',
    );
    const source = await home.json("deploy", file);
    expect((await fetch(endpointOf(first, source), { method: "POST", body: "5" })).status).toBe(200);
    await killHard(first.child);
    await home.up();
    await eventually(async () => (await storedIds(home, "slow")).length === 1);
    expect(await storedIds(home, "slow")).toEqual([5]);
  });

  it("records a timer's run that it cut off, and does not fire its instant again", async () => {
    const home = await PdHome.make();
    const first = await home.up();
    const file = await home.file(
      "tick.mjs",
      'export default { name: "Tick", version: "1", props: { db: "$.service.db", timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } }, async run(event) { this.$emit({ id: event.timestamp }); await new Promise((done) => setTimeout(done, 60000)); } };',
    );
    const { id } = await home.json("deploy", file);
    await eventually(async () => instants(first, String(id)).then((found) => found.some(({ state }) => state === "running")));
    const [running] = await instants(first, String(id));
    await killHard(first.child);
    const second = await home.up();
    const after = await instants(second, String(id));
    expect(after.find(({ planned_at_ms }) => planned_at_ms === running?.planned_at_ms)).toMatchObject({
      state: "fired",
      invocation_id: running?.invocation_id,
    });
    expect(await second.api.get(`/v1/invocations/${String(running?.invocation_id)}`)).toMatchObject({
      data: { outcome: "interrupted", message: "interrupted: the server ended while it ran" },
    });
  });

  it.each([
    { verb: "deploy", left: undefined },
    { verb: "update", left: { version: "1", db: { activated: 1 } } },
    { verb: "delete", left: { version: "1", db: { activated: 1 } } },
    { verb: "run", left: { version: "1", db: { activated: 1 } } },
    { verb: "replay", left: { version: "1", db: { activated: 1, runs: 1 } } },
  ])("in the middle of $verb has changed all or nothing", async ({ verb, left }) => {
    const home = await PdHome.make();
    const first = await home.up();
    const gate = await Gate.open();
    const file = await home.file("verb.mjs", verbSource(1));
    const passing = await home.file("passing.json", "{}");
    const stopping = await home.file("stopping.json", JSON.stringify({ gate: gate.url }));
    if (verb !== "deploy") await home.pd("deploy", file);
    if (verb === "delete") await home.pd("db", "set", "verb", "gate", JSON.stringify(gate.url));
    const { id: before } = verb === "replay" ? await home.json("run", "verb", "--event", passing) : { id: "" };
    await writeFile(file, verbSource(2));
    if (verb === "replay") await home.pd("db", "set", "verb", "stop", JSON.stringify(gate.url));
    const words: Readonly<Record<string, readonly string[]>> = {
      deploy: ["deploy", file, "--prop", `gate=${gate.url}`],
      update: ["update", "verb", "--code", file, "--prop", `gate=${gate.url}`],
      delete: ["delete", "verb", "--yes"],
      run: ["run", "verb", "--event", stopping],
      replay: ["replay", "verb", String(before)],
    };
    home.spawn(words[verb] ?? []);
    await gate.reached;
    await killHard(first.child);
    await home.up();
    if (left === undefined) return expect(await home.json("list")).toEqual([]);
    expect(await home.json("describe", "verb")).toMatchObject({ component_version: left.version, active: true });
    if (verb === "replay") await home.pd("db", "delete", "verb", "stop");
    if (verb === "delete") await home.pd("db", "delete", "verb", "gate");
    // The server answers before it has reactivated such a source.
    await expect.poll(() => home.json("db", "list", "verb")).toEqual(left.db);
    expect(await home.json("events", "verb")).toHaveLength("runs" in left.db ? 1 : 0);
    return expect(await home.json("run", "verb", "--event", passing)).toMatchObject({ outcome: "returned", event_count: 1 });
  });

  it("in the middle of an install leaves nothing half installed, and the next one installs", async () => {
    const registry = await FakeRegistry.start();
    await registry.publish("headwater-half", "1.0.0");
    const gate = await Gate.open();
    const home = await PdHome.make();
    const file = await home.file("half.mjs", 'import version from "headwater-half"; export default { name: "Half", version: "1", run() { return version; } };');
    const first = await home.up([], { env: { npm_config_registry: gate.url } });
    home.spawn(["deploy", file]);
    await gate.reached;
    await killHard(first.child);
    expect(readdirSync(join(home.home, "packages"))).toHaveLength(1);
    await home.up([], { env: { npm_config_registry: registry.url } });
    expect(readdirSync(join(home.home, "packages"))).toEqual([]);
    await home.pd("deploy", file);
    expect(await home.json("run", "half")).toMatchObject({ returned: "1.0.0" });
  });

  it("in the middle of an update activates the old version again, once its endpoint answers", async () => {
    const home = await PdHome.make();
    const first = await home.up();
    const gate = await Gate.open();
    const code = (activate: string): string =>
      `export default { name: "Shake", version: "1", props: { db: "$.service.db", http: { type: "$.interface.http", customResponse: true } }, hooks: { async activate() { ${activate} }, deactivate() { this.db.set("hands", null); } }, run() { this.http.respond({ body: "shaken" }); } };`;
    const file = await home.file("shake.mjs", code('this.db.set("hands", await (await fetch(this.http.endpoint)).text());'));
    await home.pd("deploy", file);
    home.spawn(["update", "shake", "--code", await home.file("stops.mjs", code(`await fetch("${gate.url}");`))]);
    await gate.reached;
    await killHard(first.child);
    await home.up();
    await expect.poll(() => home.json("db", "list", "shake")).toEqual({ hands: "shaken" });
  });

  it("takes the processes of its components with it", async () => {
    const home = await PdHome.make();
    const server = await home.up();
    await home.pd("deploy", componentPath("http-plain.mjs"));
    await expect.poll(() => childrenOf(home).length).toBe(2);
    await killHard(server.child);
    await expect.poll(() => childrenOf(home).length).toBe(0);
  });

  it("leaves no process of a component behind, not even one that loops", async () => {
    const home = await PdHome.make();
    const first = await home.up();
    await home.pd("deploy", componentPath("endless-loop.mjs"));
    const event = await home.file("event.json", '{ "loop": true }');
    const lines = createClient(first.api.connection).follow.logs("endless-loop");
    await lines.opened;
    home.spawn(["run", "endless-loop", "--event", event]);
    for await (const { msg } of lines) if (msg === "before") break;
    await killHard(first.child);
    await home.up();
    await expect.poll(() => childrenOf(home).length).toBe(1);
  });
});

interface Instant {
  readonly planned_at_ms: number;
  readonly state: string;
  readonly invocation_id?: string;
}

async function instants({ api }: Server, id: string): Promise<Instant[]> {
  const { data } = await api.get(`/v1/sources/${id}/timer_instants`);
  return JSON.parse(JSON.stringify(data));
}

function verbSource(version: number): string {
  return `export default {
  name: "Verb",
  version: "${version}",
  props: { db: "$.service.db", gate: { type: "string", optional: true } },
  hooks: {
    async activate() { this.db.set("activated", ${version}); if (this.gate) await fetch(this.gate); },
    async deactivate() { const gate = this.db.get("gate"); this.db.set("activated", null); if (gate) await fetch(gate); },
  },
  async run(event) {
    this.db.set("runs", 1);
    this.$emit({ version: ${version} });
    const gate = event.gate ?? this.db.get("stop");
    if (gate) await fetch(gate);
  },
};
`;
}

function childrenOf(home: PdHome): string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      // Excludes the sandbox around them.
      return command.startsWith(process.execPath) && command.includes(join(home.home, "run"));
    } catch {
      return false;
    }
  });
}

describe("a full disk", () => {
  it("costs no acknowledged event: what cannot be stored is refused, and the server lives on", async () => {
    const home = await PdHome.make();
    // Simulates a full disk.
    const server = await home.up([], { shell: "ulimit -f 1500" });
    const source = await home.json(
      "deploy",
      await home.file(
        "big.mjs",
        'export default { name: "Big", version: "1", props: { http: "$.interface.http" }, run(event) { this.$emit({ id: Number(event.query.id), text: "x".repeat(20000) }); } };',
      ),
    );
    const [acknowledged, refused]: [number[], number[]] = [[], []];
    for (let id = 1; id <= 120; id++) {
      const answer = await fetch(`${endpointOf(server, source)}?id=${id}`, { method: "POST" });
      (answer.status === 200 ? acknowledged : refused).push(id);
      if (answer.status !== 200) expect(await answer.json()).toMatchObject({ code: "PD_NOT_STORED" });
    }
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(refused.length).toBeGreaterThan(5);
    expect(server.child.exitCode).toBeNull();
    await killHard(server.child);
    const again = await home.up();
    expect(new Set(await storedIds(home, "big"))).toEqual(new Set(acknowledged));
    expect((await fetch(`${endpointOf(again, source)}?id=121`, { method: "POST" })).status).toBe(200);
  });
});

describe("a full disk at a deploy or an update", () => {
  it("fails it whole, and what runs goes on", async () => {
    const home = await PdHome.make();
    const server = await home.up([], { shell: "ulimit -f 1000" });
    const file = await home.file("kept.mjs", 'export default { name: "Kept", version: "1", run() { return 1; } };');
    await home.pd("deploy", file);
    const large = await home.file("large.mjs", `export default { name: "Large", version: "2", run() { return 2; } }; // ${"x".repeat(700_000)}`);
    expect(await home.pd("deploy", large)).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_NOT_STORED]") });
    expect(await home.pd("update", "kept", "--code", large)).toMatchObject({ code: 1, stderr: expect.stringContaining("[PD_NOT_STORED]") });
    expect(server.child.exitCode).toBeNull();
    await killHard(server.child);
    await home.up();
    expect(await home.json("list")).toMatchObject([{ name_slug: "kept", component_version: "1" }]);
    expect(await home.json("run", "kept")).toMatchObject({ returned: 1 });
  });
});

describe("a damaged database", () => {
  it("is refused by name and left alone", async () => {
    const home = await PdHome.make();
    await home.pd("up", "--detach");
    await home.pd("down");
    const path = join(home.home, "headwater.db");
    await writeFile(path, "not a database at all, but mine".repeat(200));
    const result = await home.pd("up");
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toContain(`Error: Cannot open the database ${path}`);
    expect(readFileSync(path, "utf8")).toContain("but mine");
  });
});
