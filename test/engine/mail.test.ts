import { describe, expect, it } from "vitest";
import { MAIL_ACCOUNT } from "../../src/domain/account/mail.ts";
import { eventually } from "../support/eventually.ts";
import { TestServer } from "../support/runtime.ts";
import { SmtpServer } from "../support/smtp-server.ts";
import { codeStep, deployWorkflow, exportsOf, workflowOf } from "../support/workflows.ts";

const MAIL = codeStep('$.send.email({ subject: "Ünter", text: "Hello", html: "<b>Hello</b>" }); return 1;');
const after = codeStep("return steps.mail.$return_value;");

async function setUp(server: TestServer, port: number, more: object = {}): Promise<void> {
  const credentials = { host: "127.0.0.1", port, security: "none", from: "pd@example.com", to: "me@example.com", ...more };
  await server.api.post("/v1/accounts", { ...MAIL_ACCOUNT, credentials });
}

describe("mail of a step", () => {
  it("leaves through the server that is set up, to its user", async () => {
    const [server, smtp] = [await TestServer.inMemory(), await SmtpServer.start()];
    await setUp(server, smtp.port, { username: "me", password: "s3cret" });
    const workflow = await deployWorkflow(server, workflowOf({ mail: MAIL, after }));
    expect(workflow.record["warnings"]).toEqual([]);
    const run = await workflow.run();
    expect([run["state"], run.steps[0]]).toMatchObject(["succeeded", { state: "done", sends: [{ to: "email", status: 250 }] }]);
    const [mail] = smtp.received;
    expect(mail).toMatchObject({ from: "pd@example.com", to: "me@example.com", login: "me s3cret" });
    expect(mail?.data).toMatch(/^Subject: =\?UTF-8\?/im);
    expect(mail?.data).toContain("<b>Hello</b>");
  });

  it("fails the step where no server is set up, and whoever deploys it is told", async () => {
    const server = await TestServer.inMemory();
    const workflow = await deployWorkflow(server, workflowOf({ mail: MAIL, after }));
    expect(workflow.record["warnings"]).toEqual([
      expect.stringMatching(/^workflow\.yaml:4: the e-mail of step mail will fail the step: no SMTP server is configured: run pd config smtp/),
    ]);
    const run = await workflow.run();
    expect([run["state"], run["failure"]]).toMatchObject([
      "failed",
      { namespace: "mail", message: expect.stringContaining("Its e-mail was not sent: no SMTP server is configured") },
    ]);
  });

  it.each([
    ["settings", { head: "settings: { email: optional }\n" }, ""],
    ["the step", {}, "  email: optional\n"],
  ])("is not sent, and said to be so, where %s lets the run go on without", async (_name, more, ofStep) => {
    const server = await TestServer.inMemory();
    const files = workflowOf({ after: after.replaceAll("steps.mail.$return_value", "2"), mail: MAIL }, more);
    const workflow = await deployWorkflow(server, { ...files, "workflow.yaml": `${files["workflow.yaml"] ?? ""}${ofStep}` });
    const run = await workflow.run();
    expect([run["state"], exportsOf(run, "mail"), run.steps[1]]).toMatchObject([
      "succeeded",
      { $return_value: 1 },
      { state: "not sent", sends: [{ problem: expect.stringContaining("not sent: no SMTP") }] },
    ]);
  });

  it("gives its server's password to no step that names the app, unless somebody says so", async () => {
    const server = await TestServer.inMemory();
    await setUp(server, 1, { password: "s3cret" });
    const files = workflowOf({ take: codeStep("return this.mail.$auth;", `mail: { type: "app", app: "${MAIL_ACCOUNT.app}" }`) });
    const yaml = `${files["workflow.yaml"] ?? ""}  props: { mail: { authProvisionId: apn_any } }\n`;
    await expect(deployWorkflow(server, { ...files, "workflow.yaml": yaml })).rejects.toMatchObject({ code: "PD_ACCOUNT_NOT_FOUND" });
  });

  it("that its server refuses fails the step with what that says", async () => {
    const [server, smtp] = [await TestServer.inMemory(), await SmtpServer.start({ refusal: "550 we do not know you" })];
    await setUp(server, smtp.port);
    const run = await (await deployWorkflow(server, workflowOf({ mail: MAIL }))).run();
    expect(run["failure"]).toMatchObject({ message: expect.stringMatching(/not sent: 127\.0\.0\.1:\d+ says .*550 we do not know you/) });
  });

  it("is not sent for a step that fails, nor while a run is tried out", async () => {
    const [server, smtp] = [await TestServer.inMemory(), await SmtpServer.start()];
    await setUp(server, smtp.port);
    const failing = codeStep('$.send.email({ subject: "x", text: "y" }); if (steps.trigger.event.fails) throw new Error("no");');
    const workflow = await deployWorkflow(server, workflowOf({ mail: failing }));
    await workflow.run({ fails: true });
    await workflow.update({ files: workflowOf({ mail: failing.replace("throw new Error", "new Error") }) });
    expect(await server.api.post(`${workflow.path}/rehearse`, {})).toMatchObject({ data: [{ after: { state: "succeeded" } }] });
    expect(smtp.received).toEqual([]);
  });

  it("tells of a failed run, of the same failure once, where the file asks for it", async () => {
    const [server, smtp] = [await TestServer.inMemory(), await SmtpServer.start()];
    await setUp(server, smtp.port);
    const files = workflowOf(
      { only: codeStep("throw new Error(steps.trigger.event.why);") },
      { head: "settings: { error_notification: true }\n", name: "Orders" },
    );
    const workflow = await deployWorkflow(server, files);
    for (const why of ["one", "one", "two"]) await workflow.run({ why });
    await eventually(async () => smtp.received.length === 2);
    expect(smtp.received.map(({ data }) => /Error: (one|two)/.exec(data)?.[1])).toEqual(["one", "two"]);
    expect(smtp.received[0]?.data).toContain("Subject: Orders: only failed");
  });
});
