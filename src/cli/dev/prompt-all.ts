import type { SourceRecord } from "../../api/sources.ts";
import { type JsonValue, isJsonObject } from "../../domain/text/json.ts";
import { kindOfType } from "../../domain/props/kinds.ts";
import type { Question } from "../ask/answer-check.ts";

/** Current values are the defaults. An empty answer keeps a secret. */
export function promptAllQuestions({ configured_props: values, configurable_props: declared }: SourceRecord): readonly Question[] {
  const asked = declared.filter((prop) => kindOfType(prop.type).asking?.isAskedAgain === true && prop.static === undefined);
  return asked.map((prop) => {
    const current = values[prop.name];
    return { ...prop, default: withoutNulls(current ?? prop.default) ?? "", isKept: prop.secret === true && current !== undefined };
  });
}

/** In the API, a timer has both `cron` and `interval_seconds`, one of them null. */
function withoutNulls(value: JsonValue | undefined): JsonValue | undefined {
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null)) : value;
}
