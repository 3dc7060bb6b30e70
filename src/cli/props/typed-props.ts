import type { PropRecord } from "../../api/props.ts";
import { type JsonObject, type JsonValue, parseJson } from "../../domain/text/json.ts";
import { typedValue } from "../ask/answer-check.ts";
import type { AskedComponent } from "./asked-component.ts";

/** `--prop` may have JSON for props of any value, which the server would store as text. Loads types only when needed. */
export async function typedProps(
  component: AskedComponent,
  props: JsonObject,
  { prop: pairs = [] }: { readonly prop?: readonly string[] | undefined },
): Promise<JsonObject> {
  const names = new Set(pairs.map((pair) => pair.slice(0, pair.indexOf("="))));
  const isJsonText = (value: JsonValue | undefined): value is string => typeof value === "string" && parseJson(value) !== undefined;
  const mayBeJson = ([name, value]: readonly [string, JsonValue | undefined]): boolean =>
    names.has(name) && (Array.isArray(value) ? value.some(isJsonText) : isJsonText(value));
  if (!Object.entries(props).some(mayBeJson)) return props;
  // Sending reports missing values.
  const declared = await component.props(props).catch((): readonly PropRecord[] => []);
  const types = new Map(declared.map(({ name, type }) => [name, type]));
  const typed = Object.entries(props).map(([name, value]): [string, JsonValue | undefined] => {
    const type = types.get(name);
    const typeOne = (one: JsonValue): JsonValue => (type !== undefined && isJsonText(one) ? typedValue(type, one) : one);
    return [name, value === undefined || !mayBeJson([name, value]) ? value : Array.isArray(value) ? value.map(typeOne) : typeOne(value)];
  });
  return Object.fromEntries(typed);
}
