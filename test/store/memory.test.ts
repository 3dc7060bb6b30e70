import { afterAll, describe, expect } from "vitest";
import type { Store } from "../../src/ports/stores/store.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { deliveryContract } from "../contract/deliveries.ts";
import { raceContract } from "../contract/races.ts";
import { workflowContract } from "../contract/workflows.ts";
import { secretContract, sharedDataContract } from "../contract/shared-data.ts";
import { storeContract } from "../contract/store.ts";

const called = new Set<PropertyKey>();

function watched(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      called.add(name);
      return Reflect.get(target, name);
    },
  });
}

describe("the store in memory", () => {
  const place = async (): Promise<{ store: Store; reopen: () => Promise<Store> }> => {
    const shelves = new Shelves({ userId: "u_1", workspaceId: "o_1" });
    return { store: watched(memoryStore(shelves)), reopen: async () => watched(memoryStore(shelves)) };
  };
  deliveryContract(async () => (await place()).store);
  storeContract(place);
  sharedDataContract(place);
  secretContract(place);
  raceContract(place);
  workflowContract(place);

  afterAll(() => {
    const all = Object.keys(memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" })));
    // Only stores with files can be copied.
    expect(all.filter((name) => !called.has(name))).toEqual(["copyTo"]);
  });
});
