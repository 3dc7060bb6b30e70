import { describe, expect, it } from "vitest";
import type { InvocationId } from "../../src/domain/ids.ts";
import { LIMITS } from "../../src/domain/limits.ts";
import type { CallReport, CallRequest, LatePart, Runner, UnitCode } from "../../src/ports/runner.ts";
import { Gate } from "../support/gate.ts";
import { temporaryFolder } from "../support/home.ts";

const quiet: CallReport = { log: () => {}, respond: () => {} };

/** Node 20 lacks Promise.withResolvers. */
function deferred(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => (resolve = settle));
  return { promise, resolve };
}

function unitCode(run: string, rest = ""): UnitCode {
  const code = `export default { name: "t", version: "1", props: { db: "$.service.db", http: { type: "$.interface.http", customResponse: true } }, ${rest} async run(event) { ${run} } };`;
  return {
    bundle: { code, map: '{"version":3,"sources":[],"mappings":""}', packages: [], imports: [] },
    env: { NAME: "value" },
    state: { before: '"stored"' },
  };
}

function request(id: InvocationId, event: { [key: string]: string | number } = {}): CallRequest {
  return {
    id,
    method: { kind: "run", trigger: { kind: "manual", event } },
    configured: {},
    dataStores: ["shared"],
    secrets: ["hush-hush"],
    endpoint: "http://x/key",
    deadlineMs: 5000,
  };
}

export function runnerContract(open: () => Promise<Runner>): void {
  const noEvents = { late: () => {}, ended: () => {} };

  describe("start", () => {
    it("gives a unit that tells its definition and takes calls", async () => {
      const unit = await (await open()).start(unitCode("return process.env.NAME;"), noEvents);
      expect(unit.definition).toMatchObject({ name: "t", hasRun: true, props: { db: "$.service.db" } });
      expect(unit.isUsable).toBe(true);
      expect(await unit.call(request("inv_1"), quiet)).toMatchObject({ outcome: { kind: "returned" }, returned: '"value"' });
    });

    it("gives a unit that tells what memory it takes up, as often as it is asked, and nothing once it is gone", async () => {
      const unit = await (await open()).start(unitCode(""), noEvents);
      const [one = 0, two = 0] = await Promise.all([unit.memoryBytes(), unit.memoryBytes()]);
      expect([one > 1_000_000, two]).toEqual([true, one]);
      expect(await unit.memoryBytes()).toBeGreaterThan(1_000_000);
      unit.kill("over");
      expect(await unit.memoryBytes()).toBeUndefined();
    });

    it("throws when the code throws while it is loaded", async () => {
      const runner = await open();
      const bad = { ...unitCode(""), bundle: { ...unitCode("").bundle, code: "throw new Error('no')" } };
      await expect(runner.start(bad, noEvents)).rejects.toMatchObject({ code: "PD_LOAD_FAILED" });
    });

    it("throws at once when nobody wants it any more, whatever its code waits for", async () => {
      const runner = await open();
      const gate = await Gate.open();
      const endless = { ...unitCode(""), bundle: { ...unitCode("").bundle, code: `await fetch("${gate.url}");` } };
      const [over, before] = [new AbortController(), AbortSignal.abort("it was deleted before")];
      const starting = runner.start(endless, noEvents, over.signal);
      await gate.reached;
      over.abort("it was deleted");
      await expect(starting).rejects.toMatchObject({ code: "PD_INTERRUPTED", message: "Cannot load the component: it was deleted" });
      await expect(runner.start(endless, noEvents, before)).rejects.toMatchObject({ code: "PD_INTERRUPTED" });
    });

    it.each([
      ["what it imports", "node:zlib"],
      ["an import that cannot be loaded", "no-such-package"],
    ])("is as good after prepare has loaded %s, and again after that one was taken", async (_title, specifier) => {
      const runner = await open();
      const plain = unitCode("return 1;");
      const code = { ...plain, packagesPath: await temporaryFolder(), bundle: { ...plain.bundle, imports: [{ specifier, isRequire: false }] } };
      for (const _round of [1, 2]) {
        runner.prepare(code);
        const unit = await runner.start(code, noEvents);
        expect(await unit.call(request("inv_1"), quiet)).toMatchObject({ returned: "1", stateChanges: {} });
      }
    });
  });

  describe("a call", () => {
    it("reports lines and the response while it goes on, and the rest at its end", async () => {
      const unit = await (
        await open()
      ).start(unitCode('console.log("line"); this.http.respond({ status: 201 }); this.db.set("k", 1); this.$emit("e", { id: 1 });'), noEvents);
      const [lines, responses]: [string[], number[]] = [[], []];
      const report = {
        log: ({ text }: { text: string }) => void lines.push(text),
        respond: (response: object) => void responses.push("status" in response ? Number(response.status) : 0),
      };
      const result = await unit.call(request("inv_1"), report);
      expect([lines, responses]).toEqual([["line"], [201]]);
      expect(result).toMatchObject({ emits: [{ payload: '"e"', id: 1 }], stateChanges: { k: "1" }, logs: [{ text: "line" }] });
    });

    it("never rejects: what is thrown is its outcome", async () => {
      const unit = await (await open()).start(unitCode('throw new TypeError("x");'), noEvents);
      expect(await unit.call(request("inv_1"), quiet)).toMatchObject({ outcome: { kind: "threw", error: { name: "TypeError", message: "x" } } });
    });

    it("may emit as often as the limit says, in order, and once more throws there", async () => {
      const code = `for (let n = 0; n < event.count; n++) this.$emit({ n }, { id: n, summary: "s", ts: n });`;
      const unit = await (await open()).start(unitCode(code), noEvents);
      const { outcome, emits } = await unit.call(request("inv_1", { count: LIMITS.emits }), quiet);
      expect([outcome, emits.length]).toEqual([{ kind: "returned" }, LIMITS.emits]);
      expect(emits.every(({ payload, id }, n) => id === n && payload === `{"n":${n}}`)).toBe(true);
      const more = await unit.call(request("inv_2", { count: LIMITS.emits + 1 }), quiet);
      expect(more.outcome).toMatchObject({ kind: "threw", error: { message: expect.stringContaining("one run may emit 100000 times") } });
      expect(more.emits).toHaveLength(LIMITS.emits);
    });

    it("may emit many large events, as others do at the same time", async () => {
      const code = `const text = "x".repeat(200_000); for (let n = 0; n < 200; n++) { this.$emit(text, { id: event.of + n }); if (n % 50 === 0) await null; }`;
      const unit = await (await open()).start(unitCode(code), noEvents);
      const results = await Promise.all(
        (["inv_1", "inv_2", "inv_3"] as const).map((id) => unit.call({ ...request(id, { of: id }), deadlineMs: 30_000 }, quiet)),
      );
      for (const [index, { outcome, emits }] of results.entries()) {
        expect([outcome, emits.length, emits.at(-1)?.id]).toEqual([{ kind: "returned" }, 200, `inv_${index + 1}199`]);
      }
    });

    it.each(["ends", "goes on"])("may emit very often while what others have emitted leaves no room, and %s", async (after) => {
      const code = `
        if (event.of === "large") {
          for (let n = 0; n < 48; n++) this.$emit("x".repeat(990_000), { id: n });
          await new Promise((end) => (globalThis.end = end));
        } else {
          for (let n = 0; n < 80_000; n++) this.$emit(n, { id: n, name: "a", summary: "s", ts: n });
          globalThis.end();
          if (event.after === "ends") return;
          for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
          for (let n = 80_000; n < 81_000; n++) this.$emit(n, { id: n, name: "a", summary: "s", ts: n });
        }`;
      const unit = await (await open()).start(unitCode(code), noEvents);
      const results = await Promise.all(
        (["large", "often"] as const).map((of) => unit.call({ ...request(`inv_${of}`, { of, after }), deadlineMs: 30_000 }, quiet)),
      );
      expect(results.map(({ outcome, emits }) => [outcome.kind, emits.length])).toEqual([
        ["returned", 48],
        ["returned", after === "ends" ? 80_000 : 81_000],
      ]);
      expect(results[1]?.emits.every(({ id }, n) => id === n)).toBe(true);
    });

    it("that touches more keys than it may throws there, and its process goes on", async () => {
      const code = `for (let n = 0; n < event.count; n++) this.db.get("key" + n);`;
      const unit = await (await open()).start(unitCode(code), noEvents);
      expect((await unit.call(request("inv_1", { count: LIMITS.keys + 1 }), quiet)).outcome).toMatchObject({
        error: { name: "RangeError", message: "db: one run may read and write 100000 keys" },
      });
      expect((await unit.call(request("inv_2", { count: LIMITS.keys }), quiet)).outcome).toEqual({ kind: "returned" });
    });

    it("shows stars in the place of secrets in what is printed and thrown", async () => {
      const unit = await (
        await open()
      ).start(
        unitCode(
          'console.log({ headers: { authorization: "Bearer hush-hush" } }); process.stdout.write("raw hush-hush\\n"); throw new Error("bad hush-hush");',
        ),
        noEvents,
      );
      const { logs, outcome } = await unit.call(request("inv_1"), quiet);
      expect(JSON.stringify([logs, outcome])).not.toContain("hush-hush");
      expect(logs.map(({ text }) => text)).toEqual(["{ headers: { authorization: 'Bearer ********' } }", "raw ********"]);
      expect(outcome).toMatchObject({ error: { message: "bad ********" } });
    });

    it("may overlap another", async () => {
      const unit = await (await open()).start(unitCode("await new Promise((done) => setTimeout(done, event.ms)); return event.ms;"), noEvents);
      const order: string[] = [];
      const calls = [40, 1].map((ms, n) => unit.call(request(`inv_${n}`, { ms }), quiet).then(({ returned }) => order.push(returned ?? "")));
      await Promise.all(calls);
      expect(order).toEqual(["1", "40"]);
    });

    it("sees the state that it was started with and what others wrote since", async () => {
      const unit = await (await open()).start(unitCode('return [this.db.get("before"), this.db.get("patched")];'), noEvents);
      unit.patchState({ before: null, patched: "2" }, 1);
      expect(await unit.call(request("inv_1"), quiet)).toMatchObject({ returned: "[null,2]" });
    });

    it("goes on after its end: that comes as a late part", async () => {
      const late: LatePart[] = [];
      const arrived = deferred();
      const unit = await (
        await open()
      ).start(unitCode("setTimeout(() => this.$emit(2), 10);"), {
        late: (part) => {
          late.push(part);
          arrived.resolve();
        },
        ended: () => {},
      });
      await unit.call(request("inv_1"), quiet);
      await arrived.promise;
      expect(late).toMatchObject([{ id: "inv_1", result: { emits: [{ payload: "2" }] } }]);
    });
  });

  describe("the end of a unit", () => {
    it("by retiring lets calls in flight finish, and takes no more", async () => {
      const unit = await (await open()).start(unitCode('await new Promise((done) => setTimeout(done, 50)); return "finished";'), noEvents);
      const call = unit.call(request("inv_1"), quiet);
      const retired = unit.retire();
      expect(unit.isUsable).toBe(false);
      expect(await unit.call(request("inv_2"), quiet)).toMatchObject({ outcome: { kind: "interrupted" } });
      expect(await call).toMatchObject({ returned: '"finished"' });
      await retired;
    });

    it("by its own deadline comes to a call while an older one may take longer", async () => {
      const unit = await (await open()).start(unitCode("await new Promise((done) => setTimeout(done, Number(event.ms)));"), noEvents);
      await unit.call({ ...request("inv_1", { ms: 0 }), deadlineMs: 60_000 }, quiet);
      const long = unit.call({ ...request("inv_2", { ms: 1000 }), deadlineMs: 60_000 }, quiet);
      const short = unit.call({ ...request("inv_3", { ms: 60_000 }), deadlineMs: 200 }, quiet);
      expect(await short).toMatchObject({ outcome: { kind: "timed-out", afterMs: 200 } });
      expect(await long).toMatchObject({ outcome: { kind: "returned" } });
    });

    it("of a call by its deadline leaves no value for others to build on, also when its code returns later", async () => {
      const wait = "await new Promise((done) => setTimeout(done, Number(event.ms)));";
      const unit = await (
        await open()
      ).start(unitCode(`if (event.first) this.db.set("n", 1); ${wait} if (!event.first) this.db.set("n", (this.db.get("n") ?? 0) + 1);`), noEvents);
      const first = unit.call({ ...request("inv_1", { first: 1, ms: 400 }), deadlineMs: 200 }, quiet);
      const second = unit.call(request("inv_2", { ms: 800 }), quiet);
      expect(await first).toMatchObject({ outcome: { kind: "timed-out" } });
      expect(await second).toMatchObject({ outcome: { kind: "interrupted" }, stateChanges: {} });
    });

    it("by retiring without hurry takes no more calls either, and is hurried by who retires it again", async () => {
      const unit = await (await open()).start(unitCode('return "finished";'), noEvents);
      const unhurried = unit.retire({ isUnhurried: true });
      expect(unit.isUsable).toBe(false);
      expect(await unit.call(request("inv_1"), quiet)).toMatchObject({ outcome: { kind: "interrupted" } });
      await unit.retire();
      await unhurried;
    });

    it("by retiring without hurry comes at once to one that is killed meanwhile", async () => {
      const ended = deferred();
      const unit = await (await open()).start(unitCode('return "finished";'), { late: () => {}, ended: ended.resolve });
      const unhurried = unit.retire({ isUnhurried: true });
      unit.kill("the test says so");
      await ended.promise;
      await unhurried;
    });

    it("by killing interrupts calls in flight, then is told", async () => {
      const ended = deferred();
      const unit = await (await open()).start(unitCode("await new Promise(() => setTimeout(() => {}, 60000));"), { late: () => {}, ended: ended.resolve });
      const call = unit.call(request("inv_1"), quiet);
      unit.kill("the test says so");
      expect(await call).toMatchObject({ outcome: { kind: "interrupted", reason: "the test says so" } });
      await ended.promise;
    });
  });
}
