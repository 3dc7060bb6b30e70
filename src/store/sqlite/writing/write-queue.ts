import { type LargeWrite, isLarge, largeWriteOf } from "./event-stage.ts";
import { WRITE_RULES, isWrite } from "./write-rules.ts";
import { type WriteRequest, writesIn, writesOf } from "./write-request.ts";

/** Others wait for the whole transaction. */
const MAX_BATCH = 256;

interface Order {
  readonly now: readonly WriteRequest[];
  readonly large: LargeWrite | undefined;
  readonly later: WriteRequest[];
}

/** Orders requests by arrival. While a large one is written in parts, requests go first that share nothing with it or with earlier waiting ones. */
export class WriteQueue {
  #waiting: WriteRequest[] = [];
  #large: LargeWrite | undefined;

  add(requests: readonly WriteRequest[]): void {
    for (const request of requests) this.#waiting.push(request);
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#large === undefined;
  }

  next(): Pick<Order, "now" | "large"> {
    const { now, large, later } = orderOf(this.#waiting, this.#large);
    this.#waiting = later;
    this.#large = large;
    return { now, large };
  }

  /** A request may go before the rest of the large one. */
  get isAwaited(): boolean {
    return orderOf(this.#waiting, this.#large).now.length > 0;
  }

  goOn(large: LargeWrite | undefined): void {
    this.#large = large;
  }
}

function orderOf(waiting: readonly WriteRequest[], current: LargeWrite | undefined): Order {
  if (current === undefined && writesIn(waiting) <= MAX_BATCH && !waiting.some(isLarge)) return { now: waiting, large: undefined, later: [] };
  const [now, later]: [WriteRequest[], WriteRequest[]] = [[], []];
  let large = current;
  let writes = 0;
  /** Used by waiting requests. Undefined when they may use any. */
  let blocked: Set<string> | undefined = new Set(current === undefined ? [] : concernsOf(current.request));
  for (const request of waiting) {
    // It writes no data and needs no order.
    if (request.verb === "damaged") {
      now.push(request);
      continue;
    }
    const concerns = blocked === undefined ? undefined : concernsOf(request);
    const mayGo = writes < MAX_BATCH && isFree(concerns, blocked, large === undefined);
    if (mayGo && !isLarge(request)) {
      now.push(request);
      writes += writesOf(request);
      continue;
    }
    if (mayGo && large === undefined) large = largeWriteOf(request);
    else later.push(request);
    if (concerns === undefined || writes >= MAX_BATCH) blocked = undefined;
    for (const id of concerns ?? []) blocked?.add(id);
  }
  return { now, large, later };
}

function isFree(concerns: readonly string[] | undefined, blocked: ReadonlySet<string> | undefined, isFirst: boolean): boolean {
  if (blocked === undefined) return false;
  return isFirst || concerns?.every((id) => !blocked.has(id)) === true;
}

/** Undefined when it may use any. */
function concernsOf({ verb, values: [write] }: WriteRequest): readonly string[] | undefined {
  return isWrite(verb) ? WRITE_RULES[verb].concerns(write) : undefined;
}
