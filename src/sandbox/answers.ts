import type { DataStoreRequest } from "../domain/data-store.ts";
import { messageOf } from "../domain/errors.ts";
import type { OutsideRequest } from "../domain/exchange.ts";
import type { JsonValue } from "../domain/json.ts";
import type { UnitEvents } from "../ports/runner.ts";
import type { ToChild, ToHost } from "./protocol.ts";

/** Questions of a process that wait for their answer. */
const MOST_ASKS = 1000;

/** Answers what calls of one process ask their host for: a data store that they may reach, or an answer in place of a third party. */
export class Answers {
  readonly #events: UnitEvents;
  readonly #send: (answer: ToChild) => void;
  #open = 0;

  constructor(events: UnitEvents, send: (answer: ToChild) => void) {
    this.#events = events;
    this.#send = send;
  }

  /** What goes wrong is thrown there. `dataStores`: those that the call may reach; `undefined`: it has ended. */
  async answer({ number, request }: Extract<ToHost, { type: "child:ask" }>, dataStores: readonly string[] | undefined): Promise<void> {
    this.#open++;
    try {
      const value = await this.#answerTo(request, dataStores);
      this.#send({ type: "host:answer", number, ...(value === undefined ? {} : { value }) });
    } catch (error) {
      this.#send({ type: "host:answer", number, error: messageOf(error) });
    } finally {
      this.#open--;
    }
  }

  async #answerTo(request: DataStoreRequest | OutsideRequest, dataStores: readonly string[] | undefined): Promise<JsonValue | undefined> {
    if (this.#open > MOST_ASKS) throw new Error(`a component may ask its data stores ${MOST_ASKS} things at once`);
    if (dataStores === undefined) throw new Error("the call has ended: await what uses a data store");
    if (request.operation === "fetch") return answerOutside(this.#events, request);
    if (!dataStores.includes(request.store)) throw new Error(`the component was not given the data store "${request.store}"`);
    return this.#events.ask?.(request);
  }
}

async function answerOutside(events: UnitEvents, request: OutsideRequest): Promise<JsonValue> {
  if (events.fetch === undefined) throw new Error("nobody here answers for third parties");
  const { status, statusText, headers, body } = await events.fetch(request);
  return { status, statusText, body, headers: headers.map(([name, value]) => [name, value]) };
}
