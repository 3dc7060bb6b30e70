import { describe, expect, it } from "vitest";
import { listOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { DeployedSource, TestServer, eventually } from "../support/runtime.ts";

const HOUR_MS = 3_600_000;

const SCHEDULER = `export default { name: "later", version: "1", dedupe: "unique", run({ event, meta }) { this.$emit(event, meta); } };`;

async function postponed(source: DeployedSource): Promise<readonly JsonObject[]> {
  return listOf(await source.server.api.get(`${source.path}/event_summaries?event_name=$in`));
}

describe("an event with a delivery_ts", () => {
  it("is emitted when its time has come, to streams, lists and listeners, and is told in the log of its run", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(SCHEDULER);
    const heard = await server.deploy('export default { name: "listener", version: "1", run(event) { this.$emit(event); } };');
    await server.api.post("/v1/subscriptions", { emitter_id: source.id, listener_id: heard.id, event_name: "self" });
    const dueAt = Date.now() + 1000;
    const ran = await source.run({ event: { n: 1 }, meta: { name: "self", id: "a", delivery_ts: dueAt } });
    expect(await source.logs(ran)).toEqual([`An event is postponed until ${new Date(dueAt).toISOString()}`]);
    expect(await postponed(source)).toMatchObject([{ event: { n: 1 }, metadata: { name: "self", id: "a", delivery_ts: dueAt } }]);
    expect(await postponed(heard)).toMatchObject([{ event: { n: 1 } }]);
    expect(await source.events()).toEqual([]);
    const [event] = await eventually(async () => (await heard.events()).length > 0 && source.events());
    expect(event).toMatchObject({ event: { n: 1 }, metadata: { name: "self", id: "a", invocation_id: ran["id"] } });
    expect(Number(event?.["indexed_at_ms"])).toBeGreaterThanOrEqual(dueAt);
    expect(await postponed(source)).toEqual([]);
    expect(await server.client.invocations.events(String(ran["id"]))).toHaveLength(1);
    expect((await server.client.invocations.rehearse(String(ran["id"]))).before.events).toHaveLength(1);
  });

  it("is kept over a restart, and emitted then when its time has passed meanwhile", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(SCHEDULER);
    await source.run({ event: { n: 1 }, meta: { delivery_ts: new Date(Date.now() + 400).toISOString() } });
    await server.stop();
    const again = new DeployedSource(await TestServer.start({ home: server.home }), source.record);
    expect(await again.payloadsOnce(1)).toEqual([{ n: 1 }]);
  });

  it("can be taken back, counts for dedupe at once, and is emitted at once when its time is past or none", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(SCHEDULER);
    const delivery_ts = Date.now() + HOUR_MS;
    for (const id of ["a", "b", "a"]) await source.run({ event: id, meta: { id, delivery_ts } });
    const [newest] = await postponed(source);
    expect((await postponed(source)).map(({ event }) => event)).toEqual(["b", "a"]);
    await server.api.delete(`${source.path}/events?event_name=$in&start_id=${String(newest?.["id"])}&end_id=${String(newest?.["id"])}`);
    expect((await postponed(source)).map(({ event }) => event)).toEqual(["a"]);
    await source.run({ event: "past", meta: { id: "c", delivery_ts: 1 } });
    const odd = await source.run({ event: "odd", meta: { id: "d", delivery_ts: "tomorrow-ish" } });
    expect(await source.payloads()).toEqual(["past", "odd"]);
    expect(await source.logs(odd)).toEqual(['Emitted the event at once: its delivery_ts "tomorrow-ish" is not a valid time']);
    const code = `export default { name: "O", version: "1", run() {
      const later = Date.now() + 3_600_000;
      for (const delivery_ts of [{ valueOf: () => later }, new Date(later)]) this.$emit("later", { delivery_ts });
      for (const delivery_ts of [Infinity, {}, 10n ** 30n]) this.$emit("now", { delivery_ts });
      this.$emit("named", { name: 5 });
      this.$emit("said", "id");
    } };`;
    const careless = await server.deploy(code);
    const lines = await careless.logs(await careless.run());
    expect([await careless.payloads(), (await postponed(careless)).map(({ event }) => event)]).toEqual([
      ["now", "now", "now", "named", "said"],
      ["later", "later"],
    ]);
    expect(lines.filter((line) => !line.includes("postponed")).toSorted()).toEqual([
      'Emitted the event at once: its delivery_ts "1000000000000000000000000000000" is not a valid time',
      'Emitted the event at once: its delivery_ts "Infinity" is not a valid time',
      'Emitted the event at once: its delivery_ts "[object Object]" is not a valid time',
      "Ignored the metadata of an event: expected an object, got id",
      "Ignored the name of an event: expected a string, got 5",
    ]);
  });
});
