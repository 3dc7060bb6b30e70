import { describe, expect, it } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import type { Event } from "../../src/domain/event/event.ts";
import { type CommitPorts, commitRun } from "../../src/engine/runs/commits/commit-run.ts";
import { EventFeed } from "../../src/engine/runs/commits/event-feed.ts";
import type { RunStore } from "../../src/ports/stores/run-store.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { component, source } from "../contract/store.ts";
import { FakeClock } from "../support/fake-clock.ts";

const START = Date.UTC(2026, 0, 1);

/** Loses the answers to commits, and to the first `silences` questions about them. */
async function behindNetwork({ isStored, silences }: { isStored: boolean; silences: number }) {
  const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
  await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
  await store.finishDeploy("dc_a", []);
  const { fence } = await store.open("dc_a");
  let [commits, questions] = [0, 0];
  const lost = (): PdError => new PdError("PD_IN_DOUBT", "the connection was lost");
  const doubtful: Pick<RunStore, "commit" | "committed" | "append"> = {
    append: (addendum) => store.append(addendum),
    async commit(run) {
      commits++;
      if (isStored) await store.commit(run);
      throw lost();
    },
    async committed(id) {
      if (++questions <= silences) throw lost();
      return store.committed(id);
    },
  };
  const stop = new AbortController();
  const clock = new FakeClock(START);
  const feed = new EventFeed(store);
  const announced: Event[] = [];
  const ports: CommitPorts = {
    store: doubtful,
    clock,
    feed,
    meter: { ran: () => {}, workflowRan: () => {}, attempted: () => {} },
    onDeliveries: () => {},
    onPostponed: () => {},
    onTrouble: () => {},
    signal: stop.signal,
  };
  const told = (async () => {
    for await (const events of feed.eventsSince("dc_a", 0, stop.signal)) announced.push(...events);
  })();
  const commit = () =>
    commitRun(ports, {
      owner: { sourceId: "dc_a", fence, cache: {} },
      strategy: undefined,
      invocation: { id: "inv_1", sourceId: "dc_a", trigger: { kind: "manual", event: 1 }, startedAt: START },
      result: { outcome: { kind: "returned" }, emits: [{ payload: "1" }], stateChanges: {}, logs: [] },
    });
  return { store, stop, clock, commit, announced, told, counts: () => ({ commits, questions }) };
}

describe("a commit whose answer was lost", () => {
  it("is asked for until somebody can tell, and counts as stored when it is: once, with its events", async () => {
    const { store, stop, clock, commit, announced, told, counts } = await behindNetwork({ isStored: true, silences: 3 });
    const run = commit();
    await clock.setTo(START + 10_000);
    expect((await run).stored.events).toMatchObject([{ seq: 1, payload: "1", invocationId: "inv_1" }]);
    expect([counts(), (await store.listInvocations("dc_a", { limit: 9 })).length, await store.lastSeq("dc_a")]).toEqual([{ commits: 1, questions: 4 }, 1, 1]);
    stop.abort();
    await told;
    expect(announced.map(({ seq }) => seq)).toEqual([1]);
  });

  it("counts as not stored when it is known not to be there", async () => {
    const { clock, commit, counts } = await behindNetwork({ isStored: false, silences: 1 });
    const run = commit().catch((error: unknown) => error);
    await clock.setTo(START + 10_000);
    expect([await run, counts()]).toMatchObject([{ code: "PD_NOT_STORED" }, { commits: 1, questions: 2 }]);
  });

  it("stays in doubt when the server stops before", async () => {
    const { stop, clock, commit } = await behindNetwork({ isStored: true, silences: 1000 });
    const run = commit().catch((error: unknown) => error);
    await clock.setTo(START + 10_000);
    stop.abort();
    expect(await run).toMatchObject({ code: "PD_IN_DOUBT" });
  });
});
