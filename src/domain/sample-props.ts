import type { JsonObject, JsonValue } from "./json.ts";
import type { PropDeclaration, UserProp } from "./prop.ts";

/** Values that fit the declarations, made up: enough to configure a component that is only tried out. */
export function sampleProps(declared: readonly PropDeclaration[]): JsonObject {
  return Object.fromEntries(
    declared.flatMap((prop) => {
      const value = sampleValue(prop);
      return value === undefined ? [] : [[prop.name, value]];
    }),
  );
}

function sampleValue(prop: PropDeclaration): JsonValue | undefined {
  switch (prop.kind) {
    case "app":
      return { oauth_access_token: "sample", oauth_uid: "sample", api_key: "sample" };
    case "data-store":
      return "sample";
    case "http-request":
      return { url: "http://127.0.0.1/", ...prop.default };
    case "sql":
      return "select 1";
    case "user":
      return prop.default === undefined ? (prop.isArray ? [sampleScalar(prop)] : sampleScalar(prop)) : undefined;
    case "http":
    case "timer":
    case "app-hook":
    case "db":
    case "alert":
    case "dir":
      return undefined;
  }
}

function sampleScalar({ scalar, options = [], min, max }: UserProp): JsonValue {
  const [first] = options;
  if (first !== undefined) return first.value;
  switch (scalar) {
    case "integer":
      return min ?? Math.min(1, max ?? 1);
    case "boolean":
      return true;
    case "object":
      return {};
    case "string":
    case "any":
      return "sample";
  }
}
