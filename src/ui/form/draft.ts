import type { CodeParams } from "../../api/components.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import type { Prop } from "../types.ts";
import { isSecretProp } from "./secret-props.ts";

const KEPT = "headwater-draft";

/** A sign-in at a provider leaves the page. */
interface Draft {
  readonly code: CodeParams;
  readonly values: JsonObject;
}

/** Stores no secrets. A value without a prop could be one. */
export function keepDraft(code: CodeParams, props: readonly Prop[], values: JsonObject): void {
  const kept = props.flatMap((prop): [string, JsonObject[string]][] => (isSecretProp(prop) ? [] : [[prop.name, values[prop.name]]]));
  sessionStorage.setItem(KEPT, JSON.stringify({ code, values: Object.fromEntries(kept) }));
}

export function readDraft(): Draft | undefined {
  const draft = parseJson(sessionStorage.getItem(KEPT) ?? "null");
  if (!isJsonObject(draft) || !isJsonObject(draft["code"]) || !isJsonObject(draft["values"])) return undefined;
  return { code: draft["code"], values: draft["values"] };
}

export function dropDraft(): void {
  sessionStorage.removeItem(KEPT);
}
