/** Component code can write anything into the channel. */
import type { DataStoreRequest } from "../../domain/source/data-store.ts";
import type { OutsideRequest } from "../../domain/run/exchange.ts";
import type { Emit } from "../../domain/event/event.ts";
import type { InvocationId } from "../../domain/ids.ts";
import type { BadResponse, HttpResponse, LogLevel, Outcome, StateChanges, TouchedKeys } from "../../domain/run/invocation.ts";
import { isJsonValue, isRecord } from "../../domain/text/json.ts";
import { LIMITS, isPlainJsonText, isTooComplex } from "../../domain/limits.ts";
import { RUN_FILES, type RunFileRequest } from "../../domain/run/run-files.ts";
import { BODY_PART, type BodyPart, type CallPart, type HostQuestion, type RawLogLine, type ToHost } from "./protocol.ts";

type Reader = (message: Record<string, unknown>) => ToHost;

const MOST_CAUSES = 6;

/** Throws for an invalid message. */
export function readToHost(text: string): ToHost {
  if (isTooComplex(text)) throw new TypeError("a message has too many members");
  const message: unknown = JSON.parse(text);
  if (!isRecord(message)) throw new TypeError("a message is not an object");
  const read = typeof message["type"] === "string" && Object.hasOwn(READERS, message["type"]) ? READERS[message["type"]] : undefined;
  if (read === undefined) throw new TypeError(`a message has the unknown type ${JSON.stringify(message["type"])?.slice(0, 100)}`);
  return read(message);
}

const READERS: Readonly<Record<string, Reader>> = {
  "child:ready": ({ protocol }) => ({ type: "child:ready", protocol: number(protocol, "protocol") }),
  "child:pong": ({ memoryBytes }) => ({ type: "child:pong", memoryBytes: Math.max(0, number(memoryBytes, "memoryBytes")) }),
  "child:preloaded": () => ({ type: "child:preloaded" }),
  "child:loaded": ({ definition }) => {
    if ((JSON.stringify(definition)?.length ?? 0) > LIMITS.definition) return bad(`definition: it has more than ${LIMITS.definition} characters`);
    return { type: "child:loaded", definition };
  },
  "child:load-failed": ({ outcome }) => ({ type: "child:load-failed", outcome: outcomeOf(outcome) }),
  "child:exiting": ({ id }) => ({ type: "child:exiting", id: idOf(id) }),
  "child:ask": ({ id, number: count, request }) => ({ type: "child:ask", id: idOf(id), number: number(count, "number"), request: requestOf(request) }),
  "child:log": ({ id, line }) => ({ type: "child:log", id: id === null ? null : idOf(id), line: lineOf(line) }),
  "child:respond": ({ id, response, isUnsettled, isStreamed }) => ({
    type: "child:respond",
    id: idOf(id),
    response: responseOf(response),
    isUnsettled: isUnsettled === true,
    isStreamed: isStreamed === true ? true : undefined,
  }),
  "child:emitted": ({ id, emits }) => ({ type: "child:emitted", id: idOf(id), emits: emitsOf(emits) }),
  "child:done": ({ id, outcome, part, returned, report }) => ({
    type: "child:done",
    id: idOf(id),
    outcome: outcomeOf(outcome),
    part: partOf(part),
    returned: returned === undefined ? undefined : json(returned, "returned"),
    report: report === undefined ? undefined : json(report, "report", LIMITS.call),
  }),
  "child:late": ({ id, part, outcome }) => ({
    type: "child:late",
    id: idOf(id),
    part: partOf(part),
    ...(outcome === undefined ? {} : { outcome: outcomeOf(outcome) }),
  }),
};

function bad(what: string): never {
  throw new TypeError(`a message has no valid ${what}`);
}

/** UTF-8 cannot represent lone surrogates, so the stored text would differ from what readers see now. */
function text(value: unknown, what: string, most: number = LIMITS.value): string {
  return typeof value === "string" && value.length <= most ? value.toWellFormed() : bad(what);
}

function number(value: unknown, what: string): number {
  return typeof value === "number" && Number.isFinite(value) ? value : bad(what);
}

function json(value: unknown, what: string, most?: number): string {
  return isPlainJsonText(value, most) ? value : bad(what);
}

function record(value: unknown, what: string): Record<string, unknown> {
  return isRecord(value) ? value : bad(what);
}

function isInvocationId(value: unknown): value is InvocationId {
  return typeof value === "string" && /^inv_[\dA-Za-z]{1,40}$/.test(value);
}

function idOf(value: unknown): InvocationId {
  return isInvocationId(value) ? value : bad("id");
}

function outcomeOf(value: unknown): Outcome {
  const { kind, reason, error } = record(value, "outcome");
  switch (kind) {
    case "returned":
      return { kind };
    case "interrupted":
      return { kind, reason: text(reason, "reason", LIMITS.name) };
    case "threw": {
      const { name, message, stack, causes } = record(error, "error");
      const read = { name: text(name, "name"), message: text(message, "message"), stack: text(stack, "stack") };
      return { kind, error: causes === undefined ? read : { ...read, causes: causesOf(causes) } };
    }
    default:
      return bad("outcome");
  }
}

function causesOf(value: unknown): readonly string[] {
  return Array.isArray(value) && value.length <= MOST_CAUSES ? value.map((cause) => text(cause, "cause", LIMITS.name)) : bad("causes");
}

function partOf(value: unknown): CallPart {
  const { emits, stateChanges, touched } = record(value, "part");
  return { emits: emitsOf(emits), stateChanges: changesOf(stateChanges), touched: touchedOf(touched) };
}

function emitsOf(value: unknown): readonly Emit[] {
  return Array.isArray(value) && value.length <= LIMITS.emits ? value.map(emitOf) : bad("emits");
}

function emitOf(value: unknown): Emit {
  const { payload: event, id: given, unusableId, name, summary, ts, deliveryTs } = record(value, "emit");
  const payload = json(event, "payload");
  const id = given === undefined ? undefined : textOrNumber(given, "id of an emit");
  // Halves the memory of a run that holds 100,000 emits.
  const isPlain = unusableId === undefined && name === undefined && summary === undefined && ts === undefined && deliveryTs === undefined;
  if (isPlain) return { payload, id };
  return {
    payload,
    id,
    unusableId: unusableId === undefined ? undefined : text(unusableId, "id of an emit", LIMITS.name),
    name: name === undefined ? undefined : text(name, "name of an emit", LIMITS.name),
    summary: summary === undefined ? undefined : text(summary, "summary", 2 * LIMITS.summary),
    ts: ts === undefined ? undefined : textOrNumber(ts, "ts"),
    deliveryTs: deliveryTs === undefined ? undefined : textOrNumber(deliveryTs, "delivery_ts"),
  };
}

function textOrNumber(value: unknown, what: string): string | number {
  return typeof value === "string" ? text(value, what, LIMITS.name) : number(value, what);
}

function changesOf(value: unknown): StateChanges {
  const changes = Object.entries(record(value, "changes of the state"));
  return Object.fromEntries(changes.map(([key, entry]) => [text(key, "key", LIMITS.name), entry === null ? null : json(entry, "value of the state")]));
}

function touchedOf(value: unknown): TouchedKeys {
  return Object.fromEntries(Object.entries(record(value, "touched keys")).map(([key, epoch]) => [text(key, "key", LIMITS.name), epochOf(epoch)]));
}

function epochOf(value: unknown): number {
  const epoch = number(value, "epoch");
  return Number.isInteger(epoch) && epoch >= 0 ? epoch : bad("epoch");
}

const LEVELS: Readonly<Record<LogLevel, true>> = {
  debug: true,
  info: true,
  log: true,
  warn: true,
  error: true,
  trace: true,
  stdout: true,
  stderr: true,
  system: true,
};

function isLevel(value: unknown): value is LogLevel {
  return typeof value === "string" && Object.hasOwn(LEVELS, value);
}

/** The last time that a Date can represent. */
const LAST_INSTANT_MS = 8.64e15;

function lineOf(value: unknown): RawLogLine {
  const { at, level, text: given, rawFrom } = record(value, "line");
  if (!isLevel(level)) return bad("level");
  return {
    at: Math.min(Math.max(number(at, "time of a line"), 0), LAST_INSTANT_MS),
    level,
    text: text(given, "text of a line", 2 * LIMITS.line),
    ...(rawFrom === undefined ? {} : { rawFrom: text(rawFrom, "place of a line", LIMITS.name) }),
  };
}

function responseOf(value: unknown): HttpResponse | BadResponse {
  const { problem, status, headers, body, encoding } = record(value, "response");
  if (problem !== undefined) return { problem: text(problem, "problem", LIMITS.name) };
  const code = number(status, "status");
  if (!Number.isInteger(code) || code < 100 || code > 599) return bad("status");
  if (encoding !== "utf8" && encoding !== "base64") return bad("encoding");
  return { status: code, headers: headersOf(headers), body: text(body, "body", LIMITS.call), encoding };
}

function headersOf(value: unknown): HttpResponse["headers"] {
  const entries = Object.entries(record(value, "headers"));
  return Object.fromEntries(
    entries.map(([name, given]): [string, string | readonly string[]] => [
      text(name, "header", LIMITS.name),
      Array.isArray(given) ? given.map((one) => text(one, "header", LIMITS.value)) : text(given, "header", LIMITS.value),
    ]),
  );
}

function requestOf(value: unknown): HostQuestion {
  const asked = record(value, "request");
  if (asked["operation"] === "fetch") return outsideOf(asked);
  return asked["operation"] === "send-body" ? bodyPartOf(asked) : (runFileOf(asked) ?? dataStoreOf(asked));
}

function bodyPartOf({ base64, isLast, problem }: Record<string, unknown>): BodyPart {
  const said = problem === undefined ? {} : { problem: text(problem, "problem of a body", LIMITS.name) };
  return { operation: "send-body", base64: text(base64, "part of a body", BODY_PART * 2), isLast: isLast === true, ...said };
}

function runFileOf({ operation, path: given, at, base64, isLast, isExecutable }: Record<string, unknown>): RunFileRequest | undefined {
  const path = (): string => text(given, "path", LIMITS.name);
  const place = (): number => (Number.isSafeInteger(at) && Number(at) >= 0 ? Number(at) : bad("place in a file"));
  switch (operation) {
    case "list-files":
      return { operation };
    case "read-file":
      return { operation, path: path(), at: place() };
    case "write-file":
      return {
        operation,
        path: path(),
        at: place(),
        base64: text(base64, "part of a file", RUN_FILES.part * 2),
        isLast: isLast === true,
        isExecutable: isExecutable === true,
      };
    case "make-folder":
    case "remove-file":
      return { operation, path: path() };
    default:
      return undefined;
  }
}

function outsideOf({ method, url, headers, body }: Record<string, unknown>): OutsideRequest {
  if (!Array.isArray(headers)) return bad("headers");
  const pairs = headers.map((pair: unknown): [string, string] =>
    Array.isArray(pair) ? [text(pair[0], "header", LIMITS.name), text(pair[1], "header", LIMITS.value)] : bad("header"),
  );
  return {
    operation: "fetch",
    method: text(method, "method", LIMITS.name),
    url: text(url, "url", LIMITS.value),
    headers: pairs,
    body: text(body, "body", LIMITS.call),
  };
}

function dataStoreOf({ operation, store, key, value: given, ttl }: Record<string, unknown>): DataStoreRequest {
  const name = text(store, "store", LIMITS.name);
  switch (operation) {
    case "get":
    case "has":
    case "delete":
      return { operation, store: name, key: text(key, "key", LIMITS.name) };
    case "set":
      return { operation, store: name, key: text(key, "key", LIMITS.name), value: isJsonValue(given) ? given : bad("value"), ...ttlOf(ttl) };
    case "set-ttl":
      return { operation, store: name, key: text(key, "key", LIMITS.name), ...ttlOf(ttl) };
    case "keys":
    case "entries":
    case "clear":
      return { operation, store: name };
    default:
      return bad("operation");
  }
}

function ttlOf(ttl: unknown): { readonly ttl?: number } {
  if (ttl === undefined) return {};
  return typeof ttl === "number" && Number.isFinite(ttl) && ttl > 0 ? { ttl } : bad("ttl");
}
