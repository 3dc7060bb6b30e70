import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { PdHome, killHard } from "../support/pd.ts";
import { Receiver } from "../support/receiver.ts";

describe("a server that is killed with deliveries on their way", () => {
  it("delivers every event of every commit that was acknowledged, under one id each", async () => {
    const home = await PdHome.inProcess();
    await home.file("many.mjs", 'export default { name: "Many", version: "1", run({ from }) { for (let n = 0; n < 200; n++) this.$emit(from + n); } };');
    let server = await home.up();
    await home.pd("deploy", join(home.folder, "many.mjs"));
    const ids = new Map<string, Set<string>>();
    const receiver = await Receiver.start((response, request) => {
      response.end();
      const body = receiver.received.at(-1)?.body ?? "";
      ids.set(body, new Set([...(ids.get(body) ?? []), String(request.headers["webhook-id"])]));
    });
    await home.pd("subscribe", "many", receiver.url);
    for (let round = 0; round < 3; round++) {
      await home.pd("run", "many", "--event", await home.file("event.json", `{"from":${round * 200}}`));
      await killHard(server.child);
      server = await home.up();
    }
    await eventually(async () => ids.size === 600);
    expect([...ids.values()].filter((seen) => seen.size !== 1)).toEqual([]);
  });
});
