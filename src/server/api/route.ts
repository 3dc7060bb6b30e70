import type { Context } from "hono";
import * as z from "zod";
import type { CallAddress } from "../../api/calls.ts";
import type { Call, pageParams } from "../../api/declare.ts";
import { didYouMean } from "../../domain/text/did-you-mean.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { PdError } from "../../domain/errors.ts";
import type { Tracked } from "../../ports/progress.ts";
import { checkParams, readGiven } from "./params.ts";
import { progressOf } from "./progress.ts";
import { type Caller, callerOf, checkRights } from "./rights.ts";

/** Limits for the header `pd-ignored`. */
const MOST_TOLD = 10;
const MOST_NAME = 60;

type AnyCall = Call<CallAddress, z.ZodObject, z.ZodType | undefined>;
type PartNames<Address extends string> = Address extends `${string}{${infer Name}}${infer Rest}` ? Name | PartNames<Rest> : never;

export interface Given<Called extends AnyCall> extends Tracked {
  readonly params: z.output<Called["params"]>;
  readonly caller: () => Caller;
  readonly part: (name: PartNames<Called["address"]>) => string;
}

export type AnswerOf<Called extends AnyCall> = Called["answer"] extends z.ZodType ? z.input<Called["answer"]> : undefined;

export interface Route extends AnyCall {
  readonly respond: (context: Context) => Promise<Response>;
}

export function addressesOf({ address, also }: Pick<Route, "address" | "also">): readonly (readonly [method: string, path: string])[] {
  return [address, ...also].map((text) => {
    const [method = "", path = ""] = text.split(" ");
    return [method.toLowerCase(), path];
  });
}

/** Every call accepts these names of members, separated by commas. */
const selection = z.object({ include: z.string().optional(), exclude: z.string().optional() });

export function route<Called extends AnyCall>(call: Called, run: (given: Given<Called>) => Promise<AnswerOf<Called>> | AnswerOf<Called>): Route {
  const { status } = call;
  return {
    ...call,
    async respond(context) {
      checkRights(context, call, {});
      const given = await readGiven(context);
      const params: z.output<Called["params"]> = checkParams<Called["params"]>(call.params, given);
      checkRights(context, call, params);
      const body: unknown = await run({
        params,
        caller: () => callerOf(context),
        progress: progressOf(context),
        part: (name) => context.req.param(name) ?? "",
      });
      const ignored = ignoredNames(given, call.params);
      if (ignored !== "") context.header("pd-ignored", ignored);
      if (body === undefined) return context.body(null, status);
      const { include, exclude } = checkParams(selection, given);
      const isSelected = include !== undefined || exclude !== undefined;
      return context.body(JSON.stringify(isSelected ? selected(body, { include, exclude }) : body), status, { "content-type": "application/json" });
    },
  };
}

/** Such as `limt (did you mean limit?)`. */
function ignoredNames(given: JsonObject, params: z.ZodObject): string {
  const known = [...Object.keys(params.shape), ...Object.keys(selection.shape)];
  const unknown = Object.keys(given).filter((name) => !known.includes(name));
  const shown = unknown
    .slice(0, MOST_TOLD)
    .map((name) => `${encodeURIComponent(name.slice(0, MOST_NAME).toWellFormed())}${didYouMean(name.slice(0, MOST_NAME), known)}`);
  return [...shown, ...(unknown.length > MOST_TOLD ? [`${unknown.length - MOST_TOLD} more`] : [])].join(", ");
}

function selected(body: unknown, { include, exclude }: z.infer<typeof selection>): unknown {
  const [wanted, unwanted] = [include, exclude].map((text) => (text === undefined ? undefined : new Set(text.split(",").map((name) => name.trim()))));
  const pick = (record: unknown): unknown =>
    isRecord(record) ? Object.fromEntries(Object.entries(record).filter(([name]) => (wanted?.has(name) ?? true) && unwanted?.has(name) !== true)) : record;
  if (!isRecord(body)) return body;
  const { data } = body;
  return { ...body, data: Array.isArray(data) ? data.map(pick) : pick(data) };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Listed<Item, Shown> {
  readonly idOf: (item: Item) => string;
  readonly records: (shown: readonly Item[]) => Promise<readonly Shown[]> | readonly Shown[];
}

/** Cursors are record ids in base64. */
export async function pageOf<Item, Shown>(
  items: readonly Item[],
  { limit, before, after }: z.infer<typeof pageParams>,
  { idOf, records }: Listed<Item, Shown>,
): Promise<Page<Shown>> {
  const at = (cursor: string): number => {
    const id = Buffer.from(cursor, "base64").toString();
    const index = items.findIndex((item) => idOf(item) === id);
    if (index < 0) throw new PdError("PD_BAD_INPUT", `Cannot page from ${JSON.stringify(cursor)}: no record has this cursor`);
    return index;
  };
  const end = before === undefined ? items.length : at(before);
  const start = after === undefined ? 0 : at(after) + 1;
  const shown = before !== undefined && after === undefined ? items.slice(Math.max(0, end - limit), end) : items.slice(start, Math.min(start + limit, end));
  const cursors = shown.map((item) => Buffer.from(idOf(item)).toString("base64url"));
  return envelope(await records(shown), { total: items.length, first: cursors[0], last: cursors.at(-1) });
}

export interface Page<Shown> {
  readonly page_info: { readonly total_count: number; readonly count: number; readonly start_cursor?: string; readonly end_cursor?: string };
  readonly data: Shown[];
}

export function envelope<Shown>(
  records: readonly Shown[],
  { total, first, last }: { total: number; first: string | undefined; last: string | undefined },
): Page<Shown> {
  const cursors = first === undefined || last === undefined ? {} : { start_cursor: first, end_cursor: last };
  return { page_info: { total_count: total, count: records.length, ...cursors }, data: [...records] };
}
