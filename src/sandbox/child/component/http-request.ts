import { isRecord } from "../../../domain/text/json.ts";

export function httpRequest(configured: unknown): object {
  const described = isRecord(configured) ? configured : {};
  const request = { ...described };
  Object.defineProperty(request, "execute", { value: () => execute(request), enumerable: false });
  return request;
}

/** Published components expect these fields. When the status is not 2xx, throws an Error with them as `response`. */
async function execute(request: Record<string, unknown>): Promise<unknown> {
  const url = new URL(textOf(request["url"]));
  for (const [name, value] of pairs(request["params"])) url.searchParams.append(name, value);
  const headers = new Headers(pairs(request["headers"]));
  const authorization = authorizationOf(request["auth"]);
  if (authorization !== undefined && !headers.has("authorization")) headers.set("authorization", authorization);
  const method = (textOf(request["method"]) || "GET").toUpperCase();
  const body = method === "GET" || method === "HEAD" ? undefined : bodyOf(request["body"]);
  if (body?.type !== undefined && !headers.has("content-type")) headers.set("content-type", body.type);
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: body.content }) });
  const data = parsed(await response.text());
  const answer = { status: response.status, statusText: response.statusText, headers: Object.fromEntries(response.headers), data };
  if (response.ok) return answer;
  const error = new Error(`${method} ${url.origin}${url.pathname} was answered with status ${response.status}`);
  throw Object.assign(error, { response: answer });
}

function pairs(given: unknown): [string, string][] {
  if (isRecord(given)) return Object.entries(given).map(([name, value]) => [name, textOf(value)]);
  if (!Array.isArray(given)) return [];
  return given.filter(isRecord).flatMap(({ name, value, disabled }): [string, string][] => {
    const isUsed = disabled !== true && typeof name === "string" && name !== "";
    return isUsed ? [[name, textOf(value)]] : [];
  });
}

function authorizationOf(auth: unknown): string | undefined {
  if (!isRecord(auth)) return undefined;
  const { type, username, password, token } = auth;
  if (type === "basic" || (type === undefined && username !== undefined))
    return `Basic ${Buffer.from(`${textOf(username)}:${textOf(password)}`).toString("base64")}`;
  return token === undefined || token === "" ? undefined : `Bearer ${textOf(token)}`;
}

interface Body {
  readonly content: string | URLSearchParams | FormData;
  readonly type?: string;
}

/** Accepts `{ mode: "raw", raw, contentType }` or `{ mode: "fields", fields, contentType }`. Text is unchanged, anything else becomes JSON. */
function bodyOf(given: unknown): Body | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  if (typeof given === "string") return { content: given };
  if (!isRecord(given)) return { content: JSON.stringify(given), type: "application/json" };
  const { mode, raw, fields, contentType, type } = given;
  const named = textOf(contentType) || (typeof type === "string" && type.includes("/") ? type : "");
  if (mode === "raw" || (mode === undefined && raw !== undefined))
    return typedAs(typeof raw === "string" ? raw : JSON.stringify(raw), named || "application/json");
  if (mode !== "fields" && fields === undefined) return { content: JSON.stringify(given), type: "application/json" };
  if (named.startsWith("application/x-www-form-urlencoded")) return { content: new URLSearchParams(pairs(fields)) };
  if (named.startsWith("multipart/form-data")) return { content: formOf(fields) };
  return { content: JSON.stringify(Object.fromEntries(fieldValues(fields))), type: "application/json" };
}

function typedAs(content: string, type: string): Body {
  return { content, type };
}

function formOf(fields: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of pairs(fields)) form.append(name, value);
  return form;
}

function fieldValues(fields: unknown): [string, unknown][] {
  if (!Array.isArray(fields)) return isRecord(fields) ? Object.entries(fields) : [];
  return fields.filter(isRecord).map(({ name, value }) => [textOf(name), value]);
}

function textOf(value: unknown): string {
  return value === undefined || value === null ? "" : typeof value === "string" ? value : JSON.stringify(value);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
