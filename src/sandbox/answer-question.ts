import type { DataStoreRequest } from "../domain/data-store.ts";
import type { OutsideRequest } from "../domain/exchange.ts";
import type { JsonValue } from "../domain/json.ts";
import type { UnitEvents } from "../ports/runner.ts";

/** What a call asks its host for: a data store that it may reach, or an answer in place of a third party. Throws what is thrown there. */
export async function answerQuestion(
  events: UnitEvents,
  request: DataStoreRequest | OutsideRequest,
  dataStores: readonly string[],
): Promise<JsonValue | undefined> {
  if (request.operation === "fetch") return answerOutside(events, request);
  if (!dataStores.includes(request.store)) throw new Error(`the component was not given the data store "${request.store}"`);
  return events.ask?.(request);
}

async function answerOutside(events: UnitEvents, request: OutsideRequest): Promise<JsonValue> {
  if (events.fetch === undefined) throw new Error("nobody here answers for third parties");
  const { status, statusText, headers, body } = await events.fetch(request);
  return { status, statusText, body, headers: headers.map(([name, value]) => [name, value]) };
}
