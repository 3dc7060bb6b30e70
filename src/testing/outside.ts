import { readFile } from "node:fs/promises";
import type { OutsideAnswer, OutsideRequest } from "../domain/run/exchange.ts";
import { isJsonObject, parseJson } from "../domain/text/json.ts";
import { PdError, codeOf } from "../domain/errors.ts";
import { writeWhole } from "../system/home/whole-files.ts";

/** An object or string is sent with status 200. With `undefined`, the next handler is asked. */
export type HandlerAnswer = Response | object | string | undefined;
export type Handler = (request: Request) => HandlerAnswer | Promise<HandlerAnswer>;

/**
 * Answers for third parties: a function, or a table from `"GET https://host/path"` to an answer or a function. `*` matches any text, and a pattern without a
 * query matches every query. `real` asks the third parties.
 */
export type Outside = Handler | Readonly<Record<string, HandlerAnswer | Handler>> | "real";

export interface OutsideCall {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed when it is JSON, otherwise text. */
  readonly body: unknown;
  /** Omitted when no handler answered. */
  readonly status?: number;
}

export class Answerer {
  readonly calls: OutsideCall[] = [];
  readonly #handler: Handler;

  constructor(outside: Exclude<Outside, "real">) {
    this.#handler = typeof outside === "function" ? outside : tableHandler(outside);
  }

  async answer({ method, url, headers, body }: OutsideRequest): Promise<OutsideAnswer> {
    const text = Buffer.from(body, "base64");
    const asked = { method, url, headers: Object.fromEntries(headers), body: readBody(text.toString()) };
    const request = new Request(url, {
      method,
      headers: headers.map(([name, value]): [string, string] => [name, value]),
      ...(text.length === 0 ? {} : { body: text }),
    });
    const found = await this.#handler(request);
    if (found === undefined) {
      this.calls.push(asked);
      throw new Error(`no handler of this test answers ${method} ${url}`);
    }
    const response = responseOf(found);
    this.calls.push({ ...asked, status: response.status });
    const bytes = Buffer.from(await response.arrayBuffer());
    return { status: response.status, statusText: response.statusText, headers: [...response.headers], body: bytes.toString("base64") };
  }
}

/** Answers from a recorded file. Without the file, requests are sent and recorded there. Check the file for secrets before you commit it. */
export function recording(path: string): Handler {
  const played = readRecording(path);
  // The first request reports the error.
  played.catch(() => {});
  const used = new Set<Recorded>();
  return async (request) => {
    const known = await played;
    const body = await request.clone().text();
    if (known === undefined) return record(path, request, body);
    const same = known.filter((one) => one.method === request.method && one.url === request.url && one.body === body);
    const found = same.find((one) => !used.has(one)) ?? same.at(-1);
    if (found === undefined) return undefined;
    used.add(found);
    return new Response(bodyFor(found.status, Buffer.from(found.answer, "base64")), { status: found.status, headers: found.headers });
  };
}

interface Recorded {
  readonly method: string;
  readonly url: string;
  readonly body: string;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly answer: string;
}

const taken = new Map<string, Recorded[]>();
/** Requests overlap, so writes wait for each other. */
const writing = new Map<string, Promise<void>>();

/** These statuses allow no body. */
function bodyFor(status: number, bytes: Buffer<ArrayBuffer>): Buffer<ArrayBuffer> | null {
  return status === 204 || status === 205 || status === 304 ? null : bytes;
}

/** The recorded body is already decoded. */
const OF_TRANSPORT = new Set(["content-encoding", "content-length", "transfer-encoding", "connection", "set-cookie"]);

async function record(path: string, request: Request, body: string): Promise<Response> {
  const response = await fetch(request);
  const answer = Buffer.from(await response.arrayBuffer());
  const headers = Object.fromEntries([...response.headers].filter(([name]) => !OF_TRANSPORT.has(name)));
  const all = [
    ...(taken.get(path) ?? []),
    { method: request.method, url: request.url, body, status: response.status, headers, answer: answer.toString("base64") },
  ];
  taken.set(path, all);
  const before = writing.get(path) ?? Promise.resolve();
  const mine = before.then(() => writeWhole(path, `${JSON.stringify(all, null, 2)}\n`));
  writing.set(path, mine);
  await mine;
  return new Response(bodyFor(response.status, answer), { status: response.status, headers });
}

async function readRecording(path: string): Promise<readonly Recorded[] | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const value = parseJson(text);
  if (!Array.isArray(value)) throw new PdError("PD_BAD_INPUT", `Cannot play ${path}: not a recording`, { fix: "Delete the file to record the requests again" });
  return value.filter(isJsonObject).map(({ method, url, body, status, headers, answer }) => ({
    method: String(method),
    url: String(url),
    body: String(body ?? ""),
    status: Number(status),
    headers: Object.fromEntries(Object.entries(isJsonObject(headers) ? headers : {}).map(([name, one]) => [name, String(one)])),
    answer: String(answer ?? ""),
  }));
}

function tableHandler(table: Readonly<Record<string, HandlerAnswer | Handler>>): Handler {
  const rows = Object.entries(table).map(([pattern, answer]) => ({ matches: matcherOf(pattern), answer }));
  return async (request) => {
    for (const { matches, answer } of rows) {
      if (!matches(request)) continue;
      const found = typeof answer === "function" ? await asHandler(answer)(request.clone()) : answer instanceof Response ? answer.clone() : answer;
      if (found !== undefined) return found;
    }
    return undefined;
  };
}

function asHandler(answer: object): Handler {
  return (request) => (typeof answer === "function" ? answer(request) : undefined);
}

function matcherOf(pattern: string): (request: Request) => boolean {
  const [first = "", ...rest] = pattern.trim().split(/\s+/);
  const [method, address] = rest.length === 0 ? ["*", first] : [first.toUpperCase(), rest.join(" ")];
  const shape = new RegExp(
    `^${address
      .split("*")
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join(".*")}$`,
  );
  return (request) => {
    const asked = address.includes("?") ? request.url : (request.url.split("?")[0] ?? "");
    return (method === "*" || method === request.method) && (shape.test(asked) || shape.test(`${asked}/`) || shape.test(asked.replace(/\/$/, "")));
  };
}

function responseOf(found: Exclude<HandlerAnswer, undefined>): Response {
  if (found instanceof Response) return found;
  return typeof found === "string" ? new Response(found) : Response.json(found);
}

function readBody(text: string): unknown {
  return text === "" ? undefined : (parseJson(text) ?? text);
}
