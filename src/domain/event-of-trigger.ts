import { appHookPayload } from "./app-hook.ts";
import { isRecord } from "./json.ts";
import { readBody, readQuery } from "./request-body/read-body.ts";
import { type HttpTrigger, type Trigger, timerEvent } from "./trigger.ts";

/** Is told what could not be read as the sender announced it. */
type Note = (text: string) => void;

/** What `run(event)` is called with. */
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

/** components.md, HTTP interface; `rawBody`, `url` and `client_ip` as the hosted platform has them. */
async function httpEvent(trigger: HttpTrigger, note: Note): Promise<Record<string, unknown>> {
  // Bytes that are not text travel as latin1, one character a byte, so that nothing is lost in a string.
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

/** The app's own event; what the request was made of can be read from it as well, but is no part of it. */
async function appHookEvent(trigger: HttpTrigger, note: Note): Promise<unknown> {
  const payload = appHookPayload(trigger);
  const event = isRecord(payload) ? payload : {};
  for (const [name, value] of Object.entries(await httpEvent(trigger, note))) {
    if (!(name in event)) Object.defineProperty(event, name, { value, enumerable: false, writable: true, configurable: true });
  }
  return event;
}
