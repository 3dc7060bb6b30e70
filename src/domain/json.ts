/** Any value that JSON text can carry. */
export type JsonValue = string | number | boolean | null | JsonValue[] | JsonObject;

/** A JSON object; a missing key reads as `undefined`. */
export interface JsonObject {
  [key: string]: JsonValue | undefined;
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A member by a name that somebody has given: what every object has by itself, such as `constructor`, is none. */
export function ownMember<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

export function isJsonValue(value: unknown): value is JsonValue {
  switch (typeof value) {
    case "string":
    case "boolean":
      return true;
    case "number":
      return Number.isFinite(value);
    case "object":
      if (value === null) return true;
      if (Array.isArray(value)) return value.every(isJsonValue);
      return Object.values(value).every((entry) => entry === undefined || isJsonValue(entry));
    default:
      return false;
  }
}

export function isJsonObject(value: unknown): value is JsonObject {
  return isRecord(value) && isJsonValue(value);
}

/** Parses text that is expected to be JSON; `undefined` when it is not. */
export function parseJson(text: string): JsonValue | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonValue(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Text as the JSON that it is written as, else as it is. */
export function textAsJson(text: string): JsonValue {
  const value = parseJson(text);
  return value === undefined ? text : value;
}

/** Two JSON values say the same, whatever the order of their keys. */
export function isSameJson(left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  return canonicalJson(left) === canonicalJson(right);
}

function canonicalJson(value: JsonValue | undefined): string {
  return JSON.stringify(value, (_key, entry: unknown) =>
    isRecord(entry) ? Object.fromEntries(Object.entries(entry).toSorted(([a], [b]) => (a < b ? -1 : 1))) : entry,
  );
}
