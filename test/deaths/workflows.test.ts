import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createClient, everyPage } from "../../src/client/client.ts";
import { eventually } from "../support/eventually.ts";
import { Gate } from "../support/gate.ts";
import { PdHome, killHard } from "../support/pd.ts";
import { codeStep, workflowOf } from "../support/workflows.ts";

async function folderOf(home: PdHome, files: Record<string, string>, name = "flow"): Promise<string> {
  for (const [path, text] of Object.entries(files)) await home.file(join(name, path), text);
  return join(home.folder, name);
}

const KILLS = Number(process.env["KILLS"] ?? 10);
const STEPS = Array.from({ length: 10 }, (_empty, index) => `step${index}`);

describe("a server with workflows that is killed", () => {
  it("leaves a delay that goes on after the next start, and costs no process meanwhile", async () => {
    const home = await PdHome.make();
    const steps = { first: codeStep("$.send.emit('first');"), wait: codeStep("$.flow.delay(1500);"), last: codeStep("$.send.emit('last');") };
    const server = await home.up();
    await home.pd("deploy", await folderOf(home, workflowOf(steps)));
    await home.pd("run", "test-flow");
    await killHard(server.child);
    await home.up();
    await eventually(async () => (await home.pd("runs", "test-flow", "--state", "succeeded")).stdout.includes("succeeded"));
    expect((await home.pd("events", "test-flow")).stdout).toBe('"first"\n"last"\n');
  });

  it("in a step that may not run twice: it fails, and is run again by hand", async () => {
    const home = await PdHome.make();
    const gate = await Gate.open();
    const code = (rest: string) => codeStep(`await fetch("${gate.url}"); ${rest}`);
    const folder = await folderOf(home, workflowOf({ once: code("return 1;") }, { head: "settings: { retries: 0 }\n" }));
    const server = await home.up();
    await home.pd("deploy", folder);
    await server.api.post("/v1/workflows/test-flow/runs");
    await gate.reached;
    await killHard(server.child);
    gate.release();
    await home.up();
    const failed = await eventually(async () => {
      const { stdout } = await home.pd("runs", "test-flow", "--failed");
      return stdout.includes("this step may not run twice") && stdout;
    });
    expect((await home.pd("rerun", /run_\w+/.exec(failed)?.[0] ?? "")).stdout).toContain("$return_value: 1");
  });

  it("in any step: each step's commit is there once, in order, and no acknowledged request is lost", async () => {
    const home = await PdHome.make();
    // Python steps emit nothing, so the next step emits what they return.
    const isPython = (index: number): boolean => index % 2 === 1;
    const python = (namespace: string): string =>
      `import time\ndef handler(pd):\n    time.sleep(0.015)\n    return {"n": pd.steps["trigger"]["event"]["body"], "step": "${namespace}"}\n`;
    const code = (namespace: string, before: string | undefined): string =>
      codeStep(
        `${before === undefined ? "" : `$.send.emit(steps.${before}.$return_value);`} await new Promise((end) => setTimeout(end, 15)); $.send.emit({ n: steps.trigger.event.body, step: "${namespace}" });`,
      );
    const codes = STEPS.map((namespace, index): [string, string] => [namespace, isPython(index) ? python(namespace) : code(namespace, STEPS[index - 1])]);
    const written = workflowOf(Object.fromEntries([...codes, ["end", codeStep(`$.send.emit(steps.${STEPS.at(-1)}.$return_value);`)]]), {
      head: "triggers:\n- http: {}\n",
    });
    const files = Object.fromEntries(
      Object.entries(written).map(([path, text]) => {
        if (path !== "workflow.yaml") return [isPython(Number(/^step(\d)/.exec(path)?.[1] ?? 0)) ? path.replace("entry.js", "entry.py") : path, text];
        return [path, text.replaceAll(/nodejs20\.x(\n {2}uses: "\.\/step[13579]\/entry)\.js/g, "python3.12$1.py")];
      }),
    );
    const folder = await folderOf(home, files);
    let server = await home.up();
    const { triggers } = await home.json("deploy", folder);
    const [trigger] = Array.isArray(triggers) ? triggers : [];
    const path = new URL(typeof trigger === "object" && trigger !== null && "endpoint_url" in trigger ? String(trigger["endpoint_url"]) : "").pathname;
    for (let n = 0; n < KILLS; n++) {
      const answer = await fetch(`${server.endpointUrl}${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: String(n) });
      expect(answer.status).toBe(200);
      const met = STEPS[n % STEPS.length];
      await eventually(async () => {
        const { data: events } = await server.api.get("/v1/workflows/test-flow/event_summaries?limit=1000");
        return n % STEPS.length === 0 || JSON.stringify(events).includes(`{"n":${n},"step":"${STEPS[(n % STEPS.length) - 1]}"}`) || met === undefined;
      });
      await killHard(server.child);
      server = await home.up();
    }
    await eventually(async () => (await home.pd("runs", "test-flow", "-n", "1000", "--state", "succeeded")).stdout.split("\n").length > KILLS);
    const client = createClient({ baseUrl: server.apiUrl, key: server.apiKey });
    const events = await everyPage((page) => client.events.list("test-flow", page));
    const seen = events.toReversed().map(({ event }) => JSON.stringify(event));
    for (let n = 0; n < KILLS; n++) expect(seen.filter((event) => event.startsWith(`{"n":${n},`))).toEqual(STEPS.map((step) => JSON.stringify({ n, step })));
  });
});
