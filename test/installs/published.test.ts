import { describe, expect, it } from "vitest";
import { PdHome } from "../support/pd.ts";
import { published } from "../support/published.ts";
import { eventually } from "../support/runtime.ts";
import { Upstream } from "../support/upstream.ts";

async function payloads(home: PdHome, source: string): Promise<Record<string, unknown>[]> {
  const events: unknown = await home.json("events", source, "-n", "100");
  return Array.isArray(events) ? events : [];
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, { method: "POST", headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) });
}

describe("published components run unchanged:", () => {
  it("gitlab-new-project polls from where it was activated, tick after tick", async () => {
    const project = (id: number) => ({ id, name: `project ${id}`, created_at: `2026-01-0${id}T00:00:00Z` });
    const projects = [project(1)];
    const gitlab = await Upstream.overTls(({ url }) => {
      const after = Number(new URL(url, "http://x").searchParams.get("id_after") ?? 0);
      return { body: projects.filter(({ id }) => id > after).toReversed() };
    });
    const home = await PdHome.make();
    const source = await home.json(
      "deploy",
      published("gitlab/sources/new-project/new-project.mjs"),
      ...["--prop", `gitlab={"base_api_url":"${gitlab.host}","oauth_access_token":"t0ken"}`],
      ...["--prop", 'timer={"intervalSeconds":1}', "--env", "NODE_TLS_REJECT_UNAUTHORIZED=0"],
    );
    expect(source).toMatchObject({ name_slug: "new-project", component_version: "0.1.3", dedupe: "greatest", component_key: "gitlab-new-project" });
    expect(gitlab.calls[0]).toMatchObject({
      method: "GET",
      url: expect.stringContaining("/api/v4/projects?owned=true&per_page=1"),
      headers: { authorization: "Bearer t0ken" },
    });
    projects.push(project(2), project(3));
    await eventually(async () => (await payloads(home, "new-project")).length === 2);
    projects.push(project(4));
    await eventually(async () => (await payloads(home, "new-project")).length === 3);
    expect(await payloads(home, "new-project")).toMatchObject(
      [2, 3, 4].map((id) => ({
        event: project(id),
        metadata: { id: String(id), summary: `New project: project ${id}`, ts: Date.parse(project(id).created_at) },
      })),
    );
    expect(await home.json("db", "list", "new-project")).toEqual({ lastProcessedProjectId: 4 });
  });

  it("gitlab-new-issue registers its webhook, checks its token, and removes the webhook", async () => {
    const gitlab = await Upstream.overTls(({ method }) => ({ body: method === "POST" ? { id: 77 } : {} }));
    const home = await PdHome.make();
    const source = await home.json(
      "deploy",
      published("gitlab/sources/new-issue/new-issue.mjs"),
      ...["--prop", `gitlab={"base_api_url":"${gitlab.host}","oauth_access_token":"t0ken"}`],
      ...["--prop", "projectId=12", "--env", "NODE_TLS_REJECT_UNAUTHORIZED=0"],
    );
    const endpoint = String(source["endpoint_url"]);
    const [created] = gitlab.calls;
    expect(created).toMatchObject({
      method: "POST",
      url: "/api/v4/projects/12/hooks",
      body: { issues_events: true, url: endpoint, token: expect.any(String) },
    });
    const issue = (id: number) => ({
      user: { name: "Ada", username: "ada" },
      object_attributes: { id, iid: id, title: `issue ${id}`, created_at: "2026-02-03T04:05:06Z" },
      changes: { updated_at: { previous: null } },
    });
    const token = { "x-gitlab-token": String(created?.body["token"]) };
    expect((await post(endpoint, issue(1), { "x-gitlab-token": "forged" })).status).toBe(404);
    expect((await post(endpoint, issue(1), token)).status).toBe(200);
    expect((await post(endpoint, issue(1), token)).status).toBe(200);
    expect((await post(endpoint, { ...issue(2), changes: { updated_at: { previous: "x" } } }, token)).status).toBe(200);
    await eventually(async () => (await payloads(home, "new-issue-instant")).length > 0);
    expect(await payloads(home, "new-issue-instant")).toMatchObject([
      { event: issue(1), metadata: { id: "1", summary: "New issue by Ada (ada): #1 issue 1", ts: Date.parse("2026-02-03T04:05:06Z") } },
    ]);
    await home.pd("delete", "new-issue-instant", "--yes");
    expect(gitlab.calls.at(-1)).toMatchObject({ method: "DELETE", url: "/api/v4/projects/12/hooks/77" });
  });

  it("procore-new-rfi-event-instant chains its hooks, checks its bearer, and reads what the event is about", async () => {
    const procore = await Upstream.asProxy(({ method, url }) => {
      if (method === "POST" && url.endsWith("/bulk")) return { body: { success: [{ id: 5 }, { id: 6 }] } };
      if (method === "POST") return { body: { id: 9 } };
      return { body: { subject: "Which door?" } };
    });
    const home = await PdHome.make();
    const source = await home.json(
      "deploy",
      published("procore/sources/new-rfi-event-instant/new-rfi-event-instant.mjs"),
      ...["--prop", 'app={"oauth_access_token":"t0ken"}', "--prop", "companyId=1", "--prop", "projectId=2", "--prop", 'eventTypes=["create","update"]'],
      ...["--env", `HTTPS_PROXY=http://${procore.host}`, "--env", "NODE_TLS_REJECT_UNAUTHORIZED=0"],
    );
    const endpoint = String(source["endpoint_url"]);
    const [hook, triggers] = procore.calls;
    expect(hook?.body).toMatchObject({ project_id: expect.anything(), hook: { destination_url: endpoint } });
    expect(triggers?.body).toMatchObject({ triggers: [{ event_type: "create" }, { event_type: "update" }] });
    const { hook: registered } = JSON.parse(JSON.stringify(hook?.body));
    const bearer = { authorization: String(registered.destination_headers.Authorization) };
    const { triggers: subscribed } = JSON.parse(JSON.stringify(triggers?.body));
    const event = { id: 100, resource_name: String(subscribed[0].resource_name), resource_id: 3, project_id: 2, timestamp: "2026-03-04T05:06:07Z" };
    expect((await post(endpoint, event, { authorization: "Bearer forged" })).status).toBe(401);
    expect((await post(endpoint, event, bearer)).status).toBe(200);
    await eventually(async () => (await payloads(home, "new-rfi-event-instant")).length > 0);
    expect(await payloads(home, "new-rfi-event-instant")).toMatchObject([
      { event: { ...event, resource: { subject: "Which door?" } }, metadata: { id: "100", summary: "New RFI Event: 3", ts: Date.parse(event.timestamp) } },
    ]);
    await home.pd("delete", "new-rfi-event-instant", "--yes");
    expect(procore.calls.slice(-2).map(({ method }) => method)).toEqual(["DELETE", "DELETE"]);
  });

  it("pipedream-new-scheduled-tasks subscribes to itself through this server, emits what is due, and takes back what is cancelled", async () => {
    const home = await PdHome.make();
    const { key } = await home.json("keys", "create", "tasks");
    const file = published("pipedream/sources/new-scheduled-tasks/new-scheduled-tasks.mjs");
    const source = await home.json("deploy", file, "--prop", `pipedream={"api_key":${JSON.stringify(key)}}`, "--prop", "secret=s3cret");
    const url = String(source["endpoint_url"]);
    const task = (timestamp: string) => ({ timestamp, message: "wake up" });
    const refused = await post(`${url}/schedule`, task(new Date().toISOString()), { "x-pd-secret": "wrong" });
    expect([refused.status, await refused.json()]).toEqual([400, { errors: ["Secret on incoming request doesn't match the configured secret"] }]);
    const schedule = async (at: number): Promise<string> => {
      const answer = await post(`${url}/schedule`, task(new Date(at).toISOString()), { "x-pd-secret": "s3cret" });
      const { msg, id } = JSON.parse(await answer.text());
      expect([answer.status, msg]).toEqual([200, "Successfully scheduled task"]);
      return id;
    };
    const [later, soon] = [Date.now() + 3_600_000, Date.now() + 1500];
    const cancelled = await schedule(later);
    expect((await home.pd("events", "new-scheduled-tasks", "--channel", "$in")).stdout).toContain(cancelled);
    const cancel = await post(`${url}/cancel`, { id: cancelled }, { "x-pd-secret": "s3cret" });
    expect([cancel.status, await cancel.json()]).toEqual([200, { msg: `Cancelled scheduled task for event ${cancelled}` }]);
    const id = await schedule(soon);
    await eventually(async () => (await payloads(home, "new-scheduled-tasks")).length > 1);
    const event = task(new Date(soon).toISOString());
    expect(await payloads(home, "new-scheduled-tasks")).toMatchObject([
      { event: { ...event, $channel: "self", $id: id }, metadata: { name: "self", id } },
      { event, metadata: { name: "", summary: JSON.stringify(event) } },
    ]);
    expect((await home.pd("events", "new-scheduled-tasks", "--channel", "$in")).stdout).toBe("");
    expect(JSON.stringify(await home.json("describe", "new-scheduled-tasks"))).not.toContain("s3cret");
  });
});
