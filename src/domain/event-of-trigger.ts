import { formFields } from "./form.ts";
import { appHookPayload } from "./app-hook.ts";
import { isRecord } from "./json.ts";
import { LIMITS, hasTooManyFields, isTooComplex } from "./limits.ts";
import { type HttpTrigger, type Trigger, timerEvent } from "./trigger.ts";

/** What `run(event)` is called with. */
export async function eventFor(trigger: Trigger): Promise<unknown> {
  switch (trigger.kind) {
    case "http":
      return trigger.isAppHook === true ? appHookEvent(trigger) : httpEvent(trigger);
    case "timer":
      return timerEvent(trigger);
    case "manual":
    case "event":
      return trigger.event ?? {};
    case "hook":
    case "sample":
    case "step":
      return {};
  }
}

/** components.md, HTTP interface; `rawBody`, `url` and `client_ip` as platform.md §4.6 has them. */
async function httpEvent(trigger: HttpTrigger): Promise<Record<string, unknown>> {
  const bytes = trigger.encoding === "base64" ? Buffer.from(trigger.body, "base64") : undefined;
  // Bytes that are not text travel as latin1, one character a byte, so that nothing is lost in a string.
  const bodyRaw = bytes === undefined ? trigger.body : bytes.toString("latin1");
  return {
    method: trigger.method,
    path: trigger.path,
    query: queryObject(trigger.query),
    headers: { ...trigger.headers },
    url: trigger.url,
    client_ip: trigger.clientIp,
    bodyRaw,
    rawBody: bodyRaw,
    ...(trigger.body === "" ? {} : { body: await parseBody(trigger, bytes) }),
  };
}

/** The app's own event; what the request was made of can be read from it as well, but is no part of it. */
async function appHookEvent(trigger: HttpTrigger): Promise<unknown> {
  const payload = appHookPayload(trigger);
  const event = isRecord(payload) ? payload : {};
  for (const [name, value] of Object.entries(await httpEvent(trigger))) {
    if (!(name in event)) Object.defineProperty(event, name, { value, enumerable: false, writable: true, configurable: true });
  }
  return event;
}

function queryObject(query: string): Record<string, string | string[]> {
  return grouped(new URLSearchParams(query));
}

/** A name given several times becomes a list. */
function grouped<Value>(entries: Iterable<[string, Value]>): Record<string, Value | Value[]> {
  const result: Record<string, Value | Value[]> = {};
  const lists = new Map<string, Value[]>();
  for (const [name, value] of entries) {
    const list = lists.get(name) ?? [];
    list.push(value);
    lists.set(name, list);
    result[name] = list.length === 1 ? value : list;
  }
  return result;
}

/** Parsed by its real content type alone; what does not parse, or is nested deeper than LIMITS.depth, stays text. */
async function parseBody(trigger: HttpTrigger, bytes: Buffer | undefined): Promise<unknown> {
  const contentType = trigger.headers["content-type"] ?? "";
  const type = (contentType.split(";")[0] ?? "").trim().toLowerCase();
  if (type === "multipart/form-data") return parseMultipart(contentType, bytes ?? Buffer.from(trigger.body));
  if (bytes !== undefined) return bytes;
  if (type === "application/json" || type === "text/json" || type.endsWith("+json")) return parseJsonText(trigger.body);
  if (type === "application/x-www-form-urlencoded" && !hasTooManyFields(trigger.body)) return grouped(formFields(trigger.body));
  return trigger.body;
}

function parseJsonText(text: string): unknown {
  if (isTooComplex(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** Fields become texts, a file `{ filename, mimetype, url }` with its bytes in a data URL. */
async function parseMultipart(contentType: string, bytes: Buffer): Promise<unknown> {
  if (hasTooManyParts(contentType, bytes)) return bytes.toString("utf8");
  try {
    const form = await new Response(new Uint8Array(bytes), { headers: { "content-type": contentType } }).formData();
    const fields: [string, unknown][] = [];
    for (const [name, value] of form) fields.push([name, typeof value === "string" ? value : await fileField(value)]);
    return grouped(fields);
  } catch {
    return bytes.toString("utf8");
  }
}

function hasTooManyParts(contentType: string, bytes: Buffer): boolean {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? [];
  const mark = `--${quoted ?? plain ?? ""}`;
  let count = 0;
  for (let at = bytes.indexOf(mark); at >= 0 && count <= LIMITS.fields; at = bytes.indexOf(mark, at + mark.length)) count++;
  return count > LIMITS.fields;
}

async function fileField(file: File): Promise<unknown> {
  const content = Buffer.from(await file.arrayBuffer()).toString("base64");
  return { filename: file.name, mimetype: file.type, url: `data:${file.type};base64,${content}` };
}
