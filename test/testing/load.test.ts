import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type LoadOptions, RunFailed, closeAll, load, matchers, recording } from "../../src/testing/index.ts";
import { temporaryFolder } from "../support/home.ts";
import { startHttpServer } from "../support/http-server.ts";

const ORDERS = `import { twice } from "./twice.js";
export default {
  name: "Orders", version: "0.0.1", dedupe: "unique",
  props: {
    shop: { type: "app", app: "shop" },
    db: "$.service.db",
    http: { type: "$.interface.http", customResponse: true },
    timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    limit: { type: "integer", default: "2", optional: true },
    status: { type: "string", async options({ page, query }) { const all = await (await fetch("https://api.shop.test/statuses?page=" + page)).json(); return all.filter((one) => one.includes(query ?? "")); } },
  },
  hooks: {
    async activate() { await fetch("https://api.shop.test/hooks", { method: "POST", body: JSON.stringify({ url: this.http.endpoint, key: this.shop.$auth.api_key }) }); this.db.set("hook", 1); },
  },
  async run(event) {
    console.log("triggered", typeof this.limit, this.limit);
    if (event.body === "fail") throw new Error("as told");
    if (event.timestamp !== undefined) return this.$emit({ at: event.timestamp, seen: Math.floor(Date.now() / 1000), day: new Date().toISOString().slice(0, 10) }, { id: event.timestamp });
    const orders = await (await fetch("https://api.shop.test/orders", { headers: { authorization: this.shop.$auth.api_key } })).json();
    for (const { id } of orders.slice(0, this.limit)) this.$emit({ id, twice: twice(id) }, { id, summary: "order " + id });
    this.db.set("runs", (this.db.get("runs") ?? 0) + 1);
    this.http.respond({ status: 201, body: { got: event.body } });
  },
};
`;
const HTTP = {
  "GET https://api.shop.test/orders": [{ id: 1 }, { id: 2 }, { id: 3 }],
  "POST https://api.shop.test/hooks": { id: "hook" },
  "https://api.shop.test/statuses*": ["paid", "open"],
};

async function orders(options: LoadOptions = {}) {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "orders.mjs"), ORDERS);
  await writeFile(join(folder, "twice.js"), "export const twice = (n) => 2 * n;");
  return load(join(folder, "orders.mjs"), { accounts: { shop: { api_key: "secret" } }, props: { status: "paid" }, http: HTTP, ...options });
}

expect.extend(matchers);
interface Custom {
  toHaveEmitted(expected: unknown): void;
  toHaveResponded(expected: unknown): void;
}
declare module "vitest" {
  interface Matchers<T = any> extends Custom {}
}

afterAll(closeAll);

describe.each(["in-process", "sandbox"] as const)("a component that is loaded %s", (place) => {
  it("runs by a request, with its account, its props and third parties of the test's own", async () => {
    const source = await orders({ place, db: { runs: 4 } });
    const result = await source.run({ http: { body: { hello: 1 } } });
    expect(result.kept).toEqual([
      { event: { id: 1, twice: 2 }, id: 1, summary: "order 1" },
      { event: { id: 2, twice: 4 }, id: 2, summary: "order 2" },
    ]);
    expect(result).toHaveEmitted({ twice: 4 });
    expect(result).toHaveResponded({ status: 201, body: { got: { hello: 1 } } });
    expect(result.state).toEqual({ runs: 5 });
    expect(result.logs).toEqual([{ level: "log", text: "triggered number 2" }]);
    expect(result.calls).toEqual([
      { method: "GET", url: "https://api.shop.test/orders", headers: expect.objectContaining({ authorization: "secret" }), body: undefined, status: 200 },
    ]);
    const again = await source.run({ http: {} });
    expect([again.kept, again.dropped.map(({ reason }) => reason), again.state]).toEqual([
      [],
      [expect.stringContaining("unique"), expect.stringContaining("unique")],
      { runs: 6 },
    ]);
    await source.close();
  });

  it("runs its hooks, lists choices, and is refused what nobody answers", async () => {
    const source = await orders({ place });
    const { calls, state } = await source.activate();
    expect([calls[0]?.body, state]).toEqual([{ url: "https://endpoint.test/source", key: "secret" }, { hook: 1 }]);
    expect(await source.options("status", { query: "o" })).toEqual(["open"]);
    source.answerWith({});
    await expect(source.run()).rejects.toThrow("no handler of this test answers GET https://api.shop.test/orders");
    await source.close();
  });

  it("tells what a run has done that threw, with the place in the author's file", async () => {
    const source = await orders({ place });
    const failure = await source.run({ http: { body: "fail" } }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(RunFailed);
    if (!(failure instanceof RunFailed)) return;
    expect([failure.message, failure.result.logs]).toEqual([
      expect.stringContaining("Error: as told (orders.mjs:"),
      [{ level: "log", text: "triggered number 2" }],
    ]);
    expect(failure.stack).toContain("orders.mjs:");
    expect((await source.run({ event: {} })).kept).toHaveLength(2);
    await source.close();
  });

  it("fires timers as the test moves the time on, and the code sees that time", async () => {
    const source = await orders({ place, now: "2031-05-06T12:00:00Z" });
    const results = await source.advance(150_000);
    const start = Date.parse("2031-05-06T12:00:00Z") / 1000;
    expect(results.map(({ kept }) => kept[0]?.event)).toEqual([60, 120].map((s) => ({ at: start + s, seen: start + s, day: "2031-05-06" })));
    expect(source.now).toBe((start + 150) * 1000);
    source.setTime("2032-01-01");
    const { kept } = await source.run({ timer: {} });
    expect(kept[0]?.event).toMatchObject({ day: "2032-01-01" });
    expect(new Date().getFullYear()).toBeLessThan(2031);
    await source.close();
  });
});

describe("load", () => {
  it("says what is wrong with props, accounts and files", async () => {
    await expect(orders({ props: {} })).rejects.toThrow(/status is required|status/);
    await expect(orders({ accounts: { shopp: {} } })).rejects.toThrow("Cannot give shopp an account: not a prop of the type app");
    await expect(load("./nothing.mjs")).rejects.toThrow("the file does not exist");
    await expect(load("../components/http-plain.mjs")).resolves.toBeDefined();
  });

  it("gives an account to a component that declares more beside what it has", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "more.mjs");
    await writeFile(
      file,
      `export default { name: "m", version: "1", props: { shop: { type: "app", app: "shop", reloadProps: true } },
        additionalProps(existing) { existing.shop.label = "Which"; return { ...existing, more: { type: "string", default: "x" } }; }, run() { return [this.shop.$auth.api_key, this.more]; } };`,
    );
    const source = await load(file, { accounts: { shop: { api_key: "k" } } });
    expect((await source.run({ event: {} })).returned).toEqual(["k", "x"]);
    await source.close();
  });

  it("keeps what a test has set in its db", async () => {
    const source = await orders({ db: { runs: 1 } });
    await source.run({ event: {} });
    await source.setState("runs", 40);
    expect((await source.run({ event: {} })).state).toEqual({ runs: 41 });
    await source.setState("runs", undefined);
    expect((await source.run({ event: {} })).state).toEqual({ runs: 1 });
  });

  it("fires every timer that is due at a time, and refuses more times than anybody waits for", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "timers.mjs");
    const timer = (seconds: number): string => `{ type: "$.interface.timer", default: { intervalSeconds: ${seconds} } }`;
    await writeFile(
      file,
      `export default { name: "Timers", version: "1", props: { a: ${timer(60)}, b: ${timer(120)} }, run(event) { this.$emit(event.interval_seconds); } };`,
    );
    const source = await load(file, { now: 0 });
    const runs = await source.advance(120_000);
    expect(runs.map(({ kept }) => kept[0]?.event).toSorted((a, b) => Number(a) - Number(b))).toEqual([60, 60, 120]);
    await expect(source.advance(3_600_000_000)).rejects.toThrow("its timers are due more than 10000 times");
  });

  it("tells what the code does after its run has returned, and keeps data stores", async () => {
    const folder = await temporaryFolder();
    const file = join(folder, "late.mjs");
    await writeFile(
      file,
      `export default { name: "Late", version: "1", dedupe: "unique", props: { db: "$.service.db", store: { type: "data_store" } },
        async run(event) {
          await this.store.set("seen", ((await this.store.get("seen")) ?? 0) + 1);
          this.$emit("now", { id: event.id });
          setTimeout(() => { this.$emit("later", { id: "later" }); this.db.set("late", true); }, 5);
        } };`,
    );
    const source = await load(file, { props: { store: "shared" } });
    source.setStored("shared", "seen", 4);
    expect((await source.run({ event: { id: 1 } })).kept).toMatchObject([{ event: "now" }]);
    await expect.poll(() => source.state).toEqual({ late: true });
    const next = await source.run({ event: { id: 2 } });
    expect(next.logs.map(({ text }) => text)).toEqual([expect.stringContaining("after it had returned: see takeLate()")]);
    expect(source.takeLate().kept).toMatchObject([{ event: "later" }]);
    expect(source.dataStores).toEqual({ shared: { seen: 6 } });
  });

  it("records requests that overlap and answers without a body, and refuses a file that is no recording", async () => {
    const base = await startHttpServer((request, response) => {
      if (request.method === "DELETE") response.statusCode = 204;
      response.end(request.method === "DELETE" ? "" : request.url);
    });
    const folder = await temporaryFolder();
    const [file, path] = [join(folder, "many.mjs"), join(folder, "many.json")];
    await writeFile(
      file,
      `export default { name: "Many", version: "1", props: {}, async run() {
        const texts = await Promise.all([1, 2, 3, 4, 5].map(async (n) => (await fetch("${base}/" + n)).text()));
        this.$emit({ texts, status: (await fetch("${base}/gone", { method: "DELETE" })).status });
      } };`,
    );
    const expected = [{ texts: ["/1", "/2", "/3", "/4", "/5"], status: 204 }];
    for (const _time of ["recorded", "played"])
      expect((await (await load(file, { http: recording(path) })).run()).kept.map(({ event }) => event)).toEqual(expected);
    await writeFile(path, "{ half");
    await expect((await load(file, { http: recording(path) })).run()).rejects.toThrow("not a recording");
  });

  it("plays what was recorded, and records where there is nothing yet", async () => {
    let asked = 0;
    const base = await startHttpServer((_request, response) => response.setHeader("content-type", "application/json").end(JSON.stringify({ asked: ++asked })));
    const folder = await temporaryFolder();
    const [file, path] = [join(folder, "asks.mjs"), join(folder, "asks.json")];
    await writeFile(
      file,
      `export default { name: "Asks", version: "1", props: {}, async run() { for (const n of [1, 2]) this.$emit(await (await fetch("${base}/same")).json()); } };`,
    );
    const first = await load(file, { http: recording(path) });
    const events = [{ asked: 1 }, { asked: 2 }];
    expect((await first.run()).kept.map(({ event }) => event)).toEqual(events);
    const second = await load(file, { http: recording(path) });
    expect((await second.run()).kept.map(({ event }) => event)).toEqual(events);
    expect(asked).toBe(2);
  });
});
