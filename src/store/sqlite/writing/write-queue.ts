import { type LargeWrite, isLarge, largeWriteOf } from "./event-stage.ts";
import { isTravelling } from "../rows/travelling.ts";
import { type WriteRequest, writesIn, writesOf } from "./write-request.ts";

/** Others wait for the whole transaction. */
const MAX_BATCH = 256;

/** They write no data and need no order. */
const ASIDE: ReadonlySet<WriteRequest["verb"]> = new Set(["tidy", "shorten", "damaged"]);

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
    if (ASIDE.has(request.verb)) {
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

/** All components conflict: they share names, and rows that are dropped when unused. */
const COMPONENTS = "components";

/** Undefined when it may use any. */
function concernsOf({ verb, values: [write] }: WriteRequest): readonly string[] | undefined {
  switch (verb) {
    case "storePending":
    case "recordAttempts":
    case "shrink":
      return [];
    case "commit":
    case "append":
      return isTravelling(write) ? [write.sourceId, ...("step" in write && write.step !== undefined ? [write.step.runId] : [])] : undefined;
    case "open":
    case "writeState":
    case "prune":
    case "pruneRuns":
    case "deleteEvents":
    case "noteBegun":
    case "beginChange":
    case "endChange":
    case "giveUpVersion":
      return typeof write === "string" ? [write] : undefined;
    // `swap` is not listed: it may change subscriptions, and a run's deliveries go to its listeners at commit.
    case "beginDeploy":
      return withComponents(membersOf(write, "id"));
    case "finishDeploy":
      return withComponents(typeof write === "string" ? [write] : undefined);
    case "saveComponent":
    case "publishComponent":
    case "unpublishComponent":
      return [COMPONENTS];
    case "saveKey":
    case "deleteKey":
      return ["keys"];
    case "saveRegistry":
    case "deleteRegistry":
      return ["registries"];
    case "createDataStore":
    case "clearDataStore":
    case "deleteDataStore":
    case "setDataStoreValue":
    case "setDataStoreExpiry":
    case "deleteDataStoreValue":
      return typeof write === "string" ? [`data store ${write}`] : undefined;
    case "writeActionState":
      return typeof write === "string" ? [`action ${write}`] : undefined;
    case "replaceAccount":
      return membersOf(write, "id");
    case "advance":
    case "settleInstant":
      return membersOf(write, "sourceId");
    case "beginRun":
    case "noteRun":
      return membersOf(write, "workflowId", "id");
    case "endWait":
      return membersOf(write, "runId");
    default:
      return undefined;
  }
}

function withComponents(concerns: readonly string[] | undefined): readonly string[] | undefined {
  return concerns === undefined ? undefined : [...concerns, COMPONENTS];
}

function membersOf(write: unknown, ...names: readonly string[]): readonly string[] | undefined {
  const found = names.map((name) => (typeof write === "object" && write !== null ? Reflect.get(write, name) : undefined));
  return found.every((id) => typeof id === "string") ? found : undefined;
}
