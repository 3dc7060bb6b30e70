import { describe, expect, it } from "vitest";
import { EventFeed } from "../../src/engine/runs/commits/event-feed.ts";
import { EventFrames } from "../../src/server/api/sources/event-stream.ts";
import { Receiver } from "../support/receiver.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { component, run, source as sourceRecord } from "../contract/store.ts";

describe("an event that is emitted once more", () => {
  it("is a new event of the same run, for streams and webhooks, whatever dedupe knows; a rehearsal counts the first alone", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(
      'export default { name: "t", version: "1", dedupe: "unique", run(event) { this.$emit(event, { id: "a", summary: "A" }); } };',
    );
    const ran = await source.run({ n: 1 });
    const [first] = await source.events();
    const receiver = await Receiver.start();
    const webhook = await server.client.webhooks.create({ url: receiver.url });
    await server.client.subscriptions.create({ emitter_id: source.id, listener_id: webhook.id });
    const again = await server.client.events.emit(source.id, String(first?.["id"]));
    expect(again).toMatchObject({ event: { n: 1 }, metadata: { id: "a", summary: "A", invocation_id: ran["id"] } });
    expect((await source.events()).map(({ id }) => id)).toEqual([first?.["id"], again.id]);
    await eventually(async () => receiver.bodies.length > 0);
    expect(receiver.bodies).toEqual([{ n: 1 }]);
    const { before } = await server.client.invocations.rehearse(String(ran["id"]));
    expect(before.events).toHaveLength(1);
    expect(await server.client.invocations.events(String(ran["id"]))).toHaveLength(2);
    await server.client.events.emit(source.id, again.id);
    await server.client.events.delete(source.id, { start_id: String(first?.["id"]), end_id: String(first?.["id"]) });
    expect((await server.client.invocations.rehearse(String(ran["id"]))).before.events).toEqual([]);
  });

  it("is found with its run, and so is where it went, with each attempt", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run(event) { this.$emit(event, { summary: "A" }); this.$emit(2); } };');
    const receiver = await Receiver.start();
    const webhook = await server.client.webhooks.create({ url: receiver.url });
    await server.client.subscriptions.create({ emitter_id: source.id, listener_id: webhook.id });
    const ran = String((await source.run({ n: 1 }))["id"]);
    await source.run({ n: 2 });
    expect((await server.client.invocations.events(ran)).map(({ event, metadata }) => [event, metadata.summary])).toEqual([
      [{ n: 1 }, "A"],
      [2, undefined],
    ]);
    const delivered = await eventually(async () => {
      const found = await server.client.deliveries.ofInvocation(ran);
      return found.every(({ state }) => state === "delivered") ? found : undefined;
    });
    expect(delivered.map(({ listener_id: to, event, attempts }) => [to, event, attempts?.map(({ status }) => status)])).toEqual([
      [webhook.id, { n: 1 }, [200]],
      [webhook.id, 2, [200]],
    ]);
  });

  it("is told in a clear sentence when it is not there", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy('export default { name: "t", version: "1", run() {} };');
    await expect(server.client.events.emit(source.id, "0-7")).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
    await expect(server.client.events.emit(source.id, "x")).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });
});

async function followed() {
  const id = "dc_a";
  const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
  await store.beginDeploy(sourceRecord(id, "sc_a"), component("sc_a"));
  await store.finishDeploy(id, []);
  const { fence } = await store.open(id);
  return { id, store, fence, feed: new EventFeed(store), stop: new AbortController() } as const;
}

describe("a reader of a stream", () => {
  it("gets events in the order of their numbers, though two who stored at the same time told them the other way round", async () => {
    const { id, store, fence, feed, stop } = await followed();
    const seen: number[] = [];
    await store.commit(run(fence, id, "inv_1", { events: [{ payload: "0", channel: "" }] }));
    const coming = feed.eventsSince(id, 0, stop.signal);
    const first = await coming.next();
    expect(first.value).toMatchObject([{ seq: 1 }]);
    const { events } = await store.commit(run(fence, id, "inv_2", { events: ["1", "2", "3", "4"].map((payload) => ({ payload, channel: "" })) }));
    const rest = (async () => {
      for await (const told of coming) {
        seen.push(...told.map(({ seq }) => seq));
        if (seen.at(-1) === 5) return;
      }
    })();
    for (const place of [0, 2, 1, 3]) feed.announce(id, { events: events.slice(place, place + 1) });
    await rest;
    expect(seen).toEqual([2, 3, 4, 5]);
    // Deletions leave gaps in the numbers.
    await store.deleteEvents(id, {});
    const late = feed.eventsSince(id, 0, stop.signal);
    const first2 = late.next();
    const more = await store.commit(run(fence, id, "inv_3", { events: ["5", "6", "7"].map((payload) => ({ payload, channel: "" })) }));
    feed.announce(id, more);
    expect((await first2).value.map(({ seq }: { seq: number }) => seq)).toEqual([6, 7, 8]);
    const last = await store.commit(run(fence, id, "inv_4", { events: [{ payload: "8", channel: "" }] }));
    feed.announce(id, last);
    expect((await late.next()).value).toMatchObject([{ seq: 9 }]);
  });

  it("gets many events of one run some at a time, and the same lists as everybody who reads them", async () => {
    const { id, store, fence, feed, stop } = await followed();
    const readers = [feed.eventsSince(id, 0, stop.signal), feed.eventsSince(id, 0, stop.signal)];
    const firsts = readers.map((reader) => reader.next());
    feed.announce(id, await store.commit(run(fence, id, "inv_1", { events: [{ payload: "0", channel: "" }] })));
    await Promise.all(firsts);
    const payloads = Array.from({ length: 450 }, (_, n) => ({ payload: String(n), channel: "" }));
    feed.announce(id, await store.commit(run(fence, id, "inv_2", { events: payloads })));
    const lists = await Promise.all(readers.map(async (reader) => [await reader.next(), await reader.next(), await reader.next()].map(({ value }) => value)));
    expect(lists[0]?.map((events) => [events[0].seq, events.length])).toEqual([
      [2, 200],
      [202, 200],
      [402, 50],
    ]);
    lists[0]?.forEach((events, place) => expect(events).toBe(lists[1]?.[place]));
    stop.abort();
    expect((await readers[0]?.next())?.done).toBe(true);
  });

  it("is sent small ones as one, made once, and large ones one by one", () => {
    const frames = new EventFrames();
    const event = (seq: number, length: number) =>
      ({ seq, id: `1-${seq}`, storedAt: 1, invocationId: "inv_1", channel: "", payload: `"${"x".repeat(length)}"` }) as const;
    const [small, large] = [
      [event(1, 10), event(2, 10)],
      [event(3, 5_000_000), event(4, 5_000_000)],
    ];
    const [first] = frames.of("dc_a", small);
    expect([...frames.of("dc_a", small)]).toEqual([first]);
    expect([...frames.of("dc_a", small)][0]).toBe(first);
    expect([...String(Buffer.from(first ?? [])).matchAll(/^id: (.*)$/gm)].map(([, id]) => id)).toEqual(["1-1", "1-2"]);
    expect([...frames.of("dc_a", large)].map((bytes) => /^id: (.*)$/m.exec(String(bytes))?.[1])).toEqual(["1-3", "1-4"]);
  });
});
