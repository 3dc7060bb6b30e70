import { inspect } from "node:util";
import type { HttpResponse } from "../../domain/invocation.ts";
import { isRecord } from "../../domain/json.ts";
import { LIMITS } from "../../domain/limits.ts";
import { whyNotSent } from "../../domain/response-headers.ts";
import { jsonText } from "./state.ts";

/** A `Response` of the web as `{ status, headers, body }`; anything else as it is. */
export function plainResponse(given: unknown): unknown {
  return given instanceof Response ? { status: given.status, headers: given.headers, body: given.body ?? undefined } : given;
}

/** As `responseOf`, also where the body comes as a stream (platform.md, `$.respond`), which is read: an answer is one message. */
export async function wholeResponse(given: unknown): Promise<HttpResponse> {
  const stream = streamIn(given);
  if (stream === undefined || !isRecord(given)) return responseOf(given);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of stream) {
    const bytes = part instanceof Uint8Array ? part : Buffer.from(String(part));
    parts.push(bytes);
    size += bytes.length;
    if (size > LIMITS.call) throw new RangeError(`http.respond: the body has more than ${LIMITS.call} bytes`);
  }
  return responseOf({ ...given, body: Buffer.concat(parts) });
}

/** The stream that a response has as its body, if it is one. */
export function streamIn(response: unknown): AsyncIterable<unknown> | undefined {
  const body = isRecord(response) ? response["body"] : undefined;
  const stream: unknown = body instanceof Blob ? body.stream() : body;
  return isStream(stream) ? stream : undefined;
}

function isStream(value: unknown): value is AsyncIterable<unknown> {
  return isRecord(value) && typeof Reflect.get(value, Symbol.asyncIterator) === "function";
}

/**
 * What `respond(response)` asks for (components.md, HTTP interface; leniency as platform.md §4.6: a status as text,
 * no body, `statusCode` by mistake). Throws RangeError for a status outside 100 to 599.
 */
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

/** Headers as an object, a `Map`, a list of pairs or `Headers` of the web, where a name may come several times. */
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
  if (headers instanceof Headers || headers instanceof Map) return [...headers].map(([name, value]: [unknown, unknown]) => [String(name), value]);
  if (Array.isArray(headers))
    return headers.flatMap((pair: unknown) => (Array.isArray(pair) && pair.length === 2 ? [[String(pair[0]), pair[1]] as const] : []));
  return isRecord(headers) ? Object.entries(headers) : [];
}

/** For its author: what of a response is not sent, and why. A length is: its own. */
export function unsentOf(response: unknown): readonly string[] {
  if (response === undefined || response === null) return [];
  if (!isRecord(response) || (Object.keys(response).length > 0 && !MEMBERS.some((name) => name in response)))
    return [
      `respond sent an empty answer: it wants { status, headers, body }, not ${inspect(response, { depth: 0, maxStringLength: 100, customInspect: false })}`,
    ];
  const { status } = response;
  const isTextStatus = typeof status === "string" && Number.isInteger(Number(status));
  const ofStatus = isTextStatus ? [`respond: the status ${JSON.stringify(status)} is a text, and was sent as the number`] : [];
  const ofHeaders = headersIn(response).flatMap(([name, value]) => {
    const reason = name.toLowerCase() === "content-length" ? undefined : whyNotSent(name, value);
    return reason === undefined ? [] : [`respond did not send the header ${JSON.stringify(name)}: ${reason}`];
  });
  return [...ofStatus, ...ofHeaders];
}

function statusOf(given: unknown): number {
  if (given === undefined || given === null) return 200;
  const status = Number(given);
  if (!Number.isInteger(status) || status < 100 || status > 599) {
    throw new RangeError(`http.respond: status must be a whole number from 100 to 599, not ${JSON.stringify(given)}`);
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
