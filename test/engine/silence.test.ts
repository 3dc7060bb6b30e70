import { describe, expect, it } from "vitest";
import { TestServer } from "../support/runtime.ts";

const source = (run: string, props = ""): string => `export default { name: "t", version: "1", props: { ${props} }, async run(event) { ${run} } };`;
const plain = 'http: "$.interface.http",';
const custom = 'http: { type: "$.interface.http", customResponse: true },';

async function logsOfRequest(code: string): Promise<string[]> {
  const server = await TestServer.inMemory();
  const deployed = await server.deploy(code);
  await fetch(deployed.endpoint);
  const [run] = await deployed.invocations();
  return deployed.logs(run ?? {});
}

describe("what has no effect is told in the log of the run", () => {
  it("respond without customResponse", async () => {
    expect(await logsOfRequest(source("this.http.respond({ status: 404 });", plain))).toEqual([
      "respond had no effect: the prop has no customResponse: true, so the client gets the default answer",
    ]);
  });

  it("a second respond", async () => {
    expect(await logsOfRequest(source("this.http.respond({ status: 202 }); this.http.respond({ status: 404 });", custom))).toEqual([
      "respond had no effect: only the first response of a run counts",
    ]);
  });

  it("a ts that was taken for seconds, with both readings, once for all of a run", async () => {
    const server = await TestServer.inMemory();
    const deployed = await server.deploy(source("for (let n = 0; n < 3; n++) this.$emit(n, { ts: 1700000000 + n }); this.$emit(3, { ts: Date.now() });"));
    expect(await deployed.logs(await deployed.run())).toEqual([
      "The time 1700000000, and 2 more like it, was read as seconds: 2023-11-14T22:13:20.000Z. In milliseconds, the unit of ts and delivery_ts, it would be 1970-01-20T16:13:20.000Z",
    ]);
  });
});

describe("a prop", () => {
  it("with a static timer refuses another schedule, and an update to a static one drops what was configured", async () => {
    const server = await TestServer.inMemory();
    const code = source("", 'timer: { type: "$.interface.timer", static: { intervalSeconds: 60 } },');
    await expect(server.deploy(code, { props: { timer: { intervalSeconds: 5 } } })).rejects.toMatchObject({
      code: "PD_BAD_PROPS",
      message: expect.stringContaining('timer is fixed by the component at {"intervalSeconds":60}: omit it, got {"intervalSeconds":5}'),
    });
    const open = await server.deploy(code.replace("static", "default"), { props: { timer: { intervalSeconds: 500 } } });
    expect(await open.update({ component_code: code })).toMatchObject({ configured_props: { timer: { interval_seconds: 60 } } });
  });

  it("with a timer of which nothing is left is told as a problem of the source, unless that is off", async () => {
    const server = await TestServer.inMemory();
    const deployed = await server.deploy(source("", 'timer: { type: "$.interface.timer", default: { cron: "0 0 9 1 1 * 2020" } },'));
    const problems = ["its prop timer never fires again: cron 0 0 9 1 1 * 2020 (UTC) is over"];
    expect(await server.api.get(deployed.path)).toMatchObject({ data: { problems } });
    expect(await deployed.update({ active: false })).not.toHaveProperty("problems");
    expect(await deployed.update({ active: true, configured_props: { timer: { cron: "0 9 * * *" } } })).not.toHaveProperty("problems");
  });

  it("keeps the catchUp of a timer's default", async () => {
    const server = await TestServer.inMemory();
    const deployed = await server.deploy(source("", 'timer: { type: "$.interface.timer", default: { intervalSeconds: 60, catchUp: "all" } },'));
    expect(await server.api.get(deployed.path)).toMatchObject({ data: { timers: [{ catch_up: "all" }] } });
  });

  it.each([
    ["integer", '"5"', 5],
    ["boolean", '"false"', false],
    ["integer[]", '["1", 2]', [1, 2]],
  ])("of type %s with the default %s arrives as its type", async (type, given, wanted) => {
    const server = await TestServer.inMemory();
    const deployed = await server.deploy(source("return this.p;", `p: { type: "${type}", default: ${given} },`));
    expect(await deployed.run()).toMatchObject({ returned: wanted });
  });
});
