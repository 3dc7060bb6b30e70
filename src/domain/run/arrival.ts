import { type JsonValue, isJsonObject } from "../text/json.ts";
import type { Trigger } from "./trigger.ts";

/** Characters of an arrival in a list. */
const MOST_CHARACTERS = 120;
/** Enough of a long text for `MOST_CHARACTERS` without its white space. */
const READ_CHARACTERS = 2000;

/** What tells a run from its neighbours in a list: the start of the request's body or of the event, on one line. Empty when nothing arrived. */
export function describeArrival(trigger: Trigger): string {
  switch (trigger.kind) {
    case "http":
      return trigger.encoding === "base64" ? `${Buffer.byteLength(trigger.body, "base64")} bytes` : onOneLine(trigger.body);
    case "manual":
    case "event":
      return describeEvent(trigger.event);
    case "timer":
    case "hook":
    case "sample":
    case "step":
      return "";
  }
}

/** The body of an event that came by HTTP, else all of it. */
export function describeEvent(event: JsonValue | undefined): string {
  const shown = isJsonObject(event) && "body" in event && "method" in event ? (event["body"] ?? event["query"]) : event;
  if (shown === undefined || shown === null || (isJsonObject(shown) && Object.keys(shown).length === 0)) return "";
  return onOneLine(typeof shown === "string" ? shown : JSON.stringify(shown));
}

function onOneLine(text: string): string {
  const line = text.slice(0, READ_CHARACTERS).replaceAll(/\s+/g, " ").trim();
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS - 1)}…` : line;
}
