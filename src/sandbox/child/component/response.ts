import { inspect } from "node:util";
import type { HttpResponse } from "../../../domain/run/invocation.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { LIMITS } from "../../../domain/limits.ts";
import { whyNotSent } from "../../../domain/text/response-headers.ts";
import { jsonText } from "./state.ts";

/** Turns a `Response`, of the web or of a package, into a plain object. Adds the content type of a form or Blob. */
export function plainResponse(given: unknown): unknown {
  if (!isRecord(given)) return given;
  const isResponse = typeof given["arrayBuffer"] === "function" && typeof given["status"] === "number";
  const plain = isResponse ? { status: given["status"], headers: given["headers"], body: given["body"] ?? undefined } : given;
  const { body } = plain;
  if (isBlob(body) && body.type !== "") return withType(plain, { type: body.type, body });
  if (!isForm(body)) return plain;
  const made = new Response(body);
  return withType(plain, { type: made.headers.get("content-type") ?? "", body: made.body });
}

/** Checked by tag: using the classes makes Node load its HTTP client. */
function isBlob(value: unknown): value is Blob {
  return /^\[object (?:Blob|File)\]$/.test(Object.prototype.toString.call(value));
}

function isForm(value: unknown): value is FormData {
  return Object.prototype.toString.call(value) === "[object FormData]";
}

function withType(response: Record<string, unknown>, { type, body }: { readonly type: string; readonly body: unknown }): Record<string, unknown> {
  return {
    ...response,
    headers: headersIn(response).some(([name]) => name.toLowerCase() === "content-type")
      ? response["headers"]
      : [["content-type", type], ...headersIn(response)],
    body,
  };
}

/** Like `responseOf`, but also reads a stream body. Throws RangeError. */
export async function wholeResponse(given: unknown): Promise<HttpResponse> {
  const stream = streamIn(given);
  if (stream === undefined || !isRecord(given)) return responseOf(given);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of bodyParts(stream)) {
    parts.push(part);
    size += part.length;
    if (size > LIMITS.call) throw new RangeError(`http.respond: the body has more than ${LIMITS.call} bytes`);
  }
  return responseOf({ ...given, body: Buffer.concat(parts) });
}

export function headOf(response: unknown): HttpResponse {
  return responseOf({ ...(isRecord(response) ? response : {}), body: new Uint8Array() });
}

export async function* bodyParts(stream: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void> {
  for await (const part of stream) {
    const bytes = bytesOf(part) ?? (typeof part === "string" ? Buffer.from(part) : undefined);
    if (bytes === undefined) throw new TypeError(`http.respond: expected strings and bytes in the stream, got ${inspect(part, { depth: 0 })}`);
    yield bytes;
  }
}

/** A Blob counts as a stream. */
export function streamIn(response: unknown): AsyncIterable<unknown> | undefined {
  const body = isRecord(response) ? response["body"] : undefined;
  const stream: unknown = isBlob(body) ? body.stream() : body;
  return isStream(stream) ? stream : undefined;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return isRecord(value) && typeof Reflect.get(value, Symbol.asyncIterator) === "function";
}

/** The status may be text. Throws RangeError for a status outside 100 to 599. */
export function responseOf(given: unknown): HttpResponse {
  const response = isRecord(given) ? given : {};
  const body = bodyOf(response["body"]);
  if (body.text.length > LIMITS.call) throw new RangeError(`http.respond: the body has more than ${LIMITS.call} characters`);
  const headers: Record<string, string | readonly string[]> = body.type === undefined ? {} : { "content-type": body.type };
  for (const [name, value] of headersIn(response)) if (whyNotSent(name, value) === undefined) headers[name.toLowerCase()] = value;
  return { status: statusOf(response["status"]), headers, body: body.text, encoding: body.encoding };
}

const MEMBERS = ["status", "statusCode", "headers", "body", "immediate"];

type Header = readonly [name: string, value: string | readonly string[]];

/** Accepts an object, a `Map`, a list of pairs or web `Headers`. Names may repeat. */
function headersIn({ headers }: Record<string, unknown>): readonly Header[] {
  const given = pairsOf(headers).filter(([, value]) => value !== undefined && value !== null);
  const all = new Map<string, { readonly name: string; readonly values: string[]; isList: boolean }>();
  for (const [name, value] of given) {
    const known = all.get(name.toLowerCase()) ?? { name, values: [], isList: false };
    known.isList ||= Array.isArray(value) || known.values.length > 0;
    known.values.push(...(Array.isArray(value) ? value.map(String) : [String(value)]));
    all.set(name.toLowerCase(), known);
  }
  return [...all.values()].map(({ name, values, isList }) => [name, isList ? values : values.join("")]);
}

function pairsOf(headers: unknown): readonly (readonly [string, unknown])[] {
  if (typeof headers === "object" && headers !== null && isIterable(headers))
    return [...headers].flatMap((pair) => (Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), pair[1]] as const] : []));
  return isRecord(headers) ? Object.entries(headers) : [];
}

function isIterable(value: object): value is Iterable<unknown> {
  return typeof Reflect.get(value, Symbol.iterator) === "function";
}

function oddMembersOf({ status, statusCode, headers, body }: Record<string, unknown>): readonly string[] {
  const given = pairsOf(headers);
  const isNone = headers !== undefined && headers !== null && given.length === 0 && (typeof headers !== "object" || Array.isArray(headers));
  const objects = given.filter(([, value]) => typeof value === "object" && value !== null && !Array.isArray(value));
  const isEmptied = body instanceof Promise || body instanceof Map || body instanceof Set || body instanceof Error || typeof body === "function";
  return [
    ...(typeof status === "string" && Number.isInteger(Number(status))
      ? [`respond: the status ${JSON.stringify(status)} is a string, and was sent as a number`]
      : []),
    ...(statusCode !== undefined && status === undefined ? ["respond ignored statusCode and sent 200: use status"] : []),
    ...(isNone ? [`respond did not send the headers: expected an object, got ${inspect(headers, { depth: 0 })}`] : []),
    ...objects.map(([name]) => `respond sent the header ${JSON.stringify(name)} as [object Object]: expected a string`),
    ...(body instanceof Promise
      ? ["respond: the body is a Promise: await it"]
      : isEmptied
        ? [`respond: the body is ${inspect(body, { depth: 0 })}, which is empty as JSON`]
        : []),
  ];
}

/** Returns lines for the author. `content-length` is skipped, because the server sends its own. */
export function unsentOf(response: unknown): readonly string[] {
  if (response === undefined || response === null) return [];
  if (!isRecord(response) || (Object.keys(response).length > 0 && !MEMBERS.some((name) => name in response)))
    return [
      `respond sent an empty response: expected { status, headers, body }, got ${inspect(response, { depth: 0, maxStringLength: 100, customInspect: false })}`,
    ];
  const ofHeaders = headersIn(response).flatMap(([name, value]) => {
    const reason = name.toLowerCase() === "content-length" ? undefined : whyNotSent(name, value);
    return reason === undefined ? [] : [`respond did not send the header ${JSON.stringify(name)}: ${reason}`];
  });
  return [...oddMembersOf(response), ...ofHeaders];
}

function statusOf(given: unknown): number {
  if (given === undefined || given === null) return 200;
  const status = Number(given);
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw new RangeError(`http.respond: expected a status from 100 to 599, got ${typeof given === "string" ? JSON.stringify(given) : inspect(given)}`);
  }
  return status;
}

interface Body {
  readonly text: string;
  readonly encoding: "utf8" | "base64";
  readonly type?: string;
}

function bodyOf(body: unknown): Body {
  if (body === undefined || body === null) return { text: "", encoding: "utf8" };
  if (typeof body === "string") return { text: body, encoding: "utf8", type: "text/html; charset=utf-8" };
  if (body instanceof URLSearchParams) return { text: body.toString(), encoding: "utf8", type: "application/x-www-form-urlencoded; charset=utf-8" };
  const bytes = bytesOf(body);
  if (bytes !== undefined) return { text: Buffer.from(bytes).toString("base64"), encoding: "base64", type: "application/octet-stream" };
  return { text: jsonText(body, "http.respond: body") ?? "", encoding: "utf8", type: "application/json; charset=utf-8" };
}

function bytesOf(body: unknown): Uint8Array | undefined {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  return ArrayBuffer.isView(body) ? new Uint8Array(body.buffer, body.byteOffset, body.byteLength) : undefined;
}
