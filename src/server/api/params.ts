/** Where requests become values: query and body are unknown here, and known beyond. */
import type { Context } from "hono";
import { z } from "zod";
import { PdError, messageOf } from "../../domain/errors.ts";
import { seqOfEventId } from "../../domain/ids.ts";
import { type JsonObject, isJsonObject, isJsonValue } from "../../domain/json.ts";

const MAX_BODY = 20 * 1024 * 1024;

const text = z.string();
const jsonObject = z.custom<JsonObject>(isJsonObject, "wants a JSON object");
const texts = z.record(z.string(), z.string());

/** Anything that says yes or no in a query or a body. */
const flag = z
  .union([z.boolean(), z.enum(["true", "false", "1", "0", ""])])
  .transform((value) => value === true || value === "true" || value === "1" || value === "");

export const codeParams = z.object({
  component_id: text.optional(),
  component_code: text.optional(),
  component_url: text.optional(),
  component_path: text.optional(),
  component_files: texts.optional(),
  key: text.optional(),
});

export const sourceParams = codeParams.extend({
  name: text.min(1, "wants a text that is not empty").optional(),
  configured_props: jsonObject.optional(),
  env: texts.optional(),
  active: flag.optional(),
});

export const pageParams = z.object({
  limit: z.coerce.number().int().min(1).max(1000).default(10),
  before: text.optional(),
  after: text.optional(),
  event_name: text.optional(),
  expand: text.optional(),
});

export const rangeParams = z.object({ start_id: text.optional(), end_id: text.optional(), event_name: text.optional() });
export const deleteParams = z.object({ force: flag.optional() });
export const runParams = z.object({ event: z.custom((value) => value === undefined || isJsonValue(value), "wants a JSON value").optional() });
export const configureParams = z.object({
  prop_name: text.min(1),
  page: z.coerce.number().int().min(0).default(0),
  prev_context: jsonObject.default({}),
  query: text.optional(),
  configured_props: jsonObject.default({}),
});
export const stateParams = z.object({ value: z.custom(isJsonValue, "wants a JSON value") });

/** Parameters of a request, from its query and its body; unknown ones are ignored. Throws PD_BAD_INPUT with every problem. */
export async function readParams<Schema extends z.ZodType>(context: Context, schema: Schema): Promise<z.infer<Schema>> {
  const given = { ...context.req.query(), ...(await readBody(context)) };
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const problems = result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new PdError("PD_BAD_INPUT", `Cannot read the parameters: ${problems.join("; ")}`, { details: { problems } });
}

async function readBody(context: Context): Promise<JsonObject> {
  if (context.req.method === "GET" || context.req.method === "HEAD") return {};
  if (Number(context.req.header("content-length") ?? 0) > MAX_BODY)
    throw new PdError("PD_BODY_TOO_LARGE", `Cannot read the body: it has more than ${MAX_BODY} bytes`);
  const body = await context.req.text();
  if (body === "") return {};
  try {
    const value: unknown = JSON.parse(body);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new PdError("PD_BAD_JSON", `Cannot read the body as JSON: ${messageOf(error)}`);
  }
  throw new PdError("PD_BAD_JSON", "Cannot use the body: it is JSON, but no object");
}

/** The number of an event within its source. Throws PD_BAD_INPUT for what is no event id. */
export function seqOf(eventId: string): number {
  const seq = seqOfEventId(eventId);
  if (seq === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(eventId)} as an event id`, {
      fix: "Give an id as event_summaries shows it, such as 1606511826306-1",
    });
  return seq;
}
