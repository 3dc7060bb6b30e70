import { describe, expect, it } from "vitest";
import { type DeployedComponent, outlineOf } from "../../src/domain/source/deployed-component.ts";
import { type StoredSource, provenanceOf } from "../../src/domain/source/stored-source.ts";
import type { DeployedId, InvocationId } from "../../src/domain/ids.ts";
import type { Invocation } from "../../src/domain/run/invocation.ts";
import type { SavedComponent } from "../../src/domain/component/saved-component.ts";
import { NEWEST_VERSIONS } from "../../src/domain/source/source-version.ts";
import type { RunCommit } from "../../src/ports/stores/run-store.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import type { Timer, TimerInstant } from "../../src/ports/stores/timer-store.ts";
import { listDue } from "../support/due.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

function shown(stored: StoredSource | undefined): unknown {
  return stored === undefined ? undefined : { outline: stored.outline, source: stored.source, provenance: stored.provenance };
}

export function component(id: SavedComponent["id"], isTransient = false): SavedComponent {
  return {
    id,
    code: { path: "a.mjs", text: "code", files: { "b.mjs": "b" } },
    hash: "h",
    origin: { kind: "inline" },
    bundle: { code: "built", map: "{}", packages: [], imports: [] },
    definition: { name: "N", version: "1", key: "k", type: "source", props: [], hooks: [], warnings: [] },
    lock: { axios: "1.0.0" },
    packagesFolder: "abc",
    isTransient,
    createdAt: now,
  };
}

export function source(id: DeployedId, componentId: SavedComponent["id"]): DeployedComponent {
  return {
    id,
    componentId,
    version: 1,
    name: "N",
    slug: `slug-${id}`,
    endpointKey: `key${id}`,
    configured: { a: 1 },
    setAside: { gone: "b" },
    dynamicProps: [],
    env: { E: "v" },
    settings: {},
    active: true,
    createdAt: now,
    updatedAt: now,
  };
}

function invocation(id: InvocationId, sourceId: DeployedId): Invocation {
  return {
    id,
    sourceId,
    trigger: { kind: "manual", event: { a: 1 } },
    startedAt: now,
    durationMs: 5,
    outcome: { kind: "returned" },
    eventCount: 0,
    dropped: {},
  };
}

export function run(fence: number, sourceId: DeployedId, id: InvocationId, parts: Partial<RunCommit> = {}): RunCommit {
  return { fence, invocation: invocation(id, sourceId), events: [], stateChanges: {}, logs: [], ...parts };
}

const event = (payload: string, channel = "") => ({ payload, channel });

/** `reopen`: a second store on the same data. */
export function storeContract(open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  async function withSource(): Promise<{ store: Store; reopen: () => Promise<Store>; id: DeployedId; fence: number }> {
    const { store, reopen } = await open();
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    await store.finishDeploy("dc_a", []);
    const { fence } = await store.open("dc_a");
    return { store, reopen, id: "dc_a", fence };
  }

  describe("components", () => {
    it("come back as they were saved", async () => {
      const { store } = await open();
      await store.saveComponent(component("sc_x"));
      expect(await store.getComponent("sc_x")).toEqual(component("sc_x"));
      expect((await store.getComponentByKey("k"))?.id).toBe("sc_x");
    });

    it("are not seen while they are being deployed, though their slug is taken, and go when their host is gone", async () => {
      const { store, reopen } = await open();
      await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a", true));
      await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "dc_a", channel: "", createdAt: now });
      expect([await store.listSources(), await store.getSource("dc_a"), await store.isSlugTaken("slug-dc_a")]).toEqual([[], undefined, true]);
      await store.close();
      const again = await reopen();
      expect(await again.listUnfinished()).toEqual(["dc_a"]);
      await again.dropUnfinished(["dc_a"]);
      expect([await again.listUnfinished(), await again.isSlugTaken("slug-dc_a")]).toEqual([[], false]);
      expect([await again.getComponent("sc_a"), await again.listSubscriptions()]).toEqual([undefined, []]);
    });

    it("that were deployed meanwhile are no unfinished ones, nor are those of other hosts", async () => {
      const { store, id } = await withSource();
      await store.beginDeploy(source("dc_b", "sc_b"), component("sc_b"));
      await store.dropUnfinished([id]);
      expect([(await store.listSources()).map(({ source: found }) => found.id), await store.listUnfinished()]).toEqual([[id], ["dc_b"]]);
    });

    it("are found by id and by slug once deployed", async () => {
      const { store, id } = await withSource();
      expect(shown(await store.getSource(id))).toEqual({
        outline: outlineOf(source("dc_a", "sc_a")),
        source: source("dc_a", "sc_a"),
        provenance: provenanceOf(component("sc_a")),
      });
      expect((await store.getSource("slug-dc_a"))?.source.id).toBe(id);
    });

    it("are listed with what their codes declare, however many, the newest first", async () => {
      const { store } = await open();
      const of = (n: number) => ({ ...component(`sc_${n}`), origin: { kind: "url", url: `http://localhost/${n % 2}` } as const });
      for (let n = 0; n < 450; n++) {
        await store.beginDeploy({ ...source(`dc_${n}`, `sc_${n}`), createdAt: now + (n % 225) }, of(n));
        if (n % 9 !== 8) await store.finishDeploy(`dc_${n}`, []);
      }
      const listed = await store.listSources();
      const expected = Array.from({ length: 450 }, (_none, n) => n)
        .filter((n) => n % 9 !== 8)
        .toSorted((a, b) => (b % 225) - (a % 225) || (`dc_${a}` < `dc_${b}` ? -1 : 1));
      expect(listed.map(({ source: { id } }) => id)).toEqual(expected.map((n) => `dc_${n}`));
      const { definition } = component("sc_1");
      for (const [place, { provenance }] of listed.entries()) {
        const { declared, origin, imports } = provenance;
        expect({ declared, origin, imports }).toEqual({ declared: definition, origin: of(expected[place] ?? -1).origin, imports: [] });
      }
    });

    it("are listed with what their codes declare, and what was read stays when they are changed or deleted", async () => {
      const { store } = await open();
      for (const letter of ["a", "b"] as const) {
        await store.beginDeploy(source(`dc_${letter}`, `sc_${letter}`), component(`sc_${letter}`, true));
        await store.finishDeploy(`dc_${letter}`, []);
      }
      const told = (list: Awaited<ReturnType<typeof store.listSources>>): unknown =>
        list.map(({ source: { componentId }, provenance }) => [componentId, provenance.origin.kind]);
      const first = await store.listSources();
      told(first);
      await store.swap(
        { ...source("dc_a", "sc_c"), version: 2 },
        { ...component("sc_c", true), origin: { kind: "url", url: "http://localhost/c" } },
        { timers: [] },
      );
      const second = await store.listSources();
      told(second);
      await store.deleteSource("dc_a");
      await store.deleteSource("dc_b");
      expect(await store.getComponent("sc_b")).toBeUndefined();
      expect([told(first), told(second)]).toEqual([
        [
          ["sc_a", "inline"],
          ["sc_b", "inline"],
        ],
        [
          ["sc_c", "url"],
          ["sc_b", "inline"],
        ],
      ]);
    });

    it("are listed with all that they have", async () => {
      const { store } = await open();
      const all: DeployedComponent = {
        ...source("dc_a", "sc_a"),
        dynamicProps: [{ kind: "db", name: "d" }],
        settings: { max_concurrency: 7, allow_run: true },
        active: false,
      };
      await store.beginDeploy(all, component("sc_a"));
      await store.finishDeploy("dc_a", []);
      await store.beginDeploy(source("dc_b", "sc_b"), component("sc_b"));
      await store.finishDeploy("dc_b", []);
      await store.giveUpVersion("dc_a", 9);
      const listed = (await store.listSources()).map((found) => found.source);
      const got = await Promise.all(["dc_a", "dc_b"].map(async (id) => (await store.getSource(id))?.source));
      expect(listed).toEqual(got);
      expect(listed[0]).toMatchObject({ ...all, highestVersion: 9 });
    });

    it("are listed as they were then, also for whoever looks at one after it was changed or deleted", async () => {
      const { store } = await open();
      const names = ['"quoted", \\ and more', "two\nlines\u0001\u001f", "Ünï 🦊", "[1,2]", "null"];
      for (const [n, name] of names.entries()) {
        const configured = { text: name };
        await store.beginDeploy({ ...source(`dc_${n}`, `sc_${n}`), name, configured, env: { NAME: name } }, component(`sc_${n}`));
        await store.finishDeploy(`dc_${n}`, []);
      }
      const before = await Promise.all(names.map(async (_name, n) => (await store.getSource(`dc_${n}`))?.source));
      const listed = await store.listSources();
      await store.swap({ ...source("dc_0", "sc_new"), version: 2, slug: "other", name: "other", env: { NAME: "other" }, active: false }, component("sc_new"), {
        timers: [],
      });
      await store.deleteSource("dc_1");
      expect(listed.map((found) => found.source)).toEqual(before);
      expect(listed.map((found) => found.source.name)).toEqual(names);
      expect(listed.map((found) => found.outline)).toEqual(listed.map((found) => outlineOf(found.source)));
    });

    it("swap code, values and timers in one step, and drop transient code that nobody uses", async () => {
      const { store, id } = await withSource();
      await store.swap({ ...source(id, "sc_b"), name: "new", active: false }, component("sc_b", true), { timers: [] });
      await store.swap({ ...source(id, "sc_c"), name: "newer" }, component("sc_c", true), { timers: [] });
      expect(await store.getSource(id)).toMatchObject({ source: { componentId: "sc_c", name: "newer" } });
      expect(await store.getComponent("sc_b")).toBeUndefined();
      expect(await store.getComponent("sc_a")).toBeDefined();
    });

    it("keep the codes that they ran on, as long as there are few or a kept call ran on them", async () => {
      const { store, id } = await withSource();
      const swapTo = (version: number): Promise<void> =>
        store.swap(
          { ...source(id, `sc_${version}`), version, updatedAt: now + version },
          { ...component(`sc_${version}`, true), hash: `h${version}` },
          { timers: [] },
        );
      await swapTo(2);
      await swapTo(3);
      const { fence } = await store.open(id);
      await store.commit(run(fence, id, "inv_3", { invocation: { ...invocation("inv_3", id), version: 3 } }));
      expect((await store.getInvocation("inv_3"))?.version).toBe(3);
      await swapTo(4);
      await swapTo(5);
      // This run started before the swap and ended afterwards.
      await store.commit(run(fence, id, "inv_4", { invocation: { ...invocation("inv_4", id), version: 4 } }));
      expect((await store.listVersions(id)).slice(2)).toEqual([
        { number: 3, componentId: "sc_3", hash: "h3", declaredVersion: "1", origin: { kind: "inline" }, at: now + 3 },
        { number: 2, componentId: "sc_2", hash: "h2", declaredVersion: "1", origin: { kind: "inline" }, at: now + 2 },
        { number: 1, componentId: "sc_a", hash: "h", declaredVersion: "1", origin: { kind: "inline" }, at: now },
      ]);
      expect((await store.listComponents()).map((known) => known.id)).toEqual(["sc_5", "sc_a"]);
      for (let version = 6; version <= 5 + NEWEST_VERSIONS; version++) await swapTo(version);
      expect((await store.listVersions(id)).map(({ number }) => number).slice(-2)).toEqual([4, 3]);
      expect([await store.getComponent("sc_5"), (await store.getComponent("sc_3"))?.hash]).toEqual([undefined, "h3"]);
      await store.deleteSource(id);
      expect([await store.listVersions(id), await store.getComponent("sc_3")]).toEqual([[], undefined]);
    });

    it("keep what a kept call ran on among hundreds that they ran on, and drop the rest with its code", async () => {
      const { store, id } = await withSource();
      const { fence } = await store.open(id);
      const last = 100;
      for (let version = 2; version <= last; version++) {
        const updatedAt = now + version;
        await store.swap({ ...source(id, `sc_${version}`), version, updatedAt }, { ...component(`sc_${version}`, true), hash: `h${version}` }, { timers: [] });
        const call: InvocationId = `inv_${version}`;
        if (version < 40 || version % 5 === 0) await store.commit(run(fence, id, call, { invocation: { ...invocation(call, id), version } }));
      }
      const kept = (await store.listVersions(id)).map(({ number }) => number).toReversed();
      const expected = Array.from({ length: last }, (_one, place) => place + 1);
      expect(kept).toEqual(expected.filter((number) => (number > 1 && number < 40) || number % 5 === 0 || number > last - NEWEST_VERSIONS));
      const codes = await Promise.all(expected.slice(1).map(async (number) => ((await store.getComponent(`sc_${number}`)) === undefined ? [] : [number])));
      expect(codes.flat()).toEqual(kept);
    });

    it("remember that activate is due until the change has ended", async () => {
      const { store, id } = await withSource();
      await store.beginChange(id);
      expect(await store.listActivateDue([id])).toEqual([id]);
      await store.endChange(id);
      expect(await store.listActivateDue([id])).toEqual([]);
      await store.giveUpVersion(id, 7);
      await store.giveUpVersion(id, 5);
      expect((await store.getSource(id))?.source.highestVersion).toBe(7);
    });

    it("go with all that belongs to them", async () => {
      const { store, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { events: [event("1")], stateChanges: { k: "1" }, logs: [{ at: now, level: "log", text: "t" }] }));
      await store.deleteSource(id);
      expect([
        await store.getSource(id),
        await store.listEvents(id, { limit: 9 }),
        await store.readState(id),
        await store.getInvocation("inv_1"),
        await store.invocationLogs("inv_1"),
      ]).toEqual([undefined, [], {}, undefined, []]);
    });
  });

  describe("commit", () => {
    it("writes events, state, cache, invocation and logs together, and they are there after a restart", async () => {
      const { store, reopen, id, fence } = await withSource();
      const logs = [{ at: now, level: "log" as const, text: "hello", from: "a.mjs:1" }];
      await store.commit(run(fence, id, "inv_1", { events: [event('{"a":1}')], stateChanges: { k: "1" }, learned: { unique: ["x"] }, logs }));
      await store.close();
      const again = await reopen();
      expect(await again.getInvocation("inv_1")).toEqual(invocation("inv_1", id));
      expect(await again.invocationLogs("inv_1")).toEqual(logs);
      expect(await again.listEvents(id, { limit: 9 })).toMatchObject([{ seq: 1, payload: '{"a":1}', invocationId: "inv_1" }]);
      expect(await again.open(id)).toEqual({ fence: fence + 1, cache: { unique: ["x"] }, state: { k: "1" } });
    });

    it("writes nothing when the fence is stale", async () => {
      const { store, id, fence } = await withSource();
      await store.open(id);
      const stale = store.commit(run(fence, id, "inv_1", { events: [event("1")], stateChanges: { k: "1" } }));
      await expect(stale).rejects.toMatchObject({ code: "PD_NOT_STORED" });
      expect([await store.getInvocation("inv_1"), await store.listEvents(id, { limit: 9 }), await store.readState(id)]).toEqual([undefined, [], {}]);
    });

    it("lets others that wait with a failing one through", async () => {
      const { store, id, fence } = await withSource();
      const results = await Promise.allSettled([
        store.commit(run(fence, id, "inv_1")),
        store.commit(run(fence - 1, id, "inv_2")),
        store.commit(run(fence, id, "inv_3")),
      ]);
      expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    });

    it("numbers events of a source from 1 without gaps, however many commits wait", async () => {
      const { store, id, fence } = await withSource();
      await Promise.all(Array.from({ length: 50 }, (_none, n) => store.commit(run(fence, id, `inv_${n}`, { events: [event(String(n)), event(String(n))] }))));
      expect((await store.listEventsSince(id, 0, 1000)).map(({ seq }) => seq)).toEqual(Array.from({ length: 100 }, (_none, n) => n + 1));
    });

    it.each([1, 49, 50, 51, 149, 500, 501, 1000, 1523])(
      "keeps each part of each event of a run that has %i, in order, also when one beside it fails",
      async (count) => {
        const { store, id, fence } = await withSource();
        const events = Array.from({ length: count }, (_none, n) => ({
          payload: String(n),
          channel: n % 3 === 0 ? "" : `c${n}`,
          ...(n % 2 === 0 ? {} : { dedupeId: `i${n}` }),
          ...(n % 5 === 0 ? {} : { summary: `s${n}` }),
          ...(n % 7 === 0 ? {} : { ts: now + n }),
        }));
        await store.commit(run(fence, id, "inv_1", { events: [event("before")] }));
        const [told] = await Promise.all([
          store.commit(run(fence, id, "inv_2", { events })),
          expect(store.commit(run(fence - 1, id, "inv_3", { events }))).rejects.toMatchObject({ code: "PD_NOT_STORED" }),
        ]);
        const kept = await store.listEventsSince(id, 1, 2000);
        expect(
          kept.map(({ payload, channel, dedupeId, summary, ts, seq, invocationId }) => ({ payload, channel, dedupeId, summary, ts, seq, invocationId })),
        ).toEqual(events.map((one, n) => ({ dedupeId: undefined, summary: undefined, ts: undefined, ...one, seq: n + 2, invocationId: "inv_2" })));
        expect([told.events, (await store.committed("inv_2"))?.events]).toEqual([kept, kept]);
      },
    );

    it("remembers of all that wait what dedupe learned, but for those that fail", async () => {
      const { store, id, fence } = await withSource();
      await store.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      const { fence: other } = await store.open("dc_b");
      await Promise.allSettled([
        store.commit(run(fence, id, "inv_1", { events: [event("1")], learned: { unique: ["a"], channels: { x: { last: "1" } } } })),
        store.commit(run(other, "dc_b", "inv_2", { events: [event("1")], learned: { unique: ["b"] } })),
        store.commit(run(fence, id, "inv_3", { events: [event("2"), event("3")], learned: { unique: ["c", "d"], channels: { x: { last: "2" } } } })),
        store.commit(run(other - 1, "dc_b", "inv_4", { events: [event("2")], learned: { unique: ["never"] } })),
        store.writeState(id, { k: "1" }, fence),
        store.commit(run(fence, id, "inv_5", { learned: { greatest: "7" } })),
        store.commit(run(other, "dc_b", "inv_6", { events: [event("3")], learned: { unique: ["e"] } })),
      ]);
      expect(await store.readCache(id)).toEqual({ unique: ["a", "c", "d"], greatest: "7", channels: { x: { last: "2" } } });
      expect([await store.lastSeq(id), (await store.listEventsSince(id, 0, 9)).map(({ payload }) => payload)]).toEqual([3, ["1", "2", "3"]]);
      expect((await store.readCache("dc_b")).unique).toEqual(["b", "e"]);
      expect((await store.listEventsSince("dc_b", 0, 9)).map(({ seq, payload }) => [seq, payload])).toEqual([
        [1, "1"],
        [2, "3"],
      ]);
    });

    it("clears a key whose value is null", async () => {
      const { store, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { stateChanges: { a: "1", b: "null" } }));
      await store.commit(run(fence, id, "inv_2", { stateChanges: { a: null } }));
      expect(await store.readState(id)).toEqual({ b: "null" });
    });

    it("of a request that waits is refused when its source was deleted, and of others beside it is made", async () => {
      const { store, id, fence } = await withSource();
      await store.beginDeploy(source("dc_b", "sc_b"), component("sc_b"));
      await store.finishDeploy("dc_b", []);
      await store.deleteSource("dc_b");
      const request = { id: "inv_1" as const, trigger: { kind: "manual" as const, event: 1 }, receivedAt: now };
      const results = await Promise.allSettled([
        store.storePending({ ...request, sourceId: "dc_b" }),
        store.storePending({ ...request, id: "inv_2", sourceId: id }),
        store.commit(run(fence, id, "inv_3")),
      ]);
      expect(results).toMatchObject([
        { status: "rejected", reason: { code: "PD_NOT_STORED", message: "Cannot store a request of dc_b: the source was deleted" } },
        { status: "fulfilled" },
        { status: "fulfilled" },
      ]);
      expect(await store.listPending([id, "dc_b"])).toMatchObject([{ id: "inv_2" }]);
    });

    it("takes the pending request of the same id away", async () => {
      const { store, id, fence } = await withSource();
      const pending = { id: "inv_1" as const, sourceId: id, trigger: { kind: "manual" as const, event: 1 }, receivedAt: now };
      await store.storePending(pending);
      expect(await store.listPending([id])).toEqual([pending]);
      await store.commit(run(fence, id, "inv_1"));
      expect(await store.listPending([id])).toEqual([]);
    });

    it("marks the timer instant that it ran for as fired", async () => {
      const { store, id, fence } = await withSource();
      const timer: Timer = { sourceId: id, prop: "t", schedule: { kind: "interval", seconds: 60 }, catchUp: "latest", anchorAt: now, nextAt: now + 60_000 };
      const instant = { sourceId: id, prop: "t", plannedAt: now, lastPlannedAt: now, count: 1, state: "running" as const, invocationId: "inv_1" as const };
      await store.swap(source(id, "sc_a"), component("sc_a"), { timers: [timer] });
      expect(await store.advance(timer, { ...timer, nextAt: now + 120_000 }, [instant])).toBe(true);
      expect(await store.listRunning([id])).toEqual([instant]);
      await store.commit({
        ...run(fence, id, "inv_1"),
        invocation: { ...invocation("inv_1", id), trigger: { kind: "timer", prop: "t", plannedAt: now, schedule: timer.schedule } },
      });
      expect(await store.listInstants(id, 9)).toEqual([{ ...instant, state: "fired" }]);
      expect(await store.listTimers([id])).toEqual([{ ...timer, nextAt: now + 120_000 }]);
    });
  });

  describe("a timer", () => {
    const claimOf = (id: DeployedId, invocationId: InvocationId): TimerInstant => ({
      sourceId: id,
      prop: "t",
      plannedAt: now,
      lastPlannedAt: now,
      count: 1,
      state: "running",
      invocationId,
    });
    const timerOf = (id: DeployedId, nextAt: number): Timer => ({
      sourceId: id,
      prop: "t",
      schedule: { kind: "interval", seconds: 60 },
      catchUp: "latest",
      anchorAt: now - 60_000,
      nextAt,
    });

    it("is moved on by one of two hosts, and the other is told that it was not", async () => {
      const { store, id } = await withSource();
      const [timer, next] = [timerOf(id, now), timerOf(id, now + 60_000)];
      await store.swap(source(id, "sc_a"), component("sc_a"), { timers: [timer] });
      const claims = ["inv_1", "inv_2"] as const;
      expect(await Promise.all(claims.map((by) => store.advance(timer, next, [claimOf(id, by)])))).toEqual([true, false]);
      expect([await store.listRunning([id]), await store.listTimers([id])]).toEqual([[claimOf(id, "inv_1")], [next]]);
      expect(await store.advance(timer, { ...next, anchorAt: now }, [])).toBe(false);
    });

    it.each([1, 2000])("is listed for whoever asks for its source, beside %i others, and for nobody else", async (others) => {
      const { store, id } = await withSource();
      await store.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      await store.swap(source(id, "sc_a"), component("sc_a"), { timers: [timerOf(id, now)] });
      await store.swap(source("dc_b", "sc_a"), component("sc_a"), { timers: [timerOf("dc_b", now)] });
      const idle = Array.from({ length: others }, (_none, n): DeployedId => `dc_idle${n}`);
      expect([await store.listTimers([...idle, id]), await store.listUnreadableTimers([...idle, id])]).toEqual([[timerOf(id, now)], []]);
      const both = await store.listTimers(["dc_b", id, ...idle]);
      expect(both.toSorted((a, b) => (a.sourceId < b.sourceId ? -1 : 1))).toEqual([timerOf(id, now), timerOf("dc_b", now)]);
      expect(await store.listTimers(idle)).toEqual([]);
    });

    it("that was replaced meanwhile keeps its new plan, and its instant has one fate all the same", async () => {
      const { store, id } = await withSource();
      const timer = timerOf(id, now);
      const replaced: Timer = { ...timer, schedule: { kind: "interval", seconds: 7 }, nextAt: now + 7000 };
      await store.swap(source(id, "sc_a"), component("sc_a"), { timers: [timer] });
      await store.swap(source(id, "sc_a"), component("sc_a"), { timers: [replaced] });
      const claims = ["inv_1", "inv_2"] as const;
      expect(await Promise.all(claims.map((by) => store.advance(timer, timerOf(id, now + 60_000), [claimOf(id, by)])))).toEqual([true, false]);
      expect([await store.listRunning([id]), await store.listTimers([id])]).toEqual([[claimOf(id, "inv_1")], [replaced]]);
    });
  });

  describe("an instant", () => {
    it("that could not be run is settled once, with its reason", async () => {
      const { store, id } = await withSource();
      const timer: Timer = { sourceId: id, prop: "t", schedule: { kind: "interval", seconds: 60 }, catchUp: "latest", anchorAt: now, nextAt: now + 60_000 };
      const claimed = { sourceId: id, prop: "t", plannedAt: now, lastPlannedAt: now, count: 1 };
      await store.advance(timer, timer, [{ ...claimed, state: "running", invocationId: "inv_1" }]);
      await store.settleInstant({ ...claimed, state: "skipped", reason: "no process" });
      await store.settleInstant({ ...claimed, state: "coalesced", reason: "too late" });
      expect([await store.listInstants(id, 9), await store.listRunning([id])]).toEqual([[{ ...claimed, state: "skipped", reason: "no process" }], []]);
    });
  });

  describe("an addendum", () => {
    it("adds to what the call did", async () => {
      const { store, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { logs: [{ at: now, level: "log", text: "one" }] }));
      const rest = { dropped: { "unique: x": 1 }, outcome: { kind: "threw" as const, error: { name: "E", message: "m", stack: "s" } } };
      await store.append({
        fence,
        sourceId: id,
        invocationId: "inv_1",
        at: now,
        events: [event("late")],
        stateChanges: { k: "2" },
        logs: [{ at: now, level: "system", text: "two" }],
        ...rest,
      });
      expect(await store.getInvocation("inv_1")).toMatchObject({ eventCount: 1, ...rest });
      expect((await store.invocationLogs("inv_1")).map(({ text }) => text)).toEqual(["one", "two"]);
      expect(await store.listEvents(id, { limit: 1 })).toMatchObject([{ payload: "late" }]);
    });
  });

  describe("events", () => {
    async function withEvents(): Promise<{ store: Store; id: DeployedId }> {
      const { store, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { events: [event("1"), event("2", "x"), event("3"), event("4", "x"), event("5")] }));
      return { store, id };
    }
    const seqs = (events: readonly { seq: number }[]): number[] => events.map(({ seq }) => seq);

    it("are listed newest first, between two numbers, by channel", async () => {
      const { store, id } = await withEvents();
      expect(seqs(await store.listEvents(id, { limit: 2 }))).toEqual([5, 4]);
      expect(seqs(await store.listEvents(id, { limit: 9, beforeSeq: 4, afterSeq: 1 }))).toEqual([3, 2]);
      expect(seqs(await store.listEvents(id, { limit: 9, channel: "x" }))).toEqual([4, 2]);
      expect([await store.countEvents(id), await store.countEvents(id, "x"), await store.countEvents(id, "none")]).toEqual([5, 2, 0]);
    });

    it("are found by the time at which they were stored, whatever was deleted between", async () => {
      const { store, id, fence } = await withSource();
      expect(await store.firstSeqSince(id, now)).toBe(1);
      for (const n of [1, 2, 3, 4, 5, 6])
        await store.commit(
          run(fence, id, `inv_${n}`, { events: [event("x")], invocation: { ...invocation(`inv_${n}`, id), startedAt: now + n * 1000, durationMs: 0 } }),
        );
      await store.deleteEvents(id, { fromSeq: 3, toSeq: 4 });
      const found = await Promise.all([0, 1000, 2001, 3000, 5000, 6000, 6001].map((ms) => store.firstSeqSince(id, now + ms)));
      expect(found).toEqual([1, 1, 5, 5, 5, 6, 7]);
    });

    it("are emitted once more as new ones, with a delivery for who listens by then; one that is gone, or whose source is, is not", async () => {
      const { store, id } = await withEvents();
      await store.saveSubscription({ id: "sub_1", emitterId: id, listenerId: id, channel: "x", createdAt: now });
      const again = await store.emitAgain(id, 2, now + 50);
      expect(again).toMatchObject({
        events: [{ payload: "2", channel: "x", seq: 6, storedAt: now + 50, invocationId: "inv_1", againOf: 2 }],
        listeners: [id],
      });
      const own = { sourceId: id, invocationId: "inv_1" as const, since: now };
      expect((await store.listEventsOf(own, 9)).map(({ seq, againOf }) => [seq, againOf])).toEqual([...[1, 2, 3, 4, 5].map((seq) => [seq, undefined]), [6, 2]]);
      expect(seqs(await store.listEventsOf(own, 2))).toEqual([1, 2]);
      expect(await store.listEventsOf({ ...own, invocationId: "inv_2" }, 9)).toEqual([]);
      expect(seqs(await store.listEventsOf({ ...own, since: now + 40 }, 9))).toEqual([6]);
      expect(await store.listEventsSince(id, 5, 9)).toEqual(again?.events);
      expect(await listDue(store, id, { now: now + 50, limit: 9 })).toMatchObject([{ payload: "2" }]);
      await store.deleteEvents(id, { fromSeq: 2, toSeq: 2 });
      expect(await store.emitAgain(id, 2, now)).toBeUndefined();
      await store.deleteSource(id);
      expect(await store.emitAgain(id, 3, now)).toBeUndefined();
    });

    it("are counted as they are there, whatever has come and gone", async () => {
      const { store, id, fence } = await withSource();
      const counted = async (): Promise<void> => {
        const there = await store.listEventsSince(id, 0, 99);
        expect([await store.countEvents(id), await store.countEvents(id, "x")]).toEqual([there.length, there.filter(({ channel }) => channel === "x").length]);
      };
      await counted();
      for (const n of [1, 2, 3]) await store.commit(run(fence, id, `inv_${n}`, { events: [event("1"), event("2", "x"), event("3")] }));
      await counted();
      await store.deleteEvents(id, { fromSeq: 2, toSeq: 3 });
      await counted();
      await store.emitAgain(id, 4, now);
      await store.deleteEvents(id, { channel: "x" });
      await counted();
      await store.prune(id, { maxEvents: 2, maxInvocations: 99, maxAgeMs: 1e12 }, now);
      await counted();
      await store.deleteEvents(id, {});
      await counted();
      await store.commit(run(fence, id, "inv_4", { events: [event("4")] }));
      await counted();
    });

    it("are deleted by a range that holds both ends, and their numbers are not used again", async () => {
      const { store, id } = await withEvents();
      expect(await store.deleteEvents(id, { fromSeq: 2, toSeq: 3 })).toBe(2);
      expect(await store.deleteEvents(id, { channel: "x" })).toBe(1);
      expect(await store.deleteEvents(id, {})).toBe(2);
      expect([await store.countEvents(id), await store.lastSeq(id)]).toEqual([0, 5]);
    });
  });

  describe("what is kept", () => {
    it("is counted by kind, and what waits apart from it", async () => {
      const { store, id, fence } = await withSource();
      const empty = { requests: 0, deliveries: 0, postponed: 0 };
      expect(await store.backlog()).toEqual(empty);
      await store.saveSubscription({ id: "sub_1", emitterId: id, listenerId: id, channel: "x", createdAt: now });
      await store.storePending({ id: "inv_9", sourceId: id, trigger: { kind: "manual", event: 1 }, receivedAt: now });
      await store.commit(run(fence, id, "inv_1", { events: [event("1"), event("2", "x")], postponed: [{ payload: "3", channel: "x", dueAt: now + 10 }] }));
      expect(await store.backlog()).toEqual({ requests: 1, deliveries: 1, postponed: 1 });
      const usage = await store.usage();
      expect(usage.map(({ kind }) => kind)).toEqual(["events", "runs", "deliveries", "state", "code", "other", "free"]);
      expect(usage.flatMap(({ kind, count }) => (count === undefined ? [] : [[kind, count]]))).toEqual([
        ["events", 2],
        ["runs", 1],
        ["deliveries", 1],
      ]);
      expect(usage.every(({ bytes }) => Number.isInteger(bytes) && bytes >= 0)).toBe(true);
    });
  });

  describe("postponed events", () => {
    const later = (payload: string, dueAt: number, channel = "self") => ({ payload, channel, dueAt });

    it("become events of their run when they are due, in the order of their time, with a delivery for who listens by then", async () => {
      const { store, reopen, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { events: [event("0")], postponed: [later("2", now + 20), later("1", now + 10), later("3", now + 30)] }));
      await store.saveSubscription({ id: "sub_1", emitterId: id, listenerId: id, channel: "self", createdAt: now });
      const again = await reopen();
      expect([await again.nextPostponedAt(), await again.countEvents(id)]).toEqual([now + 10, 1]);
      const released = await again.releasePostponed(now + 20);
      expect(released).toMatchObject([
        { sourceId: id, events: [{ payload: "1", seq: 2, storedAt: now + 20, invocationId: "inv_1" }], listeners: [id] },
        { sourceId: id, events: [{ payload: "2", seq: 3 }], listeners: [id] },
      ]);
      expect(await again.listEventsSince(id, 1, 9)).toEqual(released.flatMap(({ events }) => events));
      expect(await listDue(again, id, { now: now + 20, limit: 9 })).toMatchObject([{ payload: "1" }, { payload: "2" }]);
      expect([await again.nextPostponedAt(), await again.releasePostponed(now + 20)]).toEqual([now + 30, []]);
    });

    it("are listed by their source and by who listens to it, taken back by their source alone, and go with it", async () => {
      const { store, id, fence } = await withSource();
      await store.beginDeploy(source("dc_b", "sc_a"), component("sc_a"));
      await store.finishDeploy("dc_b", []);
      await store.saveSubscription({ id: "sub_1", emitterId: id, listenerId: "dc_b", channel: "self", createdAt: now });
      await store.commit(run(fence, id, "inv_1", { postponed: ["1", "2", "3"].map((payload) => later(payload, now + 10)) }));
      await store.commit(run(fence, id, "inv_2", { postponed: [later("other", now + 10, "other")] }));
      const payloads = async (of: DeployedId) => (await store.listPostponed(of, { limit: 9 })).map(({ payload }) => payload);
      expect([await payloads(id), await payloads("dc_b")]).toEqual([
        ["other", "3", "2", "1"],
        ["3", "2", "1"],
      ]);
      const [newest, middle] = (await store.listPostponed("dc_b", { limit: 2 })).map(({ seq }) => seq);
      expect(await store.listPostponed(id, { limit: 9, beforeSeq: newest ?? 0, afterSeq: (middle ?? 0) - 1 })).toMatchObject([{ payload: "2" }]);
      expect(await store.deletePostponed("dc_b", {})).toBe(0);
      expect(await store.deletePostponed(id, { fromSeq: middle ?? 0, toSeq: middle ?? 0 })).toBe(1);
      expect(await payloads(id)).toEqual(["other", "3", "1"]);
      await store.deleteSource(id);
      expect(await store.nextPostponedAt()).toBeUndefined();
    });
  });

  describe("invocations", () => {
    it("are listed newest first, and before one", async () => {
      const { store, id, fence } = await withSource();
      for (const n of [1, 2, 3]) await store.commit(run(fence, id, `inv_${n}`));
      expect((await store.listInvocations(id, { limit: 2 })).map((found) => found.id)).toEqual(["inv_3", "inv_2"]);
      expect((await store.listInvocations(id, { limit: 2, before: "inv_2" })).map((found) => found.id)).toEqual(["inv_1"]);
      // A deleted cursor must not restart the list.
      expect(await store.listInvocations(id, { limit: 2, before: "inv_0" })).toEqual([]);
      expect(await store.listOutcomes(id, 2)).toEqual([
        { id: "inv_3", startedAt: now, durationMs: 5, outcome: { kind: "returned" } },
        { id: "inv_2", startedAt: now, durationMs: 5, outcome: { kind: "returned" } },
      ]);
    });
  });

  describe("pruning", () => {
    const all = { maxEvents: 1e9, maxInvocations: 1e9, maxAgeMs: 1e12 };

    async function pruned(store: Store, id: DeployedId, { at = now, ...retention }: Partial<typeof all> & { at?: number }): Promise<void> {
      while ((await store.prune(id, { ...all, ...retention }, at)) > 0);
      while ((await store.shrink()) > 0);
    }

    it("keeps the newest by count", async () => {
      const { store, id, fence } = await withSource();
      for (let n = 1; n <= 20; n++)
        await store.commit(run(fence, id, `inv_${n}`, { events: [event(String(n))], logs: [{ at: now, level: "log", text: "x" }] }));
      await pruned(store, id, { maxEvents: 5, maxInvocations: 3 });
      expect((await store.listEventsSince(id, 0, 99)).map(({ payload }) => payload)).toEqual(["16", "17", "18", "19", "20"]);
      expect((await store.listInvocations(id, { limit: 99 })).map((found) => found.id)).toEqual(["inv_20", "inv_19", "inv_18"]);
      expect(await Promise.all([1, 17, 18, 20].map(async (n) => (await store.invocationLogs(`inv_${n}`)).length))).toEqual([0, 0, 1, 1]);
    });

    it("removes what is too old", async () => {
      const { store, id, fence } = await withSource();
      await store.commit(run(fence, id, "inv_1", { events: [event("old")] }));
      await pruned(store, id, { maxAgeMs: 1000, at: now + 10_000 });
      expect([await store.countEvents(id), await store.getInvocation("inv_1")]).toEqual([0, undefined]);
    });

    it("is wanted for those who have something that is too old or too much", async () => {
      const { store, id, fence } = await withSource();
      for (const n of [1, 2, 3]) await store.commit(run(fence, id, `inv_${n}`, { events: [event(String(n))] }));
      expect(await store.findPrunable(["dc_none", id], { ...all, maxEvents: 2 }, now)).toContain(id);
      expect(await store.findPrunable([id], { ...all, maxInvocations: 2 }, now)).toContain(id);
      expect(await store.findPrunable([id], { ...all, maxAgeMs: 1000 }, now + 10_000)).toContain(id);
    });

    it("never touches pending requests and running instants", async () => {
      const { store, id } = await withSource();
      await store.storePending({ id: "inv_1", sourceId: id, trigger: { kind: "manual", event: 1 }, receivedAt: now });
      const timer: Timer = { sourceId: id, prop: "t", schedule: { kind: "interval", seconds: 60 }, catchUp: "latest", anchorAt: now };
      await store.advance(timer, timer, [{ sourceId: id, prop: "t", plannedAt: now, lastPlannedAt: now, count: 1, state: "running", invocationId: "inv_2" }]);
      await pruned(store, id, { maxAgeMs: 1, maxInvocations: 1, maxEvents: 1, at: now + 1e9 });
      expect([(await store.listPending([id])).length, (await store.listRunning([id])).length]).toEqual([1, 1]);
    });
  });
}
