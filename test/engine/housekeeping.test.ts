import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../src/database/database.ts";
import { keepPruned } from "../../src/engine/housekeeping.ts";
import type { Timer } from "../../src/ports/stores/timer-store.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { component, run, source } from "../contract/store.ts";
import { temporaryFolder } from "../support/home.ts";
import { STORE_DEFAULTS } from "../support/store.ts";

const RETENTION = { maxEvents: 2, maxInvocations: 2, maxAgeMs: 1e15 };

describe("what is kept for too long or too much", () => {
  it("is removed, and nothing is written for those who have nothing of it", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const entries = { migrations: programFile("migrations"), entry: programFile("writer.cjs") };
    const store = await openSqliteStore({ ...STORE_DEFAULTS, ...entries, path, identity: { userId: "u_1", workspaceId: "o_1" } });
    for (const id of ["dc_busy", "dc_idle", "dc_timed"] as const) await store.beginDeploy(source(id, "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_busy");
    for (const n of [1, 2, 3, 4]) await store.commit(run(fence, "dc_busy", `inv_${n}`, { events: [{ payload: "1", channel: "" }] }));
    const timer: Timer = { sourceId: "dc_timed", prop: "t", schedule: { kind: "interval", seconds: 60 }, catchUp: "latest", anchorAt: 0 };
    for (const at of [1, 2, 3, 4]) {
      const instant = { sourceId: "dc_timed", prop: "t", plannedAt: at, lastPlannedAt: at, count: 1, state: "skipped", reason: "r" } as const;
      await store.advance(timer, timer, [instant]);
    }
    const commits = (): unknown => openDatabase(path, { isReadOnly: true, timeoutMs: 1000 }).prepare("select count from commits").get();

    const [pruned, told]: [string[], string[]] = [[], []];
    async function once(): Promise<void> {
      const over = new AbortController();
      const watched = {
        ...store,
        prune: (...[id, ...rest]: Parameters<typeof store.prune>) => (pruned.push(id), store.prune(id, ...rest)),
        shrink: async () => (over.abort(), 0),
      };
      const ports = { store: watched, clock: systemClock, log: silentLog, signal: over.signal, settings: { retention: RETENTION } };
      await keepPruned(ports, { deployed: () => ["dc_idle", "dc_busy", "dc_timed"], onPruned: (id) => told.push(id) });
    }
    await once();
    expect([[...new Set(pruned)], told]).toEqual([
      ["dc_busy", "dc_timed"],
      ["dc_busy", "dc_timed"],
    ]);
    expect((await store.listInvocations("dc_busy", { limit: 9 })).map(({ id }) => id)).toEqual(["inv_4", "inv_3"]);
    expect(await store.countEvents("dc_busy")).toBe(2);
    const before = commits();
    pruned.length = 0;
    await once();
    expect([pruned, commits()]).toEqual([[], before]);
    await store.close();
  });
});
