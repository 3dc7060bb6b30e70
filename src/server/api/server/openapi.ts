import * as z from "zod";
import { error } from "../../../api/declare.ts";
import type { JsonObject } from "../../../domain/text/json.ts";
import { type Route, addressesOf } from "../route.ts";

interface PlainCall {
  readonly path: string;
  readonly summary: string;
  readonly type: "text/plain" | "text/event-stream" | "application/vnd.sqlite3";
  readonly isOpen?: true;
}

/** They do not answer with JSON. */
const PLAIN_CALLS: readonly PlainCall[] = [
  { path: "/healthz", summary: "The server is alive", type: "text/plain", isOpen: true },
  { path: "/readyz", summary: "The server accepts requests", type: "text/plain", isOpen: true },
  { path: "/metrics", summary: "Metrics in the Prometheus text format", type: "text/plain" },
  { path: "/v1/backup", summary: "A consistent copy of the database as one SQLite file. Its secrets are sealed", type: "application/vnd.sqlite3" },
  { path: "/sse/dc/{id}/emits", summary: "Events of a source as they arrive. Last-Event-ID resumes", type: "text/event-stream" },
  { path: "/sources/{id}/sse", summary: "The same stream at another address", type: "text/event-stream" },
  { path: "/sse/dc/{id}/observations", summary: "Activity of a source: runs, log lines, failures", type: "text/event-stream" },
];

export function openApiDocument(routes: readonly Route[], { version, url }: { version: string; url: string }): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const call of PLAIN_CALLS) paths[call.path] = { get: plainOperation(call) };
  for (const declared of routes)
    for (const [method, path] of addressesOf(declared)) paths[path] = { ...paths[path], [method]: operation(declared, { method, path }) };
  return {
    openapi: "3.1.0",
    info: {
      title: "Headwater",
      version,
      description: "Event-source components on your own machine. Times ending in _ms are epoch ms, created_at and updated_at epoch seconds.",
    },
    servers: [{ url }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key: { type: "http", scheme: "bearer", description: "The key in the file api-key of PD_HOME, or one from pd keys create" } },
      responses: { Error: { description: "The error, and how to fix it", content: jsonContent(error, "output") } },
    },
  };
}

function plainOperation({ path, summary, type, isOpen }: PlainCall): JsonObject {
  return {
    tags: [type === "text/event-stream" ? "Streams" : "Server"],
    summary,
    parameters: partsOf(path),
    ...(isOpen === true ? { security: [] } : {}),
    responses: { "200": { description: "Done", content: { [type]: { schema: { type: "string" } } } }, default: { $ref: "#/components/responses/Error" } },
  };
}

function partsOf(path: string): JsonObject[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name: name ?? "", in: "path", required: true, schema: { type: "string" } }));
}

function operation({ tag, summary, params, answer, status, isOpen }: Route, { method, path }: { method: string; path: string }): JsonObject {
  const parts = partsOf(path);
  const described = describe(params, "input");
  const properties = isMembers(described["properties"]) ? described["properties"] : {};
  const hasBody = method === "post" || method === "put";
  const required = new Set(Array.isArray(described["required"]) ? described["required"] : []);
  const query = Object.entries(properties).map(([name, schema]) => ({ name, in: "query", required: required.has(name), schema }));
  return {
    tags: [tag],
    summary,
    ...(isOpen ? { security: [] } : {}),
    parameters: [...parts, ...(hasBody ? [] : query)],
    ...(hasBody && query.length > 0 ? { requestBody: { description: "Or in the query, or both", content: jsonContent(params, "input") } } : {}),
    responses: {
      [String(status)]: { description: "Done", ...(answer === undefined ? {} : { content: jsonContent(answer, "output") }) },
      default: { $ref: "#/components/responses/Error" },
    },
  };
}

function jsonContent(schema: z.ZodType, io: "input" | "output"): JsonObject {
  return { "application/json": { schema: describe(schema, io) } };
}

function describe(schema: z.ZodType, io: "input" | "output"): JsonObject {
  const { $schema: _dialect, ...described } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return JSON.parse(JSON.stringify(described));
}

function isMembers(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
