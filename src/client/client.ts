import type * as z from "zod";
import type { Api } from "../api/api.ts";
import { type CallAddress, CALLS, type PartsOf } from "../api/calls.ts";
import type { Call } from "../api/declare.ts";
import type { EventRecord } from "../api/events.ts";
import type { ObservationRecord } from "../api/invocations.ts";
import type { DebugNewsRecord } from "../api/sources.ts";
import type { BadProps } from "../api/props.ts";
import { PdError } from "../domain/errors.ts";
import { isJsonObject, isJsonValue, isRecord, type JsonObject, type JsonValue } from "../domain/text/json.ts";
import { CHECK_ADDRESS, Connection, type Request, type ServerAddress } from "./connection.ts";
import { type FollowSettings, Following } from "./following.ts";

type AnyCall = Call<CallAddress, z.ZodObject, z.ZodType | undefined>;
/** Pages keep their envelope. */
type Unwrapped<Body> = Body extends { readonly page_info: unknown } ? Body : Body extends { readonly data: infer Data } ? Data : Body;
type Answered<Called extends AnyCall> = Called["answer"] extends z.ZodType ? Unwrapped<z.output<Called["answer"]>> : undefined;
type Given<Called extends AnyCall> = z.input<Called["params"]>;
type Asking<Called extends AnyCall> =
  Record<never, never> extends Given<Called>
    ? (...given: [...PartsOf<Called["address"]>, params?: Given<Called>]) => Promise<Answered<Called>>
    : (...given: [...PartsOf<Called["address"]>, params: Given<Called>]) => Promise<Answered<Called>>;

/** The parts of the path, then the parameters. */
type Calls = { readonly [Group in keyof Api]: { readonly [Name in keyof Api[Group]]: Api[Group][Name] extends AnyCall ? Asking<Api[Group][Name]> : never } };

interface Streams {
  readonly follow: {
    events(source: string, settings?: FollowSettings): Following<EventRecord>;
    logs(source: string, settings?: FollowSettings): Following<ObservationRecord>;
    /** Opens a debugger port on the server's machine while this is read; 0 means any free port. `root`: URL of the folder of the source's files. */
    debugger(source: string, where: { readonly port: number; readonly root: string }, settings?: FollowSettings): Following<DebugNewsRecord>;
    /** For actions that run with this id as `debug`. */
    actionDebugger(id: string, where: { readonly port: number; readonly root: string }, settings?: FollowSettings): Following<DebugNewsRecord>;
  };
  readonly connection: Connection;
}

export type Client = Calls & Streams;

/** Calls reject with the server's error as a PdError, or with PD_SERVER_UNREACHABLE. */
export function createClient(server: ServerAddress | Connection): Client {
  const connection = server instanceof Connection ? server : new Connection(server);
  const debuggerAt = (path: string, { port, root }: { port: number; root: string }, settings: FollowSettings): Following<DebugNewsRecord> =>
    new Following(connection, `${path}?${new URLSearchParams({ port: String(port), root }).toString()}`, {
      settings,
      read: (data) => known<DebugNewsRecord>(data),
    });
  const follow: Streams["follow"] = {
    events: (source, settings = {}) =>
      new Following(connection, streamOf(source, "emits"), { settings, read: (data) => checkedRecord<EventRecord>("event", data) }),
    logs: (source, settings = {}) =>
      new Following(connection, streamOf(source, "observations"), { settings, read: (data) => checkedRecord<ObservationRecord>("observation", data) }),
    debugger: (source, where, settings = {}) => debuggerAt(streamOf(source, "inspector"), where, settings),
    actionDebugger: (id, where, settings = {}) => debuggerAt(`/sse/actions/${encodeURIComponent(id)}/inspector`, where, settings),
  };
  const groups = Object.entries(CALLS).map(([group, calls]): [string, object] => [
    group,
    Object.fromEntries(Object.entries(calls).map(([name, address]) => [name, (...given: readonly unknown[]) => ask(connection, address, given)])),
  ]);
  return { ...known<Calls>(Object.fromEntries(groups)), follow, connection };
}

/** All records of a paged list. Starts over when the record that a page follows was deleted. */
export async function everyPage<Item>(list: ListPage<Item>): Promise<readonly Item[]> {
  for (let triesLeft = TRIES; ; triesLeft--) {
    const records = await fromTheFirst(list, triesLeft > 1);
    if (records !== undefined) return records;
  }
}

async function fromTheFirst<Item>(list: ListPage<Item>, mayFail: boolean): Promise<readonly Item[] | undefined> {
  const records: Item[] = [];
  const seen = new Set<string | undefined>();
  for (let after: string | undefined; ;) {
    // A repeated cursor would loop forever.
    if (seen.has(after)) throw new PdError("PD_FAILED", "Cannot list all records: the server's pages do not end");
    seen.add(after);
    try {
      const page = await list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      const { data, page_info: info } = isPage(page) ? page : noList();
      // Some servers ignore `after`.
      if (after !== undefined && info.end_cursor === after && records.length >= info.total_count) return records;
      records.push(...data);
      // After a full page there may be more: deleted earlier records lower the total.
      const isLast = records.length >= info.total_count && (data.length < PAGE || info.end_cursor === undefined);
      if (data.length === 0 || isLast) return records;
      after = info.end_cursor;
    } catch (error) {
      if (mayFail && after !== undefined && error instanceof PdError && error.code === "PD_BAD_INPUT") return undefined;
      throw error;
    }
  }
}

function isPage(page: unknown): boolean {
  return isJsonObject(page) && Array.isArray(page["data"]) && isJsonObject(page["page_info"]);
}

function noList(): never {
  throw new PdError("PD_SERVER_UNREACHABLE", "Cannot list all records: the answer is not a list, so this is not a Headwater server", { fix: CHECK_ADDRESS });
}

const TRIES = 5;
const PAGE = 100;

type ListPage<Item> = (page: { limit: number; after?: string }) => Promise<Paged<Item>>;

interface Paged<Item> {
  readonly data: readonly Item[];
  readonly page_info: { readonly total_count: number; readonly end_cursor?: string | undefined };
}

function streamOf(source: string, kind: string): string {
  return `/sse/dc/${encodeURIComponent(source)}/${kind}`;
}

async function ask(connection: Connection, address: CallAddress, given: readonly unknown[]): Promise<unknown> {
  const answer = unwrapped(await connection.request(requestOf(address, given)));
  checkIds(address, answer);
  return answer;
}

function requestOf(address: CallAddress, given: readonly unknown[]): Request {
  const [method, template] = partsOf(address);
  let used = 0;
  const path = template.replaceAll(/\{(\w+)\}/g, () => {
    const part = given[used++];
    // URLs resolve "." and ".." even when encoded, and would call another path.
    if (part === "." || part === "..")
      throw new PdError("PD_BAD_INPUT", `Cannot call ${address} for ${JSON.stringify(part)}: a URL cannot contain this name`, { fix: "Use another name" });
    if (typeof part === "string" && part !== "") return encodeURIComponent(part);
    const isSource = template.startsWith("/v1/sources/") && used === 1;
    throw new PdError(isSource ? "PD_SOURCE_NOT_FOUND" : "PD_NOT_FOUND", `Cannot call ${address}: expected an id or a name, got ${JSON.stringify(part)}`);
  });
  const params = paramsOf(given[used]);
  if (method === "POST" || method === "PUT") return { method, path, body: params };
  const query = new URLSearchParams(
    Object.entries(params).map(([name, value]): [string, string] => [name, typeof value === "string" ? value : JSON.stringify(value)]),
  );
  return { method, path: query.size === 0 ? path : `${path}?${query.toString()}` };
}

function partsOf(address: CallAddress): [Request["method"], string] {
  const mark = address.indexOf(" ");
  return [known<Request["method"]>(address.slice(0, mark)), address.slice(mark + 1)];
}

function paramsOf(given: unknown): JsonObject {
  const members = typeof given === "object" && given !== null ? Object.entries(given).filter(([, value]) => value !== undefined) : [];
  return Object.fromEntries(
    members.map(([name, value]: [string, unknown]): [string, JsonValue] => {
      if (isJsonValue(value)) return [name, value];
      throw new PdError("PD_BAD_INPUT", `Cannot send ${name}: not a JSON value`, { fix: "Use strings, numbers, booleans, null, arrays and plain objects" });
    }),
  );
}

function unwrapped(body: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(body) && !("page_info" in body) && "data" in body ? body["data"] : body;
}

/** Undefined for other errors. */
export function badPropsOf(error: unknown): BadProps | undefined {
  if (!(error instanceof PdError) || error.code !== "PD_BAD_PROPS") return undefined;
  const { problems, props } = error.details ?? {};
  return Array.isArray(problems) && Array.isArray(props) ? known<BadProps>({ problems, props }) : undefined;
}

function checkedRecord<Value>(kind: "event" | "observation", data: JsonObject): Value {
  checkIds(kind, data);
  return known<Value>(data);
}

/** The server is trusted to follow the API's types. */
function known<Value>(value: unknown): Value {
  return value as Value;
}

/** With ids of the hosted platform (`dc_…`, `1606511826306-1`), slugs, and `dc_*` in subscriptions. */
const SAFE_ID = /^(?:[0-9A-Za-z][\w-]{0,499}|(?:dc|p)_\*)?$/;
const ID_MEMBER = /^(?:id|[a-z_]+_id|slug|name_slug)$/;
/** Not checked: users choose the members of state, data stores and action results, and names given to DELETE. */
const OF_USERS = /^(?:DELETE |(?:GET|PUT|POST) \/v1\/(?:sources\/\{id\}\/(?:state|events)|data_stores|actions|components\/(?:configure|props)))/;

/** Security: callers use ids in paths, URLs and commands. Throws PD_SERVER_UNREACHABLE. */
function checkIds(address: CallAddress | "event" | "observation", answer: unknown): void {
  if (OF_USERS.test(address)) return;
  const data = isRecord(answer) && "page_info" in answer ? answer["data"] : answer;
  for (const record of Array.isArray(data) ? data : [data]) if (isRecord(record)) checkRecord(address, record);
}

function checkRecord(address: string, record: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(record)) {
    if (!ID_MEMBER.test(name) || typeof value !== "string" || SAFE_ID.test(value)) continue;
    throw new PdError("PD_SERVER_UNREACHABLE", `Cannot use the answer to ${address}: its ${name} ${JSON.stringify(value.slice(0, 100))} is not an id`, {
      fix: CHECK_ADDRESS,
    });
  }
}
