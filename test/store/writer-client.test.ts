import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/domain/text/json.ts";
import { DisownedFences } from "../../src/store/sqlite/writing/disowned-fences.ts";
import { WriterClient } from "../../src/store/sqlite/writing/writer-client.ts";
import { component, run, source } from "../contract/store.ts";
import { temporaryFolder } from "../support/home.ts";
import { openStoreAt } from "../support/store.ts";

describe("the thread that writes", () => {
  it("does not let the log grow without end", async () => {
    const path = join(await temporaryFolder(), "test.db");
    const store = await openStoreAt(path);
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const { fence } = await store.open("dc_a");
    const payload = JSON.stringify("x".repeat(3000));
    for (let n = 0; n < 1500; n++) await store.commit(run(fence, "dc_a", `inv_${n}`, { events: [{ payload, channel: "" }] }));
    expect(await store.countEvents("dc_a")).toBe(1500);
    // The log restarts at 16 MB, but busy machines checkpoint late.
    expect((await stat(`${path}-wal`)).size).toBeLessThan(40 * 2 ** 20);
  });

  it("is not sent what cannot be sent, and gets the rest", async () => {
    const entry = join(await temporaryFolder(), "writer.mjs");
    await writeFile(
      entry,
      `import { parentPort } from "node:worker_threads";
       parentPort.on("message", (batch) => parentPort.postMessage(batch.map(({ id }) => ({ id, value: "thread" }))));
       parentPort.postMessage({ id: 0 });`,
    );
    const client = await WriterClient.start({ entry, path: "", migrations: "", onRevision: () => {} });
    let nested: JsonValue = [];
    for (let depth = 0; depth < 20_000; depth++) nested = [nested];
    const refused = client.write("noteRun", { id: "run_1", workflowId: "p_a", run: [], ...{ nested } });
    const others = [client.write("deleteKey", "one"), client.write("deleteKey", "two")];
    await expect(refused).rejects.toMatchObject({ code: "PD_FAILED", message: expect.stringContaining("cannot be sent to its thread") });
    expect(await Promise.all(others)).toEqual(["thread", "thread"]);
    await client.close();
  });
});

describe("a fence that counts no more", () => {
  it("stays so when an older one fails as well", () => {
    const disowned = new DisownedFences();
    disowned.add({ sourceId: "dc_a", fence: 6 });
    disowned.add({ sourceId: "dc_a", fence: 5 });
    expect(disowned.refuses({ sourceId: "dc_a", fence: 6 })).toBe("dc_a");
    disowned.add({ sourceId: "dc_a", fence: 7 });
    expect(disowned.refuses({ sourceId: "dc_a", fence: 7 })).toBe("dc_a");
  });
});
