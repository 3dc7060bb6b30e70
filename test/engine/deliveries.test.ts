import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { dataOf, listOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { Gate } from "../support/gate.ts";
import { Receiver } from "../support/receiver.ts";
import { type DeployedSource, TestServer, eventually } from "../support/runtime.ts";

const emitter =
  'export default { name: "Emitter", version: "1", run({ emits = [], fails }) { for (const [event, meta] of emits) this.$emit(event, meta); if (fails) throw new Error("no"); console.log("ran"); } };';

async function webhookTo({ api }: TestServer, url: string, more: JsonObject = {}): Promise<JsonObject> {
  return dataOf(await api.post("/v1/webhooks", { url, ...more }));
}

async function subscribe({ api }: TestServer, emitter_id: string, listener_id: unknown, event_name = ""): Promise<void> {
  await api.post("/v1/subscriptions", { emitter_id, listener_id: String(listener_id), event_name });
}

async function deliveries({ api }: TestServer, webhook: JsonObject): Promise<readonly JsonObject[]> {
  return listOf(await api.get(`/v1/webhooks/${String(webhook["id"])}/deliveries?limit=100`));
}

async function emit(source: DeployedSource, ...events: unknown[]): Promise<void> {
  await source.run({ emits: events.map((event) => [event, {}]) as never });
}

async function subscribed(answer?: Parameters<typeof Receiver.start>[0]) {
  const server = await TestServer.inMemory();
  const source = await server.deploy(emitter);
  const receiver = await Receiver.start(answer);
  const webhook = await webhookTo(server, receiver.url);
  await subscribe(server, source.id, webhook["id"]);
  return { server, source, receiver, webhook };
}

describe("a webhook", () => {
  it("gets the payload itself, signed as Standard Webhooks says", async () => {
    const { source, receiver, webhook } = await subscribed();
    await emit(source, { n: 1 });
    await eventually(async () => receiver.received.length === 1);
    const [message] = receiver.received;
    expect(message?.body).toBe('{"n":1}');
    expect(message?.headers).toMatchObject({ "content-type": "application/json", "x-pd-emitter-id": source.id, "x-pd-event-name": "" });
    const verifier = new Webhook(String(webhook["signing_key"]));
    expect(verifier.verify(message?.body ?? "", message?.headers ?? {})).toEqual({ n: 1 });
    expect(() => verifier.verify('{"n":2}', message?.headers ?? {})).toThrow("No matching signature");
  });

  it("is signed for with both secrets while a rotated one overlaps", async () => {
    const { server, source, receiver, webhook } = await subscribed();
    const rotated = dataOf(await server.api.post(`/v1/webhooks/${String(webhook["id"])}/rotate`));
    expect(rotated["signing_key"]).not.toBe(webhook["signing_key"]);
    await emit(source, 1);
    await eventually(async () => receiver.received.length === 1);
    for (const key of [webhook["signing_key"], rotated["signing_key"]])
      expect(new Webhook(String(key)).verify(receiver.received[0]?.body ?? "", receiver.received[0]?.headers ?? {})).toBe(1);
  });

  it("gets only what its subscriptions say: sources, channels, failures, lines", async () => {
    const server = await TestServer.inMemory();
    const [one, two] = [await server.deploy(emitter), await server.deploy(emitter)];
    const names = ["one", "channel", "all", "errors", "logs"] as const;
    const receivers = await Promise.all(names.map(() => Receiver.start()));
    const webhooks = await Promise.all(receivers.map(({ url }) => webhookTo(server, url)));
    const bodies = (name: (typeof names)[number]): unknown[] => receivers[names.indexOf(name)]?.bodies ?? [];
    const subscribeTo = (name: (typeof names)[number], emitterId: string, channel = ""): Promise<void> =>
      subscribe(server, emitterId, webhooks[names.indexOf(name)]?.["id"], channel);
    await subscribeTo("one", one.id);
    await subscribeTo("channel", one.id, "special");
    await subscribeTo("all", "dc_*");
    const { data } = await server.api.get("/v1/users/me");
    await subscribeTo("errors", String((data as never)["orgs"][0]["id"]), "$errors");
    await subscribeTo("logs", two.id, "$logs");
    await one.run({
      emits: [
        ["from one", {}],
        ["special one", { name: "special" }],
      ] as never,
    });
    await two.run({ emits: [["from two", {}]] as never });
    await two.run({ fails: true });
    await eventually(async () => bodies("all").length === 2 && bodies("errors").length === 1 && bodies("logs").length === 1);
    expect(bodies("one")).toEqual(["from one"]);
    expect(bodies("channel")).toEqual(["special one"]);
    expect(new Set(bodies("all"))).toEqual(new Set(["from one", "from two"]));
    expect(bodies("errors")).toMatchObject([{ error: { code: "Error", msg: "no" }, original_context: { source_id: two.id } }]);
    expect(bodies("logs")).toMatchObject([{ k: "console.log", msg: "ran" }]);
  });

  it("that is slow or dead costs the others nothing", async () => {
    const { server, source, receiver } = await subscribed();
    const hanging = await Receiver.start(() => {});
    await subscribe(server, source.id, (await webhookTo(server, hanging.url))["id"]);
    await emit(source, ...Array.from({ length: 100 }, (_none, n) => n));
    await eventually(async () => receiver.received.length === 100);
    expect(hanging.received).toHaveLength(4);
    expect(new Set(receiver.bodies).size).toBe(100);
  });

  it("keeps of every attempt what came back, and is tried again after 5 s", async () => {
    const { server, source, webhook } = await subscribed((response) => {
      response.writeHead(500);
      response.end("x".repeat(5000));
    });
    await emit(source, 1);
    const delivery = await eventually(async () => (await deliveries(server, webhook)).find(({ attempt_count }) => attempt_count === 1));
    expect(delivery).toMatchObject({ state: "pending", event: 1 });
    const pause = Number(delivery["next_attempt_at_ms"]) - Number(delivery["created_at_ms"]);
    expect(pause).toBeGreaterThan(4000);
    expect(pause).toBeLessThan(7000);
    const { data } = await server.api.get(`/v1/deliveries/${String(delivery["id"])}`);
    expect(data).toMatchObject({ attempts: [{ status: 500, answer: "x".repeat(2048) }] });
    expect(await server.api.get(`/v1/webhooks/${String(webhook["id"])}`)).toMatchObject({ data: { active: true, failing_since_ms: expect.any(Number) } });
  });

  it.each<[string, Parameters<typeof Receiver.start>[0], object]>([
    ["resets the connection", (response) => response.destroy(), { error: expect.stringMatching(/UND_ERR_SOCKET|ECONNRESET/) }],
    ["redirects", (response) => response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), { status: 302 }],
  ])("whose receiver %s has failed", async (_title, answer, attempt) => {
    const { server, source, webhook } = await subscribed(answer);
    await emit(source, 1);
    const delivery = await eventually(async () => (await deliveries(server, webhook)).find(({ attempt_count }) => attempt_count === 1));
    expect(await server.api.get(`/v1/deliveries/${String(delivery["id"])}`)).toMatchObject({ data: { state: "pending", attempts: [attempt] } });
  });

  it("waits as long as a receiver that is busy asks for", async () => {
    const { server, source, webhook } = await subscribed((response) => response.writeHead(429, { "retry-after": "600" }).end());
    await emit(source, 1);
    const delivery = await eventually(async () => (await deliveries(server, webhook)).find(({ attempt_count }) => attempt_count === 1));
    expect(Number(delivery["next_attempt_at_ms"]) - Number(delivery["created_at_ms"])).toBeGreaterThanOrEqual(600_000);
  });

  it("that waits is delivered at once by a retry", async () => {
    let isBusy = true;
    const { server, source, receiver, webhook } = await subscribed((response) => response.writeHead(isBusy ? 429 : 200, { "retry-after": "600" }).end());
    await emit(source, 1);
    await eventually(async () => (await deliveries(server, webhook)).find(({ attempt_count }) => attempt_count === 1));
    isBusy = false;
    expect(await server.api.post(`/v1/webhooks/${String(webhook["id"])}/deliveries/retry`)).toMatchObject({ data: { retried: 1 } });
    await eventually(async () => receiver.received.length === 2);
    await eventually(async () => (await deliveries(server, webhook))[0]?.["state"] === "delivered");
  });

  it("whose receiver answers 410 is deactivated at once; what it misses can be replayed when it is back", async () => {
    let isGone = true;
    const { server, source, receiver, webhook } = await subscribed((response) => response.writeHead(isGone ? 410 : 200).end());
    const path = `/v1/webhooks/${String(webhook["id"])}`;
    await emit(source, 1);
    const dead = await eventually(async () => {
      const record = dataOf(await server.api.get(path));
      return record["active"] === false ? record : undefined;
    });
    expect(dead).toMatchObject({ inactive_reason: "its receiver answered 410 Gone" });
    await emit(source, 2, 3);
    expect(await server.api.get(path)).toMatchObject({ data: { deliveries: { missed: 2, failed: 1, pending: 0 } } });
    isGone = false;
    expect(await server.api.put(path, { active: true, replay_missed: true })).toMatchObject({ data: { active: true, replayed: 2 } });
    await eventually(async () => receiver.received.length === 3);
    expect(await server.api.post(`${path}/deliveries/retry`)).toMatchObject({ data: { retried: 1 } });
    await eventually(async () => receiver.received.length === 4);
    expect(receiver.bodies.map(String).toSorted((a, b) => a.localeCompare(b))).toEqual(["1", "1", "2", "3"]);
  });

  it("that is inactive is not delivered to by a retry, and when it is active again it is", async () => {
    let isGone = true;
    const { server, source, receiver, webhook } = await subscribed((response) => response.writeHead(isGone ? 410 : 200).end());
    const path = `/v1/webhooks/${String(webhook["id"])}`;
    await emit(source, ...Array.from({ length: 300 }, (_none, n) => n));
    await eventually(async () => dataOf(await server.api.get(path))["active"] === false);
    await expect(server.api.post(`${path}/deliveries/retry`)).rejects.toMatchObject({ code: "PD_CONFLICT" });
    isGone = false;
    await server.api.put(path, { active: true, replay_missed: true });
    await server.api.post(`${path}/deliveries/retry`);
    await eventually(
      async () => new Set(receiver.bodies).size === 300 && JSON.stringify(dataOf(await server.api.get(path))["deliveries"]).includes('"delivered":300'),
    );
  });

  it("is tried again when it is time, while other attempts hang", async () => {
    const hanging: unknown[] = [];
    const { server, source, webhook } = await subscribed((response, _request, count) => {
      if (count === 1) response.writeHead(503, { "retry-after": "1" }).end();
      else if (count === 2) hanging.push(response);
      else response.end();
    });
    await emit(source, 1);
    await eventually(async () => (await deliveries(server, webhook))[0]?.["attempt_count"] === 1);
    await emit(source, 2);
    await eventually(async () => hanging.length === 1);
    const first = await eventually(async () => (await deliveries(server, webhook)).find(({ event, state }) => event === 1 && state === "delivered"));
    expect(first).toMatchObject({ attempt_count: 2 });
  });

  it("gets channels of any name", async () => {
    const { server, source, receiver, webhook } = await subscribed();
    await subscribe(server, source.id, webhook["id"], "日本");
    await source.run({ emits: [["x", { name: "日本" }]] as never });
    await eventually(async () => receiver.received.length === 1);
    expect(decodeURI(receiver.received[0]?.headers["x-pd-event-name"] ?? "")).toBe("日本");
  });

  it("hears of failures that come after a run has ended", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(
      'export default { name: "t", version: "1", run(event) { (async () => { await new Promise((done) => setTimeout(done, 30)); throw new Error("late"); })(); } };',
    );
    const receiver = await Receiver.start();
    await subscribe(server, source.id, (await webhookTo(server, receiver.url))["id"], "$errors");
    await source.run({ n: 1 });
    await eventually(async () => receiver.received.length === 1);
    expect(receiver.bodies).toMatchObject([{ original_event: { n: 1 }, error: { msg: expect.stringContaining("late") } }]);
  });

  it("can be sent a test, and one delivery again, under the same id", async () => {
    const { server, source, receiver, webhook } = await subscribed();
    expect(await server.api.post(`/v1/webhooks/${String(webhook["id"])}/test`)).toMatchObject({ data: { status: 200, answer: "thanks" } });
    await emit(source, 1);
    const delivery = await eventually(async () => (await deliveries(server, webhook)).find(({ state }) => state === "delivered"));
    await server.api.post(`/v1/deliveries/${String(delivery["id"])}/retry`);
    await eventually(async () => receiver.received.length === 3);
    expect(receiver.received[2]?.headers["webhook-id"]).toBe(receiver.received[1]?.headers["webhook-id"]);
  });

  it.each(["ftp://example.com/", "nonsense", "http://", "https://user:secret@example.com/"])("is refused for the address %s", async (url) => {
    const server = await TestServer.inMemory();
    await expect(server.api.post("/v1/webhooks", { url })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
  });

  it("is not delivered to inside the network of a server that listens beyond this machine", async () => {
    const server = await TestServer.inMemory({ host: "0.0.0.0" });
    const receiver = await Receiver.start();
    for (const url of [receiver.url, receiver.url.replace("127.0.0.1", "localhost"), "http://169.254.169.254/latest/meta-data", "http://[::ffff:10.0.0.1]/"]) {
      const webhook = await webhookTo(server, url);
      expect(await server.api.post(`/v1/webhooks/${String(webhook["id"])}/test`)).toMatchObject({
        data: { error: expect.stringContaining("is an address in this network") },
      });
    }
    expect(receiver.received).toEqual([]);
  });
});

describe("a source that listens", () => {
  const listener =
    'export default { name: "Listener", version: "1", async run(event) { if (process.env.GATE) await fetch(process.env.GATE); this.$emit({ heard: event }); } };';

  it("is run with the payload of what it has subscribed to, once for each event", async () => {
    const server = await TestServer.inMemory();
    const source = await server.deploy(emitter);
    const listening = await server.deploy(listener);
    await subscribe(server, source.id, listening.id);
    await emit(source, { a: 1 });
    expect(await listening.payloadsOnce(1)).toEqual([{ heard: { a: 1 } }]);
    const [invocation] = await listening.invocations();
    expect(invocation).toMatchObject({ trigger: { kind: "event", emitterId: source.id }, trigger_summary: "event of Emitter", arrived: '{"a":1}' });
  });

  it("is run again after a stop that cut it off, and does not hear itself under dc_*", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(emitter);
    const gate = await Gate.open();
    const listening = await server.deploy(listener, { env: { GATE: gate.url } });
    await subscribe(server, "dc_*", listening.id);
    await emit(source, "x");
    await gate.reached;
    gate.release();
    expect(await listening.payloadsOnce(1)).toEqual([{ heard: "x" }]);
    await server.stop();
    const again = await TestServer.start({ home: server.home });
    await again.api.post(`${source.path}/run`, { event: { emits: [["y", {}]] } });
    await eventually(async () => JSON.stringify(await again.api.get(`${listening.path}/event_summaries`)).includes('"total_count":2'));
  });

  it("misses what is emitted while it is inactive, and can be run with it afterwards", async () => {
    const server = await TestServer.inMemory();
    const [source, listening] = [await server.deploy(emitter), await server.deploy(listener)];
    await subscribe(server, source.id, listening.id);
    await listening.update({ active: false });
    await emit(source, "missed");
    const path = `${listening.path}/deliveries`;
    expect(listOf(await server.api.get(path))).toMatchObject([{ state: "missed", event: "missed" }]);
    await expect(server.api.post(`${path}/retry`, { missed: true })).rejects.toMatchObject({ code: "PD_CONFLICT" });
    await listening.update({ active: true });
    expect(await server.api.post(`${path}/retry`, { missed: true })).toMatchObject({ data: { retried: 1 } });
    expect(await listening.payloadsOnce(1)).toEqual([{ heard: "missed" }]);
  });

  it("gets what it was owed before it became inactive, once it is active again", async () => {
    const server = await TestServer.inMemory();
    const gate = await Gate.open();
    const [source, listening] = [await server.deploy(emitter), await server.deploy(listener, { env: { GATE: gate.url } })];
    await listening.update({ max_concurrency: 1 });
    await subscribe(server, source.id, listening.id);
    // More events than can be in flight.
    const letters = "abcdefghijkl".split("");
    await emit(source, ...letters);
    await gate.reached;
    await listening.update({ active: false });
    gate.release();
    await listening.payloadsOnce(1);
    await listening.update({ active: true });
    const payloads = await listening.payloadsOnce(letters.length);
    expect(payloads.map((payload) => JSON.stringify(payload)).toSorted()).toEqual(letters.map((heard) => JSON.stringify({ heard })));
  });

  it("and its subscriptions go with it", async () => {
    const server = await TestServer.inMemory();
    const [source, listening] = [await server.deploy(emitter), await server.deploy(listener)];
    await subscribe(server, source.id, listening.id);
    await server.api.delete(listening.path);
    expect(await server.api.get("/v1/users/me/subscriptions")).toEqual({ data: [] });
  });
});

describe("subscriptions", () => {
  it("are made, listed and ended as the interface says, in the query or the body", async () => {
    const { server, source, webhook } = await subscribed();
    const record = { emitter_id: source.id, listener_id: webhook["id"], event_name: "" };
    expect(await server.api.get("/v1/users/me/subscriptions")).toMatchObject({ data: [record] });
    const query = new URLSearchParams({ emitter_id: source.id, listener_id: String(webhook["id"]), event_name: "x" }).toString();
    expect(await server.api.post(`/v1/subscriptions?${query}`)).toMatchObject({ data: [{ ...record, event_name: "x" }] });
    await server.api.delete(`/v1/subscriptions?${query}`);
    await expect(server.api.delete(`/v1/subscriptions?${query}`)).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
    expect(listOf(await server.api.get("/v1/users/me/subscriptions"))).toHaveLength(1);
  });

  it.each([
    ["an emitter that is not there", { emitter_id: "dc_nobody" }, "PD_SOURCE_NOT_FOUND"],
    ["an emitter that can be none", { emitter_id: "x" }, "PD_BAD_INPUT"],
    ["a listener that is not there", { listener_id: "wh_nobody" }, "PD_NOT_FOUND"],
  ])("are refused for %s", async (_title, given, code) => {
    const { server, source, webhook } = await subscribed();
    const request = { emitter_id: source.id, listener_id: String(webhook["id"]), ...given };
    await expect(server.api.post("/v1/subscriptions", request)).rejects.toMatchObject({ code });
  });

  it("are made by themselves for sources that are deployed later", async () => {
    const server = await TestServer.inMemory();
    const receiver = await Receiver.start();
    const webhook = await webhookTo(server, receiver.url);
    await server.api.post(`/v1/auto_subscriptions?event_name=$errors&listener_id=${String(webhook["id"])}`);
    const source = await server.deploy(emitter);
    await source.run({ fails: true });
    await expect.poll(() => receiver.received.length).toBe(1);
  });
});

describe("a backlog of 10,000 deliveries", () => {
  it("survives a restart in its middle: none is lost, and ids are stable", async () => {
    const server = await TestServer.start();
    const source = await server.deploy(emitter);
    const ids = new Map<string, string>();
    const receiver = await Receiver.start((response, request) => {
      response.end();
      ids.set(String(request.headers["webhook-id"]), "seen");
    });
    const webhook = await webhookTo(server, receiver.url);
    await subscribe(server, source.id, webhook["id"]);
    for (let batch = 0; batch < 10; batch++) await emit(source, ...Array.from({ length: 200 }, (_none, n) => batch * 200 + n));
    await eventually(async () => receiver.received.length > 200);
    await server.stop();
    expect(receiver.received.length).toBeLessThan(2000);
    const again = await TestServer.start({ home: server.home });
    await eventually(async () => {
      const { deliveries: counts } = dataOf(await again.api.get(`/v1/webhooks/${String(webhook["id"])}`));
      return JSON.stringify(counts) === '{"pending":0,"delivered":2000,"failed":0,"missed":0}';
    });
    expect(new Set(receiver.bodies).size).toBe(2000);
    expect(ids.size).toBe(2000);
    expect(receiver.received).toHaveLength(2000);
  });
});
