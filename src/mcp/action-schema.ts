import type { PropRecord } from "../api/props.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";

const WITHOUT_VALUE = /^(\$\.interface\.|\$\.service\.db$|alert$|dir$)/;
const SINGLE: Readonly<Record<string, JsonObject>> = {
  string: { type: "string" },
  integer: { type: "integer" },
  boolean: { type: "boolean" },
  object: { type: "object" },
  any: {},
  sql: { type: "string" },
  http_request: { type: "object" },
  data_store: { type: "string" },
};

/** An agent chooses accounts by name. */
export function isArgument({ type, hidden, disabled, readOnly }: PropRecord): boolean {
  return !WITHOUT_VALUE.test(type) && type !== "app" && hidden !== true && disabled !== true && readOnly !== true;
}

export function argumentSchema(prop: PropRecord): JsonObject {
  const { type, label, description, default: usual, min, max, options } = prop;
  const isList = type.endsWith("[]");
  const item: JsonObject = { ...SINGLE[type.replace(/\[\]$/, "").replace(/^\$\.service\./, "")], ...choicesOf(options) };
  const words = [label, description].filter((text) => text !== undefined && text !== "").join(". ");
  const bounds = { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
  return {
    ...(isList ? { type: "array", items: { ...item, ...bounds } } : { ...item, ...bounds }),
    ...(words === "" ? {} : { description: words }),
    ...(usual === undefined || usual === null ? {} : { default: usual }),
  };
}

function choicesOf(options: PropRecord["options"]): JsonObject {
  if (options === undefined || options.length === 0) return {};
  const values = options.map(({ value }): JsonValue => value);
  return options.every(({ label, value }) => label === String(value))
    ? { enum: values }
    : { oneOf: options.map(({ label, value }) => ({ const: value, title: label })) };
}
