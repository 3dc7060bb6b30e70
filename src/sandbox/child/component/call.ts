import { AsyncLocalStorage } from "node:async_hooks";
import { type Emit, sizeOfEmit } from "../../../domain/event/event.ts";
import type { InvocationId } from "../../../domain/ids.ts";
import type { BadResponse, HttpResponse, Outcome } from "../../../domain/run/invocation.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { BODY_PART, type CallPart, type HostQuestion } from "../../channel/protocol.ts";
import { LIMITS, isTooComplex } from "../../../domain/limits.ts";
import { CallState } from "./call-state.ts";
import { type State, jsonText } from "./state.ts";

export interface CallHost {
  readonly state: State;
  respond(id: InvocationId, response: HttpResponse | BadResponse, told: { readonly isUnsettled: boolean; readonly isStreamed: true | undefined }): void;
  /** `size` is in characters. Returns false when the server would hold too much. */
  emitted(id: InvocationId, emits: readonly Emit[], size: number): boolean;
  late(id: InvocationId, part: CallPart, outcome?: Outcome): void;
  note(id: InvocationId, text: string): void;
  ask(id: InvocationId, request: HostQuestion): Promise<unknown>;
}

/** In batches, the server works on one while more are made. */
const EMITS_TOGETHER = 500;
const CHARACTERS_TOGETHER = 256_000;
interface EmitsTogether {
  readonly emits: readonly Emit[];
  readonly size: number;
}

const LONGEST_TIME = 200;
const NOT_WANTED = "the prop has no customResponse: true, so the client gets the default answer";

/** The call of the running code, also after an await. */
export const currentCall: AsyncLocalStorage<Call> = new AsyncLocalStorage();

/** Components may continue after `run` has returned. After `finish`, each turn's changes are sent as a late part. */
export class Call {
  readonly id: InvocationId;
  readonly #host: CallHost;
  readonly state: CallState;
  #emits: Emit[] = [];
  /** Batches that the server has no room for yet. They precede `#emits`. */
  #waiting: EmitsTogether[] = [];
  #emitCount = 0;
  #unsentSize = 0;
  #heldSize = 0;
  #isFinished = false;
  #isLatePartDue = false;
  #hasResponded = false;
  #size = 0;
  /** Returns what an action did through `$`, as JSON. Undefined for other calls. */
  report: (() => string) | undefined;
  /** Target of `/tmp`. Undefined when that is the process's own. */
  temporaryFolder: string | undefined;
  /** Epoch ms. Undefined when its code sees the real time. */
  nowMs: number | undefined;
  /** Uncaught error before the call's end. */
  failure: { readonly thrown: unknown } | undefined;

  /** `isQuestion`: only the answer matters, so writes are not stored. */
  constructor(id: InvocationId, host: CallHost, { isQuestion = false }: { isQuestion?: boolean } = {}) {
    this.id = id;
    this.#host = host;
    this.state = new CallState(host.state, { isPrivate: isQuestion });
  }

  emit(event: unknown, meta: unknown): void {
    const emit = emitOf(event, meta);
    const size = sizeOfEmit(emit);
    this.#take(size, "emits and sets");
    if (this.#emitCount >= LIMITS.emits) throw new RangeError(`$emit: one run may emit ${LIMITS.emits} times`);
    this.#emitCount++;
    this.#emits.push(emit);
    this.#unsentSize += size;
    if (emit.summary !== undefined && emit.summary.length > LIMITS.summary)
      this.#host.note(this.id, `A summary was cut off after ${LIMITS.summary} characters`);
    for (const text of ignoredOf(meta)) this.#host.note(this.id, text);
    if (this.#emits.length >= EMITS_TOGETHER || this.#unsentSize >= CHARACTERS_TOGETHER) this.#sendEmits();
    this.#reportLate();
  }

  get(key: unknown): unknown {
    return this.state.get(key);
  }

  set(key: unknown, value: unknown): void {
    this.#take(this.state.set(key, value), "emits and sets");
    this.#reportLate();
  }

  ask(request: HostQuestion): Promise<unknown> {
    return this.#host.ask(this.id, request);
  }

  note(text: string): void {
    this.#host.note(this.id, text);
  }

  /** A later response must not throw. `isWanted`: the prop asks for custom responses. */
  respond(response: HttpResponse, isWanted: boolean): void {
    const nothingOf = isWanted ? this.#whyNoResponse() : NOT_WANTED;
    if (nothingOf !== undefined) return this.note(`respond had no effect: ${nothingOf}`);
    this.#hasResponded = true;
    void this.#tellResponse(response);
  }

  /** Sends nothing before the body's first part exists. An error until then rejects. */
  async respondInParts(head: HttpResponse, parts: AsyncIterator<Uint8Array>, isWanted: boolean): Promise<void> {
    const nothingOf = isWanted ? this.#whyNoResponse() : NOT_WANTED;
    if (nothingOf !== undefined) return this.note(`respond had no effect: ${nothingOf}`);
    this.#hasResponded = true;
    const first = await parts.next().catch((error: unknown) => {
      this.#hasResponded = false;
      throw error;
    });
    if (this.#isFinished) return this.note("respond had no effect: run had ended before its body was read: await it");
    await this.#tellResponse(head, true);
    await this.#sendBody(first, parts);
  }

  async #sendBody(first: IteratorResult<Uint8Array>, parts: AsyncIterator<Uint8Array>): Promise<void> {
    const tell = (base64: string, end: { isLast: boolean; problem?: string }) => this.ask({ operation: "send-body", base64, ...end });
    try {
      for (let part = first; part.done !== true; part = await parts.next()) {
        for (let at = 0; at < part.value.length; at += BODY_PART) {
          const bytes = part.value.subarray(at, at + BODY_PART);
          if ((await tell(Buffer.from(bytes).toString("base64"), { isLast: false })) === true) continue;
          if (this.#isFinished) this.note("respond sent a part of its body: run had ended before the rest was read: await it");
          return void (await parts.return?.());
        }
      }
      await tell("", { isLast: true });
    } catch (error) {
      await tell("", { isLast: true, problem: "the component failed before the end of the body" });
      throw error;
    }
  }

  async #tellResponse(response: HttpResponse, isStreamed?: true): Promise<void> {
    // A response must not depend on state that may still be lost.
    if (this.state.isWaiting) await this.state.untilFounded();
    if (!this.state.isVoid) this.#host.respond(this.id, response, { isUnsettled: this.state.isUnsettled, isStreamed });
  }

  #take(characters: number, what: string): void {
    this.#size += characters;
    if (this.#size > LIMITS.call) throw new RangeError(`the data that one run ${what} may have ${LIMITS.call} characters`);
  }

  #whyNoResponse(): string | undefined {
    if (this.#hasResponded) return "only the first response of a run counts";
    return this.#isFinished ? "run had ended" : undefined;
  }

  takePart(): CallPart {
    const { stateChanges, touched } = this.state.takePart();
    return { emits: this.#takeEmits(), stateChanges, touched };
  }

  get heldSize(): number {
    return this.#heldSize;
  }

  #sendEmits(): void {
    if (this.#isFinished) return this.#host.late(this.id, { emits: this.#takeEmits(), stateChanges: {}, touched: {} });
    const size = this.#unsentSize;
    this.#waiting.push({ emits: this.#takeEmits(), size });
    for (let next = this.#waiting[0]; next !== undefined && this.#host.emitted(this.id, next.emits, next.size); next = this.#waiting[0]) {
      this.#heldSize += next.size;
      this.#waiting.shift();
    }
  }

  /** Batches to send before the part that `takePart` returns. */
  takeWaiting(): readonly EmitsTogether[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  #takeEmits(): Emit[] {
    const emits = this.#emits;
    this.#emits = [];
    this.#unsentSize = 0;
    return emits;
  }

  finish(): void {
    this.#isFinished = true;
    this.state.finish();
  }

  fail(thrown: unknown, outcome: Outcome): void {
    if (this.#isFinished) this.#host.late(this.id, this.takePart(), outcome);
    else this.failure ??= { thrown };
  }

  #reportLate(): void {
    if (!this.#isFinished || this.#isLatePartDue) return;
    this.#isLatePartDue = true;
    setImmediate(() => {
      this.#isLatePartDue = false;
      this.#host.late(this.id, this.takePart());
    });
  }
}

function usableText(text: string, what: string): string {
  if (text.length > LIMITS.value) throw new RangeError(`${what} has ${text.length} characters, more than ${LIMITS.value}`);
  if (isTooComplex(text)) throw new RangeError(`${what} has more than ${LIMITS.members} members, or is too deep`);
  return text;
}

function usableName(text: string, what: string): string {
  if (text.length > LIMITS.name) throw new RangeError(`$emit: the ${what} has ${text.length} characters, more than ${LIMITS.name}`);
  return text;
}

function emitOf(event: unknown, meta: unknown): Emit {
  const payload = usableText(jsonText(event, "$emit") ?? "null", "$emit: the event");
  const given = isRecord(meta) ? meta : {};
  const { id, name, summary } = given;
  const usableId = idOf(id);
  return {
    payload,
    id: usableId,
    unusableId: usableId === undefined && id !== undefined && id !== null ? shown(id).slice(0, 200) : undefined,
    name: typeof name === "string" && name !== "" ? usableName(name, "name") : undefined,
    summary: summary === undefined || summary === null ? undefined : String(summary).slice(0, LIMITS.summary + 1),
    ts: timeOf(given["ts"]),
    deliveryTs: timeOf(given["delivery_ts"]),
  };
}

function idOf(given: unknown): string | number | undefined {
  const id = typeof given === "object" && given !== null ? idOfObject(given) : given;
  if (typeof id === "bigint") return String(id);
  if (typeof id === "string") return usableName(id, "id");
  return typeof id === "number" && Number.isFinite(id) ? id : undefined;
}

/** Returns the same id each time: a Date's time in ms, which "greatest" can compare, or bytes as hexadecimal. */
function idOfObject(id: object): unknown {
  if (id instanceof Date) return id.getTime();
  if (id instanceof Uint8Array) return Buffer.from(id).toString("hex");
  const [toJson, toText]: readonly unknown[] = [Reflect.get(id, "toJSON"), Reflect.get(id, "toString")];
  const json: unknown = typeof toJson === "function" ? Reflect.apply(toJson, id, []) : undefined;
  if (typeof json === "string" || typeof json === "number") return json;
  const isOwn = typeof toText === "function" && toText !== Object.prototype.toString && !Array.isArray(id);
  return isOwn ? Reflect.apply(toText, id, []) : undefined;
}

function ignoredOf(meta: unknown): readonly string[] {
  if (meta === undefined || meta === null) return [];
  if (!isRecord(meta)) return [`Ignored the metadata of an event: expected an object, got ${shown(meta)}`];
  const { name } = meta;
  const isUsable = name === undefined || name === null || typeof name === "string";
  return isUsable ? [] : [`Ignored the name of an event: expected a string, got ${shown(name)}`];
}

/** A Date becomes ISO text, so that its number is not read as seconds. An invalid time stays readable. */
function timeOf(given: unknown): string | number | undefined {
  if (given === undefined || given === null) return undefined;
  const plain: unknown = isRecord(given) && typeof given["valueOf"] === "function" ? valueOf(given) : given;
  if (typeof plain === "number" && plain !== given && !Number.isNaN(new Date(plain).getTime())) return new Date(plain).toISOString();
  if (typeof given === "number" && Number.isFinite(given)) return given;
  return typeof given === "string" ? given.slice(0, LONGEST_TIME) : shown(given);
}

function valueOf(given: object): unknown {
  try {
    return given.valueOf();
  } catch {
    return undefined;
  }
}

function shown(given: unknown): string {
  try {
    return String(given).slice(0, LONGEST_TIME);
  } catch {
    return typeof given;
  }
}
