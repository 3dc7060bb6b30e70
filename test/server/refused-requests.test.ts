import { describe, expect, it } from "vitest";
import { RefusedRequests } from "../../src/server/refused-requests.ts";
import { sayRaw } from "../support/raw-http.ts";
import { TestServer } from "../support/runtime.ts";

describe("requests that cannot be read", () => {
  it("are counted, and headers may be as large as the setting says", async () => {
    const server = await TestServer.inMemory({ headerLimitBytes: "64" });
    const ask = (size: number): Promise<string> =>
      sayRaw(server.endpointUrl, `GET /x HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nx-large: ${"x".repeat(size)}\r\n\r\n`);
    expect(await ask(60_000)).toMatch(/^HTTP\/1\.1 404 /);
    expect(await ask(70_000)).toMatch(/^HTTP\/1\.1 431 /);
    expect(await sayRaw(server.endpointUrl, "nonsense\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await sayRaw(server.endpointUrl, "GET /x HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await sayRaw(server.endpointUrl, "GET /x HTTP/1.1\r\nconnection: close\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await sayRaw(server.endpointUrl, "GET /x HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 404 /);
    const metrics = await (await fetch(`${server.apiUrl}/metrics`, { headers: { authorization: `Bearer ${server.apiKey}` } })).text();
    expect(metrics).toContain('headwater_requests_refused_total{status="431"} 1\nheadwater_requests_refused_total{status="400"} 3\n');
  });

  it("are logged with whoever sent them and the reason, and no more than twenty a minute", () => {
    const lines: unknown[] = [];
    const counts: string[] = [];
    let now = 1000;
    const refused = new RefusedRequests({
      clock: { now: () => now },
      log: { warn: (text, facts) => void lines.push([text, facts]) },
      count: (status) => void counts.push(status),
    });
    const one = { status: "431 Request Header Fields Too Large", reason: "Parse Error: Header overflow", address: "203.0.113.7" };
    for (let count = 0; count < 25; count++) refused.note(one);
    expect(lines).toHaveLength(20);
    expect(lines[0]).toEqual(["a request could not be read", one]);
    now += 60_000;
    refused.note(one);
    expect(lines[20]).toEqual(["a request could not be read", { ...one, untold: 5 }]);
    expect(counts).toEqual(Array.from({ length: 26 }, () => "431"));
  });
});
