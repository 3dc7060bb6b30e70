import { describe, expect, it } from "vitest";
import { TestServer, eventually } from "../support/runtime.ts";

describe("what sources have done lately", () => {
  it("tells events of the last hour, how calls ended, and what memory a process takes up; one that is blocked tells none, one that is gone is left out", async () => {
    const server = await TestServer.start({ timeoutMs: "60000" });
    const works = await server.deploy('export default { name: "w", version: "1", run(event) { if (event.fails) throw new Error("no"); this.$emit(1); } };');
    const blocks = await server.deploy('export default { name: "b", version: "1", run() { console.log("begins"); for (;;); } };');
    const of = async (...ids: string[]) => server.client.sources.activity({ ids: ids.join(",") });
    await works.run({});
    await works.run({ fails: true });
    const [activity] = await of(works.id);
    expect([activity?.events.at(-1), activity?.calls.map(({ outcome }) => outcome)]).toEqual([1, ["threw", "returned"]]);
    expect(activity?.memory_bytes).toBeGreaterThan(10_000_000);
    const logs = server.client.follow.logs(blocks.id)[Symbol.asyncIterator]();
    void blocks.run({}).catch(() => {});
    await eventually(async () => {
      const { value } = await logs.next();
      return value?.msg === "begins";
    });
    const both = await of(works.id, blocks.id, "dc_gone");
    expect(both.map(({ source_id: id, memory_bytes: memory }) => [id, memory !== undefined])).toEqual([
      [works.id, true],
      [blocks.id, false],
    ]);
  });
});
