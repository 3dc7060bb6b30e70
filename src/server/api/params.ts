import type { Context } from "hono";
import type * as z from "zod";
import { IN_WORDS, problemsOf } from "../../api/problem-words.ts";
import { PdError, messageOf } from "../../domain/errors.ts";
import { seqOfEventId } from "../../domain/ids.ts";
import { type JsonObject, isJsonObject } from "../../domain/text/json.ts";
import { LIMITS, isTooComplex } from "../../domain/limits.ts";

const MOST_FORM_MEMBERS = 1000;
const MAX_BODY = 20 * 1024 * 1024;
/** A schema check of a body costs the main thread far more than storing it. */
const MOST_MEMBERS = 100_000;
const MOST_PROBLEMS = 20;

/** The body takes precedence over the query. */
export async function readGiven(context: Context): Promise<JsonObject> {
  return { ...context.req.query(), ...(await readBody(context)) };
}

/** Ignores unknown parameters. Throws PD_BAD_INPUT. */
export function checkParams<Schema extends z.ZodType>(schema: Schema, given: JsonObject): z.output<Schema> {
  const result = schema.safeParse(given, IN_WORDS);
  if (result.success) return result.data;
  const all = problemsOf(result.error, { whole: "the parameters", given }, MOST_PROBLEMS).map(({ text }) => text);
  const rest = result.error.issues.length - all.length;
  const problems = rest > 0 ? [...all, `and ${rest} more`] : all;
  throw new PdError("PD_BAD_INPUT", `Cannot read the parameters: ${problems.join("; ")}`, { details: { problems } });
}

async function readBody(context: Context): Promise<JsonObject> {
  if (context.req.method === "GET" || context.req.method === "HEAD") return {};
  const packing = context.req.header("content-encoding") ?? "identity";
  if (packing.toLowerCase() !== "identity")
    throw new PdError("PD_BAD_CONTENT_TYPE", `Cannot read a body with content-encoding ${JSON.stringify(packing)}: compressed bodies are not accepted`, {
      fix: "Send it without content-encoding",
    });
  const body = await readText(context);
  if (body.trim() === "") return {};
  if (isTooComplex(body, MOST_MEMBERS)) throw tooComplex();
  const type = context.req.header("content-type") ?? "application/json";
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(type);
  if (isForm && body.split("&", MOST_FORM_MEMBERS + 1).length > MOST_FORM_MEMBERS)
    throw new PdError("PD_BODY_TOO_LARGE", `Cannot read the body: a form may have ${MOST_FORM_MEMBERS} members`);
  if (isForm) return Object.fromEntries(new URLSearchParams(body));
  if (!/^(application\/([\w.+-]*\+)?json|text\/plain)\b/i.test(type))
    throw new PdError("PD_BAD_CONTENT_TYPE", `Cannot read a body of type ${JSON.stringify(type)}: expected application/json`);
  try {
    const value: unknown = JSON.parse(body);
    if (isJsonObject(value)) return value;
  } catch (error) {
    throw new PdError("PD_BAD_JSON", `Cannot read the body as JSON: ${messageOf(error)}${placeOf(error, body)}`);
  }
  throw new PdError("PD_BAD_JSON", "Cannot use the body: expected a JSON object");
}

function tooComplex(): PdError {
  return new PdError("PD_BODY_TOO_LARGE", `Cannot read the body: it has more than ${MOST_MEMBERS} members, or is nested deeper than ${LIMITS.depth}`);
}

/** Counts received bytes: content-length may be wrong or missing. */
async function readText(context: Context): Promise<string> {
  const tooLarge = (): PdError => new PdError("PD_BODY_TOO_LARGE", `Cannot read the body: it has more than ${MAX_BODY} bytes`);
  if (Number(context.req.header("content-length") ?? 0) > MAX_BODY) throw tooLarge();
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const chunk of context.req.raw.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY) throw tooLarge();
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

const MAX_SEARCHED_BODY = 100_000;

/** Some errors lack the position: it is the end of the longest prefix that JSON may start with. */
function placeOf(error: unknown, body: string): string {
  if (/position \d+/.test(messageOf(error)) || body.length > MAX_SEARCHED_BODY) return "";
  let [good, bad] = [0, body.length];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (mayGoOn(body.slice(0, middle))) good = middle;
    else bad = middle;
  }
  return ` (position ${mayGoOn(body) ? body.length : good})`;
}

function mayGoOn(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch (error) {
    const at = /position (\d+)/.exec(messageOf(error))?.[1];
    return at === undefined ? messageOf(error).includes("end of JSON input") : Number(at) >= text.length;
  }
}

/** Throws PD_BAD_INPUT for an invalid id. */
export function seqOf(eventId: string): number {
  const seq = seqOfEventId(eventId);
  if (seq === undefined)
    throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(eventId)} as an event id`, {
      fix: "Use an id from event_summaries, such as 1606511826306-1",
    });
  return seq;
}
