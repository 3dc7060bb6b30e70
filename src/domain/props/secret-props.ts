import type { JsonValue } from "../json.ts";
import { SHORTEST_SECRET } from "../secrets.ts";
import { type PropDeclaration, kindOf } from "./kinds.ts";

/** Whether a value tells what others must not see: credentials, secrets, and what signs in to somewhere. */
export function holdsSecret(prop: PropDeclaration, value: JsonValue | undefined): boolean {
  return value !== undefined && kindOf(prop).secret?.isIn(prop, value) === true;
}

/** A value as it is shown: stars stand for what others must not see, `endpoint` for what requests reach. */
export function shownValue(prop: PropDeclaration, value: JsonValue | undefined, endpoint: string): JsonValue | undefined {
  const kind = kindOf(prop);
  if (kind.shown !== undefined) return kind.shown(value, endpoint);
  return value !== undefined && kind.secret?.isIn(prop, value) === true ? kind.secret.starred(value) : value;
}

/** Texts in a value that must not be seen in what a component prints: tokens, keys and passwords. */
export function secretTexts(prop: PropDeclaration, value: JsonValue | undefined): readonly string[] {
  const { secret } = kindOf(prop);
  if (value === undefined || secret?.isIn(prop, value) !== true) return [];
  return secret.texts(value).filter((text) => text.length >= SHORTEST_SECRET);
}
