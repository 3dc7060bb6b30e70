import * as z from "zod";
import { LEAST_MEMORY_MB, MOST_MEMORY_MB } from "../domain/source/process-grant.ts";
import { type JsonObject, type JsonValue, isJsonObject, isJsonValue } from "../domain/text/json.ts";
import type { CallAddress } from "./calls.ts";

export interface Call<Address extends CallAddress, Params extends z.ZodObject, Answer extends z.ZodType | undefined> {
  readonly address: Address;
  readonly also: readonly CallAddress[];
  readonly tag: string;
  readonly summary: string;
  /** Read from the query and the body. */
  readonly params: Params;
  /** Undefined when the answer has no body. */
  readonly answer: Answer;
  readonly status: 200 | 202;
  /** Read-only keys may not use the whole call, or these parameters. */
  readonly beyondReaders: "all" | readonly string[];
  /** Needs no API key. */
  readonly isOpen: boolean;
}

interface Declaration<Params extends z.ZodObject, Answer extends z.ZodType | undefined> {
  readonly tag: string;
  readonly summary: string;
  readonly params?: Params;
  readonly answer?: Answer;
  readonly status?: 200 | 202;
  readonly also?: readonly CallAddress[];
  /** The default for every method except GET is "all". */
  readonly beyondReaders?: "all" | readonly string[];
  readonly isOpen?: true;
}

type NoParams = z.ZodObject<Record<never, never>>;

export function call<const Address extends CallAddress, Answer extends z.ZodType | undefined = undefined>(
  address: Address,
  declaration: Declaration<NoParams, Answer> & { readonly params?: never },
): Call<Address, NoParams, Answer>;
export function call<const Address extends CallAddress, Params extends z.ZodObject, Answer extends z.ZodType | undefined = undefined>(
  address: Address,
  declaration: Declaration<Params, Answer> & { readonly params: Params },
): Call<Address, Params, Answer>;
export function call(address: CallAddress, declaration: Declaration<z.ZodObject, z.ZodType | undefined>) {
  const { params, answer, status = 200, also = [], beyondReaders = address.startsWith("GET ") ? [] : "all", isOpen = false, ...rest } = declaration;
  return { ...rest, address, also, params: params ?? z.object({}), answer, status, beyondReaders, isOpen };
}

export const text = z.string();
export const word = z.string().min(1, "expected a non-empty string");
export const optionalText = z.string().optional();
export const json = z.custom<JsonValue>(isJsonValue, "expected a JSON value");
export const jsonObject = z.custom<JsonObject>(isJsonObject, "expected a JSON object");
export const texts = z.record(z.string(), z.string());
export const seconds = z.int().describe("epoch seconds");
export const ms = z.number().describe("epoch ms");

/** An empty value means true. */
export const flag = z
  .union([z.boolean(), z.enum(["true", "false", "1", "0", ""])])
  .transform((value) => value === true || value === "true" || value === "1" || value === "");
/** In an update, null removes the text. */
export const clearable = z.string().nullable().optional();

export const memoryMb = z
  .int("expected a whole number")
  .min(LEAST_MEMORY_MB, `expected at least ${LEAST_MEMORY_MB}`)
  .max(MOST_MEMORY_MB, `expected at most ${MOST_MEMORY_MB}`);

export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER) {
  return z.coerce.number<string | number>().int().min(least).max(most);
}

export const pageParams = z.object({ limit: whole(1, 1000).default(10), before: optionalText, after: optionalText });
const lettersAndDigits = z.string().regex(/^[0-9A-Za-z]+$/);
/** Lists of these are paged by the id of the last record shown. */
export const invocationId = z.templateLiteral(["inv_", lettersAndDigits], { error: 'expected an invocation id such as "inv_…"' });
export const runId = z.templateLiteral(["run_", lettersAndDigits], { error: 'expected a run id such as "run_…"' });
export const deliveryId = z.templateLiteral(["dlv_", z.int()], { error: 'expected a delivery id such as "dlv_1"' });
export const limitParams = z.object({ limit: pageParams.shape.limit });

const pageInfo = z.object({ total_count: z.int(), count: z.int(), start_cursor: optionalText, end_cursor: optionalText });

export const one = <Schema extends z.ZodType>(record: Schema) => z.object({ data: record });
export const many = <Schema extends z.ZodType>(record: Schema) => z.object({ data: z.array(record) });
export const paged = <Schema extends z.ZodType>(record: Schema) => z.object({ page_info: pageInfo, data: z.array(record) });

export const error = z.object({ error: text, code: text, details: jsonObject.optional() });
export const deleted = z.object({ id: text, deleted: z.boolean() });

export const slug = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "expected a slug of lowercase letters, digits and dashes");
