import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { deploy } from "../../src/cli/commands/sources/deploy.ts";
import { withBar } from "../../src/cli/spinner.ts";
import { migrationWords, stepWords } from "../../src/cli/context.ts";
import { dataOf } from "../support/api.ts";
import { Gate } from "../support/gate.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer, eventually } from "../support/runtime.ts";
import { Terminal } from "../support/terminal.ts";

const stopsAt = ({ url }: Gate): string =>
  `export default { name: "Slow", version: "1", props: { http: "$.interface.http" }, hooks: { async activate() { await fetch("${url}"); } }, run() {} };`;

const ID = "a-request-of-mine";

describe("whoever waits", () => {
  it("sees at the terminal which step it is that takes so long", async () => {
    const server = await TestServer.start();
    const gate = await Gate.open();
    const path = join(await temporaryFolder(), "slow.mjs");
    await writeFile(path, stopsAt(gate));
    const terminal = new Terminal(server.home);
    const done = deploy(terminal.cli, path, {});
    await terminal.sees("Running hook activate");
    await terminal.sees("Running hook activate … 1 s");
    gate.release();
    expect(await done).toBe(0);
    await terminal.sees("Deployed slow");
  });

  it("asks the API for the step of a request of its own, by the id that it gave it; a stranger, or another key, is told nothing", async () => {
    const server = await TestServer.start();
    const gate = await Gate.open();
    const { key = "" } = await server.client.keys.create({ name: "other" });
    const told = async (id: string, as = server.apiKey) => {
      const answer = await fetch(`${server.apiUrl}/v1/progress/${id}`, { headers: { authorization: `Bearer ${as}` } });
      return [answer.status, dataOf(JSON.parse(await answer.text()))];
    };
    const deployed = fetch(`${server.apiUrl}/v1/sources`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json", "pd-progress": ID },
      body: JSON.stringify({ component_code: stopsAt(gate) }),
    });
    await gate.reached;
    expect(await told(ID)).toEqual([200, { step: "hook", subject: "activate", elapsed_ms: expect.any(Number) }]);
    expect(await told("another-request")).toEqual([200, {}]);
    expect(await told(ID, key)).toEqual([200, {}]);
    expect((await told(ID, "none"))[0]).toBe(401);
    gate.release();
    expect((await deployed).status).toBe(200);
    expect(await told(ID)).toEqual([200, {}]);
  });

  it("is answered also when the id of the request is not one, or too long", async () => {
    const server = await TestServer.start();
    for (const id of ["x", "a b", "y".repeat(10_000)]) {
      const answer = await fetch(`${server.apiUrl}/v1/sources/dc_none/run`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.apiKey}`, "pd-progress": id },
      });
      expect(answer.status).toBe(404);
    }
  });

  it("sees how much is done, and what is told meanwhile stands above it", async () => {
    const terminal = new Terminal(await temporaryFolder());
    let goOn = (): void => {};
    const paused = new Promise<void>((resolve) => (goOn = resolve));
    const done = withBar(terminal.cli, "Pulling", async ({ tick, above }) => {
      tick(5, 10, "5 of 10, orders");
      await paused;
      above(() => terminal.cli.stdout.write("Updated orders\n"));
      return "all";
    });
    await terminal.sees("Pulling ██████████░░░░░░░░░░ 5 of 10, orders");
    goOn();
    expect(await done).toBe("all");
    await terminal.sees("Updated orders\n");
  });

  it("is shown nothing that a terminal would obey, and no more than fits", async () => {
    const terminal = new Terminal(await temporaryFolder());
    let goOn = (): void => {};
    const paused = new Promise<void>((resolve) => (goOn = resolve));
    const done = withBar(terminal.cli, "Pulling", async ({ tick }) => {
      tick(0, 1, `\u001b]0;title\u0007${"x".repeat(500)}`);
      await paused;
    });
    const shown = await terminal.sees(`\\u001b]0;title\\u0007${"x".repeat(100)}`);
    expect(shown).not.toContain("x".repeat(200));
    goOn();
    await done;
  });

  it("is told a step in words", () => {
    expect(stepWords({ step: "installing", subject: "axios@1.7", elapsed_ms: 3400 })).toBe("Installing axios@1.7 … 3 s");
    expect(stepWords({ step: "bundling", elapsed_ms: 10 })).toBe("Bundling");
    expect(stepWords({ step: "fetching", subject: "a".repeat(100) })).toHaveLength("Fetching ".length + 60);
    expect([stepWords({}), stepWords(undefined), stepWords({ step: "something newer" })]).toEqual([undefined, undefined, undefined]);
  });

  it("is shown how far a server is that brings the database of an earlier version to its own", () => {
    const log = "2026-01-01T00:00:00.000Z info something\n2026-01-01T00:00:01.000Z info migrating the database to a newer schema revision=5 of 10\n";
    expect(migrationWords(log)).toBe("Migrating the database ██████████░░░░░░░░░░ 5 of 10");
    expect(migrationWords(`${log}2026-01-01T00:00:02.000Z info listening\n`)).toBeUndefined();
    expect(migrationWords("")).toBeUndefined();
  });

  it("is told which packages are being installed, and nothing of those that are there", async () => {
    const server = await TestServer.start();
    const code = 'import ms from "ms"; export default { name: "Ms", version: "1", run() { ms(1); } };';
    const steps: string[] = [];
    const installing = fetch(`${server.apiUrl}/v1/components/describe`, {
      method: "POST",
      headers: { authorization: `Bearer ${server.apiKey}`, "content-type": "application/json", "pd-progress": ID },
      body: JSON.stringify({ component_code: code, env: {} }),
    });
    const seen = eventually(async () => {
      const { step, subject } = await server.client.server.progress(ID);
      if (step !== undefined) steps.push(`${step} ${subject ?? ""}`);
      return steps.includes("installing ms");
    });
    expect((await installing).status).toBe(200);
    await seen;
  });
});
