import { isUtf8 } from "node:buffer";
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import { pipeline } from "node:stream/promises";
import { toPdError } from "../domain/errors.ts";
import type { BodyStream, HttpResponse } from "../domain/run/invocation.ts";
import { whyNotSent } from "../domain/text/response-headers.ts";
import type { HttpTrigger } from "../domain/run/trigger.ts";
import type { Engine } from "../engine/engine.ts";
import type { Log } from "../ports/log.ts";
import { clientAddressOf } from "./forwarding/forwarded.ts";
import type { RequestBodies } from "./request-bodies.ts";

export interface EndpointSettings {
  readonly log: Log;
  readonly bodyLimitBytes: number;
  readonly bodies: RequestBodies;
  /** The client's address is then in `X-Forwarded-For`. */
  readonly isBehindProxy: boolean;
  endpointUrl(key: string): string;
}

const NO_ENDPOINT = { error: "No active source has this endpoint", code: "PD_NOT_FOUND" };
const [RESUME, CANCEL] = ["resume", "cancel"];
const NOTHING_WAITS = { error: "No run waits for this, or it has already continued", code: "PD_NOT_FOUND" };

interface Address {
  readonly key: string;
  readonly path: string;
  readonly query: string;
}

/** `/<key>/…`, or any path under `<key>.localhost`. */
export function endpointListener(engine: Engine, settings: EndpointSettings): RequestListener {
  return (request, response) => {
    answer(engine, settings, { request, response }).catch((error: unknown) => {
      const { status, message, code, fix } = toPdError(error);
      if (code === "PD_FAILED") settings.log.error("a request to an endpoint failed", { url: request.url ?? "", reason: message });
      if (response.headersSent) return response.destroy();
      // The component's headers may be the cause.
      for (const name of response.getHeaderNames()) response.removeHeader(name);
      send(response, status, { error: message, code, details: { fix } });
    });
  };
}

async function answer(
  engine: Engine,
  settings: EndpointSettings,
  { request, response }: { request: IncomingMessage; response: ServerResponse },
): Promise<void> {
  const address = addressOf(request);
  if (request.method === "OPTIONS" && request.headers["access-control-request-method"] !== undefined) return preflight(response);
  const token = tokenOf(address);
  // Link checkers send HEAD, which must not resume a run.
  if (token !== undefined && request.method !== "GET" && request.method !== "POST")
    return send(response, 405, { error: "Use GET or POST", code: "PD_BAD_INPUT" });
  const isWanted = token === undefined ? engine.endpoints.has(address.key) : await engine.workflows.awaits(token);
  if (!isWanted) {
    if (!request.complete) response.setHeader("connection", "close");
    return send(response, 404, token === undefined ? NO_ENDPOINT : NOTHING_WAITS);
  }
  const body = await settings.bodies.read(request, settings.bodyLimitBytes);
  if (body === "gone") return void response.destroy();
  if (body === "too-many") {
    response.setHeader("connection", "close");
    return send(response, 503, { error: "Too many bodies are being received", code: "PD_TOO_BUSY" });
  }
  if (body === undefined) {
    response.setHeader("connection", "close");
    return send(response, 413, { error: `The body has more than ${settings.bodyLimitBytes} bytes`, code: "PD_BODY_TOO_LARGE" });
  }
  const trigger = triggerOf(request, address, { body, settings });
  if (token !== undefined) {
    const isDone = await (address.key === RESUME ? engine.workflows.resume(token, trigger) : engine.workflows.cancelBy(token));
    return isDone ? send(response, 200, { status: address.key === RESUME ? "resumed" : "cancelled" }) : send(response, 404, NOTHING_WAITS);
  }
  const result = await engine.endpoints.accept(address.key, trigger);
  if (result === undefined) return send(response, 404, NO_ENDPOINT);
  await write(response, result);
}

/** Returns `undefined` for an endpoint. */
function tokenOf({ key, path }: Address): string | undefined {
  return key === RESUME || key === CANCEL ? path.slice(1) : undefined;
}

function addressOf({ url: target = "/", headers }: IncomingMessage): Address {
  // Requests as to a proxy have an absolute URL (RFC 9112 §3.2.2).
  const [, host = headers.host ?? "", url = target] = /^https?:\/\/([^/?#]+)([^]*)$/i.exec(target) ?? [];
  const mark = url.indexOf("?");
  const path = mark < 0 ? url : url.slice(0, mark);
  const query = mark < 0 ? "" : url.slice(mark + 1);
  const byHost = /^([0-9a-z]{10,})\.localhost(?::\d+)?$/i.exec(host);
  if (byHost?.[1] !== undefined) return { key: byHost[1].toLowerCase(), path: path === "" ? "/" : path, query };
  const end = path.indexOf("/", 1);
  return end < 0 ? { key: path.slice(1), path: "/", query } : { key: path.slice(1, end), path: path.slice(end), query };
}

function triggerOf(request: IncomingMessage, { key, path, query }: Address, { body, settings }: { body: Buffer; settings: EndpointSettings }): HttpTrigger {
  const isText = isUtf8(body);
  const headers = headersOf(request);
  const forwarded = settings.isBehindProxy ? headers["x-forwarded-for"]?.split(",")[0]?.trim() : undefined;
  return {
    kind: "http",
    method: request.method ?? "GET",
    path,
    query,
    url: `${settings.endpointUrl(key)}${path}${query === "" ? "" : `?${query}`}`,
    headers,
    clientIp: forwarded ?? clientAddressOf(request),
    body: body.toString(isText ? "utf8" : "base64"),
    encoding: isText ? "utf8" : "base64",
  };
}

/** Node drops a header named `__proto__`, so it is read from the raw headers. */
function headersOf({ headers, rawHeaders }: IncomingMessage): Record<string, string> {
  const known = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(Array.isArray(value) ? value.join(", ") : value)]],
  );
  const dropped = rawHeaders.flatMap((name, place): [string, string][] =>
    place % 2 === 0 && name.toLowerCase() === "__proto__" ? [[name, rawHeaders[place + 1] ?? ""]] : [],
  );
  return Object.fromEntries([...known, ...dropped]);
}

function preflight(response: ServerResponse): void {
  response.writeHead(204, {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET,HEAD,PUT,PATCH,POST,DELETE",
    "access-control-allow-headers": "*",
    "access-control-max-age": "600",
  });
  response.end();
}

async function write(response: ServerResponse, { status, headers, body, encoding, rest }: HttpResponse): Promise<void> {
  for (const [name, value] of Object.entries(headers)) {
    // The component's log already has a warning.
    if (whyNotSent(name, value) === undefined) response.setHeader(name, typeof value === "string" ? value : [...value]);
  }
  response.statusCode = status;
  if (status < 200) response.setHeader("connection", "close");
  // One write for headers and body.
  if (rest !== undefined) return writeInParts(response, rest);
  if (encoding === "base64") response.end(Buffer.from(body, "base64"));
  else response.end(body);
}

/** Reads no faster than the client. A body that breaks off breaks the connection, so that it never looks whole. */
async function writeInParts(response: ServerResponse, body: BodyStream): Promise<void> {
  response.once("close", () => body.giveUp());
  if (response.destroyed) return body.giveUp();
  const parts = body[Symbol.asyncIterator]();
  const first = await parts.next().catch(() => undefined);
  if (first === undefined && !response.destroyed) return failBeforeBody(response);
  await pipeline(partsFrom(first, parts), response).catch(() => response.destroy());
}

function failBeforeBody(response: ServerResponse): void {
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  send(response, 500, { error: "The component failed before it answered", code: "PD_FAILED" });
}

async function* partsFrom(first: IteratorResult<Uint8Array> | undefined, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (let part = first; part !== undefined && part.done !== true; part = await rest.next()) yield part.value;
}

function send(response: ServerResponse, status: number, body: object): void {
  if (status === 429 || status === 503) response.setHeader("retry-after", "1");
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
