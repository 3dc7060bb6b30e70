import { messageOf } from "../../domain/errors.ts";
import type { OutsideRequest } from "../../domain/run/exchange.ts";
import type { JsonValue } from "../../domain/text/json.ts";
import { isRunFileRequest } from "../../domain/run/run-files.ts";
import type { CallFiles, UnitEvents } from "../../ports/runner.ts";
import type { BodyPart, HostQuestion, ToChild, ToHost } from "../channel/protocol.ts";
import type { SentBody } from "./sent-body.ts";

export interface CallAccess {
  readonly dataStores: readonly string[];
  readonly files: CallFiles | undefined;
  readonly sentBody?: SentBody | undefined;
}

/** Most unanswered questions of one process. */
const MOST_ASKS = 1000;

export class Answers {
  readonly #events: UnitEvents;
  readonly #send: (answer: ToChild) => void;
  #open = 0;

  constructor(events: UnitEvents, send: (answer: ToChild) => void) {
    this.#events = events;
    this.#send = send;
  }

  /** Errors are thrown in the component. `access` is undefined when the call has ended. */
  async answer({ number, request }: Extract<ToHost, { type: "child:ask" }>, access: CallAccess | undefined): Promise<void> {
    const counts = request.operation === "send-body" ? 0 : 1;
    this.#open += counts;
    try {
      const value = await this.#answerTo(request, access);
      this.#send({ type: "host:answer", number, ...(value === undefined ? {} : { value }) });
    } catch (error) {
      this.#send({ type: "host:answer", number, error: messageOf(error) });
    } finally {
      this.#open -= counts;
    }
  }

  async #answerTo(request: HostQuestion, access: CallAccess | undefined): Promise<JsonValue | undefined> {
    // Body parts do not count, because a slow client must not block data stores.
    if (request.operation === "send-body") return access?.sentBody === undefined ? false : takePart(access.sentBody, request);
    if (this.#open > MOST_ASKS) throw new Error(`a component may have ${MOST_ASKS} data store operations in flight`);
    if (access === undefined) throw new Error("the call has ended: await data store operations");
    if (request.operation === "fetch") return answerOutside(this.#events, request);
    if (isRunFileRequest(request)) {
      if (access.files === undefined) throw new Error("this call shares no files with a run");
      return access.files.answer(request);
    }
    if (!access.dataStores.includes(request.store)) throw new Error(`the component was not given the data store "${request.store}"`);
    return this.#events.ask?.(request);
  }
}

/** Returns whether it needs the next part. */
async function takePart(body: SentBody, { base64, isLast, problem }: BodyPart): Promise<boolean> {
  if (problem !== undefined) body.breakOff(problem);
  else if (isLast) await body.end();
  else return body.add(Buffer.from(base64, "base64"));
  return false;
}

async function answerOutside(events: UnitEvents, request: OutsideRequest): Promise<JsonValue> {
  if (events.fetch === undefined) throw new Error("this process has no handler for third parties");
  const { status, statusText, headers, body } = await events.fetch(request);
  return { status, statusText, body, headers: headers.map(([name, value]) => [name, value]) };
}
