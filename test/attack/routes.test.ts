import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TestServer } from "../support/runtime.ts";
import { startAttacked } from "./attacked-server.ts";

const ODD = [
  "",
  "0",
  "-1",
  "null",
  "..",
  "../../etc/passwd",
  "%00",
  "\u0000",
  "a".repeat(5000),
  "__proto__",
  "constructor",
  "dc_",
  "dc_nobody",
  "inv_1",
  "*",
  "'; drop table events; --",
  "é💥",
  "1e999",
  "[]",
  "{}",
];
const SLOWEST_MS = 10_000;
/** They change the whole server or ask a remote registry. */
const LEFT_OUT = new Set(["/v1/secrets/rotate", "/v1/components/search", "/v1/registries/update", "/v1/backup"]);

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly names: readonly string[];
}

async function operationsOf(server: TestServer): Promise<Operation[]> {
  const document: { paths: Record<string, Record<string, { parameters?: { name: string }[]; requestBody?: object }>> } = JSON.parse(
    await (await fetch(`${server.apiUrl}/v1/openapi.json`)).text(),
  );
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => {
      const members = [...JSON.stringify(requestBody ?? {}).matchAll(/"properties":(\{.*)/g)].flatMap(([, text = ""]) =>
        [...text.matchAll(/"(\w+)":\{"/g)].map(([, name = ""]) => name),
      );
      return { method: method.toUpperCase(), path, names: [...new Set([...parameters.map(({ name }) => name), ...members])] };
    }),
  );
}

/** In place of an answer that did not finish in time. */
const SILENT = 599;

async function answerOf(url: string, send: RequestInit): Promise<{ status: number; text: string }> {
  try {
    const answer = await fetch(url, { ...send, signal: AbortSignal.timeout(SLOWEST_MS) });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: SILENT, text: String(error) };
  }
}

describe("the API", () => {
  it("answers whatever is sent to any of its routes, and fails at none", async () => {
    const { server } = await startAttacked();
    const source = await server.deploy(
      'export default { name: "t", version: "1", props: { http: "$.interface.http", db: "$.service.db" }, run() { this.$emit(1); } };',
    );
    await source.run();
    const operations = (await operationsOf(server)).filter(({ path }) => !LEFT_OUT.has(path) && !path.includes("sse"));
    expect(operations.length).toBeGreaterThan(40);
    const odd = fc.oneof(fc.constantFrom(...ODD, source.id, "t"), fc.string());
    const value = fc.oneof(odd, fc.jsonValue(), fc.integer());
    const failures: string[] = [];
    for (const { method, path, names } of operations) {
      const body = fc.dictionary(fc.constantFrom(...names, "x"), value);
      for (const [part, query, given] of fc.sample(fc.tuple(odd, fc.dictionary(fc.constantFrom(...names, "x"), odd), body), 8)) {
        const url = `${server.apiUrl}${path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(part) || "x")}?${new URLSearchParams(query).toString()}`;
        const began = performance.now();
        const send = {
          method,
          headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json" },
          ...(method === "GET" || method === "DELETE" ? {} : { body: JSON.stringify(given) }),
        };
        const { status, text } = await answerOf(url, send);
        if (status === 500 || status === SILENT)
          failures.push(
            `${method} ${path} ${JSON.stringify({ part, query, given })}: ${status} ${text.slice(0, 300)} after ${Math.round(performance.now() - began)} ms`,
          );
      }
    }
    expect(failures).toEqual([]);
    expect((await fetch(`${server.apiUrl}/healthz`)).status).toBe(200);
  });
});
