import { basicToken } from "../account/basic-auth.ts";
import { type JsonObject, type JsonValue, isJsonObject, isRecord, textAsJson } from "../text/json.ts";
import { STARS, fieldTexts, textsIn } from "../account/secrets.ts";
import { type CheckedProp, type Input, type PropKind, inputFacts, inputOf, isNothing } from "./prop-kind.ts";

export interface HttpRequestProp extends Input {
  readonly kind: "http-request";
  readonly default?: JsonObject;
}

export const httpRequestKind: PropKind<HttpRequestProp> = {
  kind: "http-request",
  types: ["http_request"],
  read: (name, { raw }) => ({ kind: "http-request", ...inputOf(name, raw), ...(isJsonObject(raw["default"]) ? { default: raw["default"] } : {}) }),
  facts: (prop) => ({ ...inputFacts(prop), type: "http_request", default: prop.default }),
  check,
  sample: (prop) => ({ url: "http://127.0.0.1/", ...prop.default }),
  secret: {
    isIn: (_prop, value) => isJsonObject(value) && (isJsonObject(value["auth"]) || headersOf(value).some(isSensitive)),
    starred: (value) => (isJsonObject(value) ? starredRequest(value) : STARS),
    texts: (value) => (isJsonObject(value) ? requestTexts(value) : []),
  },
  asking: { form: () => "JSON", isAskedAgain: false },
};

/** The value is `{ url, method, headers, params, body, auth }`, or the URL alone. */
function check(prop: HttpRequestProp, given: JsonValue | undefined): CheckedProp {
  const readable = typeof given === "string" ? textAsJson(given) : given;
  const request = isNothing(readable) ? prop.default : typeof readable === "string" ? { url: readable } : readable;
  if (request === undefined)
    return prop.optional ? {} : { problem: `needs a request as JSON, e.g. ${prop.name}='{"url":"https://…","method":"GET"}'`, isMissing: true };
  if (!isRecord(request)) return { problem: `must be a request as a JSON object, got ${JSON.stringify(given)}` };
  const whole = { ...prop.default, ...request };
  if (typeof whole.url === "string" && whole.url !== "") return { value: whole };
  return prop.optional && isNothing(given)
    ? {}
    : { problem: `needs the url of the request, e.g. ${prop.name}='{"url":"https://…"}'`, isMissing: isNothing(given) };
}

const SENSITIVE_HEADER = /authorization|cookie|token|secret|key|password|signature/i;

function isSensitive({ name }: JsonObject): boolean {
  return SENSITIVE_HEADER.test(String(name));
}

function headersOf({ headers }: JsonObject): JsonObject[] {
  if (isJsonObject(headers)) return Object.entries(headers).map(([name, value]) => ({ name, value }));
  return Array.isArray(headers) ? headers.filter(isJsonObject) : [];
}

function starredRequest(request: JsonObject): JsonObject {
  const { auth, headers } = request;
  return {
    ...request,
    ...(isJsonObject(auth) ? { auth: Object.fromEntries(Object.entries(auth).map(([name, value]) => [name, name === "type" ? value : STARS])) } : {}),
    ...(Array.isArray(headers) ? { headers: headersOf(request).map((header) => (isSensitive(header) ? { ...header, value: STARS } : header)) } : {}),
    ...(isJsonObject(headers)
      ? { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, isSensitive({ name }) ? STARS : value])) }
      : {}),
  };
}

function requestTexts(request: JsonObject): string[] {
  const { type: _kind, ...auth } = isJsonObject(request["auth"]) ? request["auth"] : {};
  const { username, password } = auth;
  const basic = typeof username === "string" && typeof password === "string" ? [basicToken(username, password)] : [];
  const headers = headersOf(request)
    .filter(isSensitive)
    .flatMap(({ value }) => textsIn(value))
    .flatMap((text) => [text, text.replace(/^\w+ /, "")]);
  return [...fieldTexts(auth), ...textsIn(password), ...basic, ...headers];
}
