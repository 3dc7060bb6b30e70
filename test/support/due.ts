import type { Delivery } from "../../src/domain/delivery/delivery.ts";
import type { DeliveryStore } from "../../src/ports/stores/delivery-store.ts";

export async function listDue(store: Pick<DeliveryStore, "listDue">, ...which: Parameters<DeliveryStore["listDue"]>): Promise<readonly Delivery[]> {
  return (await store.listDue(...which)).deliveries;
}
