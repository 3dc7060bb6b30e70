import { appHookPayload } from "../source/app-hook.ts";
import { isRecord } from "../text/json.ts";
import { readBody, readQuery } from "../request-body/read-body.ts";
import { type HttpTrigger, type Trigger, timerEvent } from "./trigger.ts";

/** Called for each part that cannot be read as declared. */
type Note = (text: string) => void;

/** The argument of `run`. */
export async function eventFor(trigger: Trigger, note: Note): Promise<unknown> {
  switch (trigger.kind) {
    case "http":
      return trigger.isAppHook === true ? appHookEvent(trigger, note) : httpEvent(trigger, note);
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

/** `rawBody`, `url` and `client_ip` are as on the hosted platform. */
async function httpEvent(trigger: HttpTrigger, note: Note): Promise<Record<string, unknown>> {
  // Binary bodies become latin1, one character per byte.
  const bodyRaw = trigger.encoding === "base64" ? Buffer.from(trigger.body, "base64").toString("latin1") : trigger.body;
  const [query, { notes, ...body }] = [readQuery(trigger.query), await readBody(trigger)];
  for (const text of [...query.notes, ...notes]) note(text);
  return {
    method: trigger.method,
    path: trigger.path,
    query: query.fields,
    headers: { ...trigger.headers },
    url: trigger.url,
    client_ip: trigger.clientIp,
    bodyRaw,
    rawBody: bodyRaw,
    ...body,
  };
}

/** Members of the HTTP event are readable, but not enumerable. */
async function appHookEvent(trigger: HttpTrigger, note: Note): Promise<unknown> {
  const payload = appHookPayload(trigger);
  const event = isRecord(payload) ? payload : {};
  for (const [name, value] of Object.entries(await httpEvent(trigger, note))) {
    if (!(name in event)) Object.defineProperty(event, name, { value, enumerable: false, writable: true, configurable: true });
  }
  return event;
}
