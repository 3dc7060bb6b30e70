import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { dataOf } from "../support/api.ts";
import { PUBLISHED } from "../support/published.ts";
import { TestServer } from "../support/runtime.ts";
import { Upstream } from "../support/upstream.ts";
import { deployWorkflow, exportsOf } from "../support/workflows.ts";

/** Exactly as Git sync writes it. */
const EXPORTED = {
  "workflow.yaml": `org_id: o_XXXXXX
schema: workflow/2022.04
name: Triage An Issue
settings:
  error_notification: true
triggers:
- id: hi_XXXXXXX
steps:
- namespace: create_issue
  runtime: nodejs18.x
  uses: gitlab-create-issue@0.0.1
  props:
    gitlab:
      authProvisionId: apn_XXXXXX
    projectId: 7
    title: "{{steps.trigger.event.body.title}}"
    labels:
    - "{{steps.trigger.event.body.kind}}"
    - triage
- namespace: get_issue
  runtime: nodejs18.x
  uses: gitlab-get-issue@0.0.3
  props:
    gitlab:
      authProvisionId: apn_XXXXXX
    projectId: 7
    issueIid: "{{steps.create_issue.$return_value.iid}}"
- namespace: filterResults
  runtime: nodejs18.x
  uses: "./filterResults/entry.js"
- namespace: update_issue
  runtime: nodejs18.x
  uses: gitlab-update-issue@0.0.4
  props:
    gitlab:
      authProvisionId: apn_XXXXXX
    projectId: 7
    issueIid: "{{steps.create_issue.$return_value.iid}}"
    title: "{{steps.filterResults.title}}"
- namespace: respond
  runtime: nodejs20.x
  uses: "./respond/entry.js"
`,
  "filterResults/entry.js": `export default defineComponent({
  async run({ steps, $ }) {
    $.export("title", steps.get_issue.$return_value.title.toUpperCase());
  },
})
`,
  "respond/entry.js": `export default defineComponent({
  async run({ steps, $ }) {
    await $.respond({ status: 201, headers: {}, body: { iid: steps.create_issue.$return_value.iid, title: steps.update_issue.$return_value.title } });
  },
})
`,
  ".workflow.state": "# THIS FILE IS AUTO-GENERATED, DO NOT EDIT\n---\nschema: workflow.state/2022.04\nid: p_ezCxVPk\n",
};

describe("a folder that the hosted platform has exported", () => {
  it("runs unchanged: a request, three published actions with an account of elsewhere, code between them, and the answer", async () => {
    const issues: JsonObject[] = [];
    const gitlab = await Upstream.overTls(({ method, url, body }) => {
      if (method === "POST") issues.push({ iid: 12, title: String(body["title"]), labels: String(body["labels"]) });
      if (method === "PUT") issues[0] = { ...issues[0], title: String(body["title"]) };
      return { body: url.includes("/issues") ? (issues[0] ?? {}) : {} };
    });
    const server = await TestServer.start();
    await server.api.post("/v1/registries", { name: "published", kind: "folder", location: PUBLISHED });
    const credentials = { oauth_access_token: "hush", base_api_url: gitlab.host };
    await server.api.post("/v1/accounts", { app: "gitlab", name: "work", credentials });
    // The upstream's certificate is self-signed.
    const workflow = await deployWorkflow(server, EXPORTED, { accounts: { apn_XXXXXX: "work" }, env: { NODE_TLS_REJECT_UNAUTHORIZED: "0" } });
    const taken = (step: string): unknown =>
      expect.stringMatching(
        new RegExp(`step ${step} uses gitlab-[a-z-]+@[\\d.]+, which is neither published here nor the newest in a registry: using [\\d.]+`),
      );
    expect([workflow.id, workflow.record["warnings"]]).toEqual([
      "p_ezCxVPk",
      [expect.stringContaining("settings.error_notification sends no mail"), ...["create_issue", "get_issue", "update_issue"].map(taken)],
    ]);
    const answer = await fetch(workflow.endpoint, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: '{"title":"it leaks","kind":"bug"}',
    });
    expect([answer.status, await answer.json()]).toEqual([201, { iid: 12, title: "IT LEAKS" }]);
    expect(gitlab.calls.map(({ method, url, headers }) => [method, url, headers.authorization])).toEqual([
      ["POST", "/api/v4/projects/7/issues", "Bearer hush"],
      ["GET", "/api/v4/projects/7/issues/12", "Bearer hush"],
      ["PUT", "/api/v4/projects/7/issues/12", "Bearer hush"],
    ]);
    const [run] = await workflow.runsOnce(1);
    const done = await workflow.rest(run ?? {});
    expect(exportsOf(done, "create_issue")).toMatchObject({ $summary: "Created issue it leaks" });
    expect(JSON.stringify(done)).not.toContain("hush");
    expect(dataOf(await server.api.get(`${workflow.path}/files`))).toMatchObject({ files: { "workflow.yaml": EXPORTED["workflow.yaml"] } });
  });
});
