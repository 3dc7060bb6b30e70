import { describe, expect, it } from "vitest";
import { MAIL_ACCOUNT } from "../../src/domain/account/mail.ts";
import { eventually } from "../support/eventually.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Receiver } from "../support/receiver.ts";
import { TestServer } from "../support/runtime.ts";
import { SmtpServer } from "../support/smtp-server.ts";
import { codeStep, deployWorkflow, workflowOf } from "../support/workflows.ts";

const START = Date.parse("2026-03-05T10:00:00Z");
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const FAILS = 'export default { name: "Orders", version: "1", run(event) { if (event.fails) throw new Error("no customer " + (event.of ?? "")); } };';

async function serverWithMail(clock = new FakeClock(START)) {
  const [server, smtp] = [await TestServer.inMemory({}, clock), await SmtpServer.start()];
  const credentials = { host: "127.0.0.1", port: smtp.port, security: "none", from: "headwater@example.com", to: "ann@example.com" };
  await server.client.accounts.connect({ ...MAIL_ACCOUNT, credentials });
  /** Alerts look every second. */
  const pass = async (ms: number): Promise<void> => clock.setTo(clock.now() + ms);
  return { server, smtp, pass, clock };
}

describe("an alert", () => {
  it("of many failures is one mail; the next comes ten minutes later, and what fails elsewhere is not told", async () => {
    const { server, smtp, pass } = await serverWithMail();
    const [source, other] = [await server.deploy(FAILS), await server.deploy(FAILS)];
    await server.client.alerts.create({ source_id: source.id, via: "mail" });
    for (let count = 0; count < 100; count++) await source.run({ fails: true });
    await other.run({ fails: true });
    await pass(9 * SECOND);
    expect(smtp.received).toEqual([]);
    await pass(3 * SECOND);
    const [mail] = await eventually(async () => smtp.received.length > 0 && smtp.received);
    expect(mail).toMatchObject({ to: "ann@example.com", data: expect.stringContaining("100 =C3=97 Orders: failed: Error: no customer") });
    await source.run({ fails: true });
    await pass(5 * MINUTE);
    expect(smtp.received).toHaveLength(1);
    await pass(6 * MINUTE);
    await eventually(async () => smtp.received.length === 2);
  });

  it("of everything tells a webhook, signed, about sources, workflows and webhooks that were deactivated", async () => {
    const { server, pass } = await serverWithMail();
    const receiver = await Receiver.start();
    const hook = await server.client.webhooks.create({ url: receiver.url, name: "Ops" });
    const alert = await server.client.alerts.create({ via: hook.id });
    expect(alert).toMatchObject({ source_id: null, to: "Ops" });
    const source = await server.deploy(FAILS);
    const workflow = await deployWorkflow(server, workflowOf({ one: codeStep("throw new Error('no stock');") }, { head: "settings: { retries: 0 }\n" }));
    await source.run({ fails: true });
    await workflow.run({});
    await pass(11 * SECOND);
    const [told] = await eventually(async () => receiver.bodies.length > 0 && receiver.bodies);
    expect(told).toMatchObject({
      type: "alert",
      count: 2,
      problems: [
        { kind: "failed", id: source.id, name: "Orders" },
        { kind: "failed", id: workflow.id, text: expect.stringContaining("no stock"), first_run: expect.stringMatching(/^run_/) },
      ],
    });
    expect(receiver.received[0]?.headers["webhook-signature"]).toMatch(/^v1,/);
    const gone = await Receiver.start((response) => response.writeHead(410).end());
    const lost = await server.client.webhooks.create({ url: gone.url, name: "Lost" });
    await server.client.subscriptions.create({ emitter_id: source.id, listener_id: lost.id, event_name: "$errors" });
    await source.run({ fails: true, of: "again" });
    await eventually(async () => !(await server.client.webhooks.get(lost.id)).active);
    await pass(11 * MINUTE);
    await eventually(async () => receiver.bodies.length > 1);
    expect(JSON.stringify(receiver.bodies)).toContain("Lost: its receiver answered 410 Gone");
  });

  it("of everything tells once of a source that is not active any more, and not of one that was not before", async () => {
    const { server, pass } = await serverWithMail();
    const receiver = await Receiver.start();
    const [early, late] = [await server.deploy(FAILS), await server.deploy(FAILS)];
    await server.client.sources.update(early.id, { active: false });
    await server.client.alerts.create({ via: (await server.client.webhooks.create({ url: receiver.url })).id });
    await pass(2 * MINUTE);
    await server.client.sources.update(late.id, { active: false });
    await pass(15 * MINUTE);
    await eventually(async () => receiver.bodies.length > 0);
    expect(receiver.bodies).toMatchObject([{ count: 1, problems: [{ kind: "deactivated", id: late.id }] }]);
  });

  it("that cannot be sent is tried again, and loses nothing", async () => {
    const { server, pass } = await serverWithMail();
    const receiver = await Receiver.start((response, _request, count) => response.writeHead(count === 1 ? 500 : 200).end());
    const hook = await server.client.webhooks.create({ url: receiver.url });
    await server.client.alerts.create({ via: hook.id });
    const source = await server.deploy(FAILS);
    await source.run({ fails: true, of: 1 });
    await pass(11 * SECOND);
    await eventually(async () => receiver.bodies.length === 1);
    await source.run({ fails: true, of: 2 });
    await pass(2 * MINUTE);
    const [, again] = await eventually(async () => receiver.bodies.length > 1 && receiver.bodies);
    expect(again).toMatchObject({ count: 2 });
  });

  it("is tested by a button, told why it does not work, refused without a way, and gone when it is deleted", async () => {
    const { server, smtp } = await serverWithMail();
    const made = await server.client.alerts.create({ via: "mail", daily: true });
    expect(await server.client.alerts.test(made.id)).toEqual({ sent: true });
    expect(smtp.received[0]?.data).toContain("everything on the server");
    const dead = await server.client.webhooks.create({ url: "http://127.0.0.1:9/" });
    const broken = await server.client.alerts.create({ via: dead.id });
    expect(await server.client.alerts.test(broken.id)).toEqual({ sent: false, problem: expect.any(String) });
    await expect(server.client.alerts.create({ via: "wh_none" })).rejects.toMatchObject({ code: "PD_WEBHOOK_NOT_FOUND" });
    await expect(server.client.alerts.create({ via: "pigeon" })).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    await server.client.alerts.delete(made.id);
    expect((await server.client.alerts.list()).map(({ id }) => id)).toEqual([broken.id]);
    await expect(server.client.alerts.test(made.id)).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
  });

  it("sums up a day at 08:00, of a source alone or of all", async () => {
    const evening = new Date(START);
    evening.setHours(20, 0, 0, 0);
    const { server, smtp, clock } = await serverWithMail(new FakeClock(evening.getTime()));
    const source = await server.deploy(FAILS);
    await server.client.alerts.create({ source_id: source.id, via: "mail", daily: true });
    await source.run({});
    await clock.setTo(evening.getTime() + 11 * 60 * MINUTE);
    expect(smtp.received).toEqual([]);
    await clock.setTo(evening.getTime() + 12 * 60 * MINUTE + 2 * SECOND);
    const [mail] = await eventually(async () => smtp.received.length > 0 && smtp.received);
    expect(mail?.data).toContain("Orders: 1 run, 0 failed");
  });

  it("that waits is sent when the server stops", async () => {
    const { server, smtp } = await serverWithMail();
    const source = await server.deploy(FAILS);
    await server.client.alerts.create({ via: "mail" });
    await source.run({ fails: true });
    await server.stop();
    expect(smtp.received).toHaveLength(1);
  });
});
