import type { Delivery } from "../../src/domain/delivery.ts";
import type { DeliveryStore } from "../../src/ports/delivery-store.ts";

export async function listDue(store: Pick<DeliveryStore, "listDue">, ...which: Parameters<DeliveryStore["listDue"]>): Promise<readonly Delivery[]> {
  return (await store.listDue(...which)).deliveries;
}
