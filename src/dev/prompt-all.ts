import { type JsonObject, type JsonValue, isJsonObject } from "../domain/json.ts";

/** What is asked for under --prompt-all: not interfaces, services and credentials. */
const ASKED = new Set(["string", "string[]", "integer", "integer[]", "boolean", "boolean[]", "object", "any", "$.interface.timer"]);

/** Questions for all props of a source, each with the value that it has; secrets are kept when nothing is answered. */
export function promptAllQuestions(source: JsonObject): readonly JsonObject[] {
  const values = isJsonObject(source["configured_props"]) ? source["configured_props"] : {};
  const declared = Array.isArray(source["configurable_props"]) ? source["configurable_props"].filter(isJsonObject) : [];
  const asked = declared.filter((prop) => ASKED.has(String(prop["type"])) && prop["static"] === undefined);
  return asked.map((prop) => {
    const current = values[String(prop["name"])];
    return { ...prop, default: withoutNulls(current ?? prop["default"]) ?? "", isKept: prop["secret"] === true && current !== undefined };
  });
}

/** A timer as the API shows it has both `cron` and `interval_seconds`, one of them null. */
function withoutNulls(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;
}
