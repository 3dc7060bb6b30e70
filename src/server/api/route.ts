/** How a call of the API is declared: once, for the router, for the checks of its parameters and for its description. */
import type { Context } from "hono";
import { z } from "zod";
import { PdError } from "../../domain/errors.ts";
import { type JsonObject, isJsonObject } from "../../domain/json.ts";
import { checkDeclared, checkParams, readGiven } from "./params.ts";

export interface Call<Params> {
  readonly params: Params;
  readonly context: Context;
  /** A part of the path, by its name in braces. */
  readonly part: (name: string) => string;
}

export interface Declaration<Schema extends z.ZodObject> {
  readonly method: "get" | "post" | "put" | "delete";
  /** Parts that vary in braces: `/v1/sources/{id}`. */
  readonly path: string;
  readonly tag: string;
  readonly summary: string;
  /** Taken from the query and the body alike (platform.md §1.1). */
  readonly params?: Schema;
  /** The body of the answer; absent: there is none. */
  readonly answer?: z.ZodType;
  /** 200 unless it says otherwise. */
  readonly status?: 200 | 202;
  readonly run: (call: Call<z.infer<Schema>>) => Promise<JsonObject | undefined> | JsonObject | undefined;
}

/** A declared call, ready to be mounted and described. */
export interface Route extends Omit<Declaration<z.ZodObject>, "run" | "params"> {
  readonly params: z.ZodObject;
  readonly status: 200 | 202;
  readonly respond: (context: Context) => Promise<Response>;
}

/** Every call takes these (platform.md §1.1): names of members of the records, with commas between them. */
const selection = z.object({ include: z.string().optional(), exclude: z.string().optional() });

export function route<Schema extends z.ZodObject>(declaration: Declaration<Schema>): Route {
  const { params, run, ...rest } = declaration;
  const status = declaration.status ?? 200;
  return {
    ...rest,
    params: params ?? z.object({}),
    status,
    async respond(context) {
      const given = await readGiven(context);
      const body = await run({ params: checkDeclared(params, given), context, part: (name) => context.req.param(name) ?? "" });
      return body === undefined ? context.body(null, status) : context.json(selected(body, checkParams(selection, given)), status);
    },
  };
}

/** Leaves in each record what `include` names, or what `exclude` does not. */
function selected(body: JsonObject, { include, exclude }: z.infer<typeof selection>): JsonObject {
  if (include === undefined && exclude === undefined) return body;
  const [wanted, unwanted] = [include, exclude].map((text) => (text === undefined ? undefined : new Set(text.split(",").map((name) => name.trim()))));
  const pick = (record: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(record).filter(([name]) => (wanted?.has(name) ?? true) && unwanted?.has(name) !== true));
  const { data } = body;
  if (Array.isArray(data)) return { ...body, data: data.map((entry) => (isJsonObject(entry) ? pick(entry) : entry)) };
  return isJsonObject(data) ? { ...body, data: pick(data) } : body;
}

/** Paging of lists (platform.md §1.1). */
export const pageParams = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(10),
  before: z.string().optional(),
  after: z.string().optional(),
});

interface Listed<Item> {
  readonly idOf: (item: Item) => string;
  /** Told only what is shown. */
  readonly records: (shown: readonly Item[]) => Promise<readonly JsonObject[]> | readonly JsonObject[];
}

/** The page of a whole list that its parameters ask for; cursors are the ids of records, in base64. */
export async function pageOf<Item>(
  items: readonly Item[],
  { limit, before, after }: z.infer<typeof pageParams>,
  { idOf, records }: Listed<Item>,
): Promise<JsonObject> {
  const at = (cursor: string): number => {
    const id = Buffer.from(cursor, "base64").toString();
    const index = items.findIndex((item) => idOf(item) === id);
    if (index < 0) throw new PdError("PD_BAD_INPUT", `Cannot page from ${JSON.stringify(cursor)}: nothing has this cursor`);
    return index;
  };
  const end = before === undefined ? items.length : at(before);
  const start = after === undefined ? 0 : at(after) + 1;
  const shown = before !== undefined && after === undefined ? items.slice(Math.max(0, end - limit), end) : items.slice(start, Math.min(start + limit, end));
  return envelope(await records(shown), { total: items.length, cursorOf: ({ id }) => Buffer.from(String(id)).toString("base64url") });
}

/** The page envelope (platform.md §1.1). */
export function envelope(records: readonly JsonObject[], { total, cursorOf }: { total: number; cursorOf: (record: JsonObject) => string }): JsonObject {
  const [first] = records;
  const last = records.at(-1);
  const cursors = first === undefined || last === undefined ? {} : { start_cursor: cursorOf(first), end_cursor: cursorOf(last) };
  return { page_info: { total_count: total, count: records.length, ...cursors }, data: [...records] };
}
