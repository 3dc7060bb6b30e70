import { describe, expect, it, onTestFinished } from "vitest";
import { PdError } from "../../src/domain/errors.ts";
import { Deliverer } from "../../src/engine/deliveries/deliver.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { systemClock } from "../../src/system/clock.ts";
import { silentLog } from "../../src/system/log.ts";
import { component, run, source } from "../contract/store.ts";
import { eventually } from "../support/eventually.ts";

describe("deliveries to a webhook", () => {
  it("go on when it could not be read for a while, and end nobody", async () => {
    const store = memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }));
    await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
    const now = Date.now();
    await store.saveWebhook({ id: "wh_1", url: "http://127.0.0.1/", active: true, secret: "whsec_eA==", oldSecrets: [], createdAt: now, updatedAt: now });
    await store.saveSubscription({ id: "sub_1", emitterId: "dc_a", listenerId: "wh_1", channel: "", createdAt: now });
    const { fence } = await store.open("dc_a");
    await store.commit(run(fence, "dc_a", "inv_1", { events: [1, 2, 3, 4, 5, 6].map((n) => ({ payload: String(n), channel: "" })) }));
    let failures = 4;
    const broken = {
      ...store,
      getWebhook: async (id: `wh_${string}`) => {
        if (failures-- > 0) throw new PdError("PD_SECRET_KEY_WRONG", "it does not open");
        return store.getWebhook(id);
      },
    };
    const over = new AbortController();
    const delivered: string[] = [];
    const sender = {
      send: async ({ payload }: { payload: string }) => {
        delivered.push(payload);
        return { kind: "answered", status: 200, answer: "" } as const;
      },
    };
    const meter = { ran: () => {}, attempted: () => {} };
    const deliverer = new Deliverer(
      { clock: systemClock, log: silentLog, meter, signal: over.signal, store: broken, sender },
      { receive: async () => undefined, concurrencyOf: () => 4 },
    );
    onTestFinished(() => deliverer.stop(1000));
    await deliverer.start();
    await eventually(async () => (await store.countDeliveries("wh_1")).delivered === 6);
    expect(delivered.toSorted()).toEqual(["1", "2", "3", "4", "5", "6"]);
  });
});
