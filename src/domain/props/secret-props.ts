import type { JsonValue } from "../text/json.ts";
import { SHORTEST_SECRET } from "../account/secrets.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";

export function holdsSecret(prop: PropDeclaration, value: JsonValue | undefined): boolean {
  return value !== undefined && kindOf(prop).secret?.isIn(prop, value) === true;
}

/** `endpoint` is the source's URL. */
export function shownValue(prop: PropDeclaration, value: JsonValue | undefined, endpoint: string): JsonValue | undefined {
  const kind = kindOf(prop);
  if (kind.shown !== undefined) return kind.shown(value, endpoint);
  return value !== undefined && kind.secret?.isIn(prop, value) === true ? kind.secret.starred(value) : value;
}

export function secretTexts(prop: PropDeclaration, value: JsonValue | undefined): readonly string[] {
  const { secret } = kindOf(prop);
  if (value === undefined || secret?.isIn(prop, value) !== true) return [];
  return secret.texts(value).filter((text) => text.length >= SHORTEST_SECRET);
}
