import type * as z from "zod";
import type { Api } from "../api/api.ts";
import { CALLS, type CallAddress, type PartsOf } from "../api/calls.ts";
import type { Call } from "../api/declare.ts";
import type { EventRecord } from "../api/events.ts";
import type { ObservationRecord } from "../api/invocations.ts";
import type { DebugNewsRecord } from "../api/sources.ts";
import type { BadProps } from "../api/props.ts";
import { PdError } from "../domain/errors.ts";
import { type JsonObject, type JsonValue, isJsonObject, isJsonValue } from "../domain/json.ts";
import { checkIds } from "./checked-ids.ts";
import { CHECK_ADDRESS, Connection, type Request, type ServerAddress } from "./connection.ts";
import { type FollowSettings, Following } from "./following.ts";

type AnyCall = Call<CallAddress, z.ZodObject, z.ZodType | undefined>;
/** What a call answers, without its envelope; a page keeps the facts about it. */
type Unwrapped<Body> = Body extends { readonly page_info: unknown } ? Body : Body extends { readonly data: infer Data } ? Data : Body;
type Answered<Called extends AnyCall> = Called["answer"] extends z.ZodType ? Unwrapped<z.output<Called["answer"]>> : undefined;
type Given<Called extends AnyCall> = z.input<Called["params"]>;
type Asking<Called extends AnyCall> =
  Record<never, never> extends Given<Called>
    ? (...given: [...PartsOf<Called["address"]>, params?: Given<Called>]) => Promise<Answered<Called>>
    : (...given: [...PartsOf<Called["address"]>, params: Given<Called>]) => Promise<Answered<Called>>;

/** Every call of the API, by its name: the parts of its path, then its parameters. */
type Calls = { readonly [Group in keyof Api]: { readonly [Name in keyof Api[Group]]: Api[Group][Name] extends AnyCall ? Asking<Api[Group][Name]> : never } };

/** What comes from a source, as it comes. */
interface Streams {
  readonly follow: {
    /** Events; they begin after the id that is given. */
    events(source: string, settings?: FollowSettings): Following<EventRecord>;
    /** What it does: runs, lines that it logs, failures. */
    logs(source: string, settings?: FollowSettings): Following<ObservationRecord>;
    /** Lets debuggers come to it on this port of the server's machine, 0 for any, as long as this is read. `root`: URL of the folder of its files. */
    debugger(source: string, where: { readonly port: number; readonly root: string }, settings?: FollowSettings): Following<DebugNewsRecord>;
    /** The same for actions that are run with this id as `debug`. */
    actionDebugger(id: string, where: { readonly port: number; readonly root: string }, settings?: FollowSettings): Following<DebugNewsRecord>;
  };
  readonly connection: Connection;
}

export type Client = Calls & Streams;

/** A client of one server. Each call throws the server's error as a PdError, and PD_SERVER_UNREACHABLE. */
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

/** The records of any list that is paged: all of them are asked for, as many at a time as is documented (platform.md §1.1). */
export async function everyPage<Item>(list: ListPage<Item>): Promise<readonly Item[]> {
  for (let triesLeft = TRIES; ; triesLeft--) {
    const records = await fromTheFirst(list, triesLeft > 1);
    if (records !== undefined) return records;
  }
}

/** `undefined`, if that `mayFail`: the record that a page was to follow on was deleted meanwhile. */
async function fromTheFirst<Item>(list: ListPage<Item>, mayFail: boolean): Promise<readonly Item[] | undefined> {
  const records: Item[] = [];
  const seen = new Set<string | undefined>();
  for (let after: string | undefined; ;) {
    // A server that hands out the same page again would never end.
    if (seen.has(after)) throw new PdError("PD_FAILED", "Cannot list all records: the server's pages do not end");
    seen.add(after);
    try {
      const page = await list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
      const { data, page_info: info } = isPage(page) ? page : noList();
      // Some servers know no pages, and answer with the same again.
      if (after !== undefined && info.end_cursor === after && records.length >= info.total_count) return records;
      records.push(...data);
      // Behind a full page there may be more than the server counts: others delete what came before.
      const isLast = records.length >= info.total_count && (data.length < PAGE || info.end_cursor === undefined);
      if (data.length === 0 || isLast) return records;
      after = info.end_cursor;
    } catch (error) {
      if (mayFail && after !== undefined && error instanceof PdError && error.code === "PD_BAD_INPUT") return undefined;
      throw error;
    }
  }
}

/** What else answers in JSON under the address of a server may say anything. */
function isPage(page: unknown): boolean {
  return isJsonObject(page) && Array.isArray(page["data"]) && isJsonObject(page["page_info"]);
}

function noList(): never {
  throw new PdError("PD_SERVER_UNREACHABLE", "Cannot list all records: what answers is no list, and so no server of this kind", { fix: CHECK_ADDRESS });
}

/** Lists are read so often while somebody deletes what they are paged by. */
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

/** Parts of the path come first, parameters last. */
function requestOf(address: CallAddress, given: readonly unknown[]): Request {
  const [method, template] = partsOf(address);
  let used = 0;
  const path = template.replaceAll(/\{(\w+)\}/g, () => {
    const part = given[used++];
    // URLs take them for the folder itself and the one above, also when they are encoded: another address would be asked.
    if (part === "." || part === "..")
      throw new PdError("PD_BAD_INPUT", `Cannot call ${address} for ${JSON.stringify(part)}: no address can name it`, { fix: "Use another name" });
    if (typeof part === "string" && part !== "") return encodeURIComponent(part);
    const isSource = template.startsWith("/v1/sources/") && used === 1;
    throw new PdError(isSource ? "PD_SOURCE_NOT_FOUND" : "PD_NOT_FOUND", `Cannot call ${address}: ${JSON.stringify(part)} names nothing`);
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

/** Members that are undefined are not given. */
function paramsOf(given: unknown): JsonObject {
  const members = typeof given === "object" && given !== null ? Object.entries(given).filter(([, value]) => value !== undefined) : [];
  return Object.fromEntries(
    members.map(([name, value]: [string, unknown]): [string, JsonValue] => {
      if (isJsonValue(value)) return [name, value];
      throw new PdError("PD_BAD_INPUT", `Cannot send ${name}: it is no JSON value`, { fix: "Give texts, numbers, booleans, null, lists and plain objects" });
    }),
  );
}

function unwrapped(body: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(body) && !("page_info" in body) && "data" in body ? body["data"] : body;
}

/** What is wrong with values that a component was given; `undefined`: the error is about something else. */
export function badPropsOf(error: unknown): BadProps | undefined {
  if (!(error instanceof PdError) || error.code !== "PD_BAD_PROPS") return undefined;
  const { problems, props } = error.details ?? {};
  return Array.isArray(problems) && Array.isArray(props) ? known<BadProps>({ problems, props }) : undefined;
}

function checkedRecord<Value>(kind: "event" | "observation", data: JsonObject): Value {
  checkIds(kind, data);
  return known<Value>(data);
}

/** What the server answers is unknown here, and as the contract says beyond. */
function known<Value>(value: unknown): Value {
  return value as Value;
}
