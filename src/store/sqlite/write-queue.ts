import { type LargeWrite, isLarge, largeWriteOf } from "./event-stage.ts";
import { isTravelling } from "./travelling.ts";
import type { WriteRequest } from "./write-request.ts";

/** So many requests at most share a transaction. */
const MAX_BATCH = 256;

interface Order {
  readonly now: readonly WriteRequest[];
  readonly large: LargeWrite | undefined;
  readonly later: readonly WriteRequest[];
}

/**
 * Requests in the order in which they are made: that in which they came, but while a large one is being written, those go
 * before it that have to do neither with it nor with anything that waits for it.
 */
export class WriteQueue {
  #waiting: readonly WriteRequest[] = [];
  #large: LargeWrite | undefined;

  add(requests: readonly WriteRequest[]): void {
    this.#waiting = [...this.#waiting, ...requests];
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#large === undefined;
  }

  /** What may be made at once, and what is to be written in parts after that. */
  next(): Pick<Order, "now" | "large"> {
    const { now, large, later } = orderOf(this.#waiting, this.#large);
    this.#waiting = later;
    this.#large = large;
    return { now, large };
  }

  /** Somebody waits who may go before the rest of what is written in parts. */
  get isAwaited(): boolean {
    return orderOf(this.#waiting, this.#large).now.length > 0;
  }

  /** `large`: what is left of it; `undefined`: nothing. */
  goOn(large: LargeWrite | undefined): void {
    this.#large = large;
  }
}

function orderOf(waiting: readonly WriteRequest[], current: LargeWrite | undefined): Order {
  // As it mostly is.
  if (current === undefined && waiting.length <= MAX_BATCH && !waiting.some(isLarge)) return { now: waiting, large: undefined, later: [] };
  const [now, later]: [WriteRequest[], WriteRequest[]] = [[], []];
  let large = current;
  const held = new Set(current === undefined ? [] : concernsOf(current.request));
  let isAllHeld = false;
  for (const request of waiting) {
    const concerns = concernsOf(request);
    const mayGo = !isAllHeld && (large === undefined || concerns?.every((id) => !held.has(id)) === true) && now.length < MAX_BATCH;
    if (mayGo && !isLarge(request)) {
      now.push(request);
      continue;
    }
    if (mayGo && large === undefined) large = largeWriteOf(request);
    else later.push(request);
    if (concerns === undefined || now.length === MAX_BATCH) isAllHeld = true;
    for (const id of concerns ?? []) held.add(id);
  }
  return { now, large, later };
}

/** Sources, and runs of workflows, that a request has to do with; `undefined`: it may be any. */
function concernsOf({ verb, values: [write] }: WriteRequest): readonly string[] | undefined {
  switch (verb) {
    case "storePending":
    case "recordAttempt":
    case "tidy":
      return [];
    case "commit":
    case "append":
      return isTravelling(write) ? [write.sourceId, ...("step" in write && write.step !== undefined ? [write.step.run.id] : [])] : undefined;
    case "advance":
    case "settleInstant":
      return membersOf(write, "sourceId");
    case "beginRun":
    case "noteRun":
      return membersOf(write, "workflowId", "id");
    case "noteBegun":
      return typeof write === "string" ? [write] : undefined;
    default:
      return undefined;
  }
}

function membersOf(write: unknown, ...names: readonly string[]): readonly string[] | undefined {
  const found = names.map((name) => (typeof write === "object" && write !== null ? Reflect.get(write, name) : undefined));
  return found.every((id) => typeof id === "string") ? found : undefined;
}
