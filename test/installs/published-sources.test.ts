import { createHash, createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { dataOf } from "../support/api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { componentParams } from "../support/components.ts";
import { published } from "../support/published.ts";
import { DeployedSource, TestServer, eventually } from "../support/runtime.ts";
import { Upstream, type UpstreamAnswer, type UpstreamCall } from "../support/upstream.ts";

async function deployed(path: string, props: JsonObject, answer: (call: UpstreamCall) => UpstreamAnswer, flags: { publicUrl?: string } = {}) {
  const [server, upstream] = [await TestServer.start(flags), await Upstream.overTls(answer)];
  const code = { ...(await componentParams(published(path))), ...upstream.lead };
  const source = new DeployedSource(server, dataOf(await server.api.post("/v1/sources", { ...code, configured_props: props })));
  const options = (prop: string, more: JsonObject = {}) =>
    server.api.post("/v1/components/configure", { ...code, prop_name: prop, configured_props: props, ...more });
  return { server, upstream, source, options };
}

function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

async function emitted(source: DeployedSource, count: number): Promise<{ event: unknown; id: unknown; summary: unknown; ts: unknown }[]> {
  await source.payloadsOnce(count);
  return (await source.events()).map(({ event, metadata }) => {
    const { id, summary, ts } = metadata as JsonObject;
    return { event, id, summary, ts };
  });
}

const callsTo = (upstream: Upstream): string[] => upstream.calls.map(({ method, url }) => `${method} ${url.split("?")[0]}`);

describe("published sources run unchanged:", () => {
  it("slack-new-message-in-channels takes events of the user's own app, resolves names once, and pages its channels", async () => {
    const slack = (call: UpstreamCall): UpstreamAnswer => {
      switch (call.url) {
        case "/api/users.info":
          return { body: { ok: true, user: { id: call.body["user"], name: "ada" } } };
        case "/api/conversations.info":
          return { body: { ok: true, channel: { id: "C1", name: "support", is_im: false } } };
        case "/api/team.info":
          return { body: { ok: true, team: { name: "Acme" } } };
        case "/api/auth.test":
          return { body: { ok: true }, headers: { "x-oauth-scopes": "channels:read,groups:read" } };
        default:
          return {
            body: {
              ok: true,
              channels: [{ id: call.body["cursor"] ?? "C1", name: "support", is_private: false }],
              response_metadata: { next_cursor: call.body["cursor"] === undefined ? "cur2" : "" },
            },
          };
      }
    };
    const props = { slack: { oauth_access_token: "xoxp-1", oauth_uid: "U0" }, conversations: ["C1"], resolveNames: true, ignoreBot: true, ignoreThreads: true };
    const { source, upstream, options } = await deployed("slack/sources/new-message-in-channels/new-message-in-channels.mjs", props, slack);
    const message = (id: string, more: JsonObject = {}) => ({
      type: "event_callback",
      event: {
        client_msg_id: id,
        type: "message",
        text: "hello",
        user: "U1",
        ts: "1702506383.129070",
        team: "T1",
        channel: "C1",
        event_ts: "1702506383.129070",
        channel_type: "channel",
        ...more,
      },
    });
    expect(await (await post(source.endpoint, { type: "url_verification", challenge: "c0ffee" })).text()).toBe("c0ffee");
    await post(source.endpoint, message("m-1"));
    const named = { ...message("m-1").event, user: "ada", user_id: "U1", channel: "support", channel_id: "C1", team: "Acme", team_id: "T1" };
    expect(await emitted(source, 1)).toEqual([{ event: named, id: "m-1", summary: "New message in channel", ts: 1702506383129 }]);
    expect(upstream.calls.map(({ url, body, headers }) => [url, body["user"] ?? body["channel"] ?? body["team"], headers.authorization])).toEqual([
      ["/api/users.info", "U1", "Bearer xoxp-1"],
      ["/api/conversations.info", "C1", "Bearer xoxp-1"],
      ["/api/team.info", "T1", "Bearer xoxp-1"],
    ]);
    for (const more of [{}, { subtype: "message_changed" }, { bot_id: "B1" }, { thread_ts: "1" }]) await post(source.endpoint, message("m-1", more));
    expect(await (await post(source.endpoint, message("m-2", { channel: "C2" }))).json()).toEqual({ status: "ignored" });
    await post(source.endpoint, message("m-6"));
    expect(await source.payloadsOnce(2)).toMatchObject([{ client_msg_id: "m-1" }, { client_msg_id: "m-6", user: "ada" }]);
    expect(upstream.calls).toHaveLength(3);
    const first = await options("conversations");
    expect(first).toMatchObject({ options: [{ label: "Public channel: support", value: "C1" }], context: { cursor: "cur2" } });
    expect(await options("conversations", { page: 1, prev_context: first["context"] ?? {} })).toMatchObject({ options: [{ value: "cur2" }] });
    expect(callsTo(upstream).filter((call) => call.endsWith("auth.test"))).toHaveLength(1);
  });

  it("slack-new-reaction-added asks for the message of a reaction, once, and filters by emoji", async () => {
    const props = { slack: { oauth_access_token: "xoxp-1" }, iconEmoji: ["fire"], includeUserData: true };
    const { source, upstream } = await deployed("slack/sources/new-reaction-added/new-reaction-added.mjs", props, ({ url, body }) =>
      url === "/api/users.info"
        ? { body: { ok: true, user: { id: body["user"], name: "ada" } } }
        : {
            body: {
              ok: true,
              messages: [
                { ts: "1702506383.129070", text: "hi" },
                { ts: "9", text: "reply" },
              ],
              has_more: false,
            },
          },
    );
    const reaction = (emoji: string) => ({
      event: {
        type: "reaction_added",
        user: "U1",
        reaction: emoji,
        item: { type: "message", channel: "C1", ts: "1702506383.129070" },
        item_user: "U2",
        event_ts: "1702506400.000100",
      },
    });
    for (const emoji of ["fire", "tada", "fire"]) await post(source.endpoint, reaction(emoji));
    expect(await emitted(source, 2)).toEqual(
      [1, 2].map(() => ({
        event: expect.objectContaining({
          ...reaction("fire").event,
          userInfo: expect.objectContaining({ id: "U1" }),
          message: expect.objectContaining({ messages: [{ ts: "1702506383.129070", text: "hi" }] }),
        }),
        id: expect.stringMatching(/^pd_\d+_/),
        summary: "New reaction added",
        ts: 1702506400000,
      })),
    );
    expect(callsTo(upstream).filter((call) => call === "POST /api/conversations.replies")).toHaveLength(1);
  });

  it("notion-new-page pages through its history on deploy, then emits what is newer", async () => {
    const created = (daysAgo: number) => new Date(Date.now() - daysAgo * 86_400_000).toISOString();
    const page = (id: string, at: string, title: string) => ({
      object: "page",
      id,
      created_time: at,
      last_edited_time: at,
      properties: { Name: { id: "title", type: "title", title: [{ plain_text: title }] } },
    });
    const [p1, p2, p3] = [page("p1", created(3), "One"), page("p2", created(2), "Two"), page("p3", created(1), "Three")];
    let newest: unknown[] = [p3, p2];
    const { source, upstream } = await deployed(
      "notion/sources/new-page/new-page.mjs",
      { notion: { oauth_access_token: "ntn_1" }, dataSourceId: "ds1" },
      ({ body }) =>
        body["start_cursor"] === "c2"
          ? { body: { object: "list", results: [p1], next_cursor: null, has_more: false } }
          : { body: { object: "list", results: newest, next_cursor: "c2", has_more: true } },
    );
    const seen = [p1, p2, p3].map((one, index) => ({
      event: one,
      id: one.id,
      summary: `Page added: ${["One", "Two", "Three"][index]}`,
      ts: Date.parse(one.created_time),
    }));
    expect(await emitted(source, 3)).toEqual(seen);
    expect(upstream.calls[0]).toMatchObject({
      method: "POST",
      url: "/v1/data_sources/ds1/query",
      headers: { authorization: "Bearer ntn_1", host: "api.notion.com" },
      body: { sorts: [{ timestamp: "created_time", direction: "descending" }] },
    });
    await source.run();
    const p4 = page("p4", created(0), "Four");
    newest = [p4, p3, p2];
    await source.run();
    await source.run();
    expect(await emitted(source, 4)).toEqual([...seen, { event: p4, id: "p4", summary: "Page added: Four", ts: Date.parse(p4.created_time) }]);
    expect(await source.state()).toMatchObject({ created_time: Date.parse(p4.created_time) });
  });

  it("notion-new-webhook-event-instant learns its token, and checks every signature with it", async () => {
    const { source } = await deployed(
      "notion/sources/new-webhook-event-instant/new-webhook-event-instant.mjs",
      { notion: { oauth_access_token: "ntn_1" } },
      () => ({}),
    );
    const event = {
      id: "e1",
      type: "page.properties_updated",
      timestamp: "2025-08-27T20:51:19.356Z",
      entity: { id: "p1", type: "page" },
      data: { updated_properties: ["title"] },
    };
    const signature = (key: string) => ({ "x-notion-signature": `sha256=${createHmac("sha256", key).update(JSON.stringify(event)).digest("hex")}` });
    await post(source.endpoint, { verification_token: "secret_abc" });
    await eventually(async () => (await source.state())["token"] !== undefined);
    for (const headers of [signature("forged"), signature("secret_abc"), signature("secret_abc"), {}])
      expect((await post(source.endpoint, event, headers)).status).toBe(200);
    await post(source.endpoint, { verification_token: "another" });
    expect(await emitted(source, 1)).toEqual([{ event, id: "e1", summary: "Webhook event: page.properties_updated", ts: expect.any(Number) }]);
    expect(await source.state()).toMatchObject({ token: "secret_abc" });
    const outcomes = (await source.invocations()).map(({ message }) => String(message));
    expect(outcomes.filter((message) => message.includes("Invalid webhook signature"))).toHaveLength(1);
  });

  it("linear_app-issue-created-instant finds out by its account whether it gets a webhook, and keeps strangers out", async () => {
    const issue = (n: number) => ({ id: `i${n}`, title: `Issue ${n}`, createdAt: `2026-01-0${n}T00:00:00.000Z` });
    const linear = ({ body }: UpstreamCall): UpstreamAnswer => {
      const { query, variables } = body;
      if (query.includes("ListIssues"))
        return {
          body: {
            data: {
              issues:
                variables.after === undefined
                  ? { nodes: [issue(3), issue(2)], pageInfo: { hasNextPage: true, endCursor: "c1" } }
                  : { nodes: [issue(1)], pageInfo: { hasNextPage: false } },
            },
          },
        };
      if (query.includes("webhookCreate"))
        return { body: { data: { webhookCreate: { __typename: "WebhookPayload", lastSyncId: 1, success: true, webhook: { id: "wh1" } } } } };
      if (query.includes("webhookDelete")) return { body: { data: { webhookDelete: { lastSyncId: 2, success: true } } } };
      return { body: { data: query.includes("GetIssue") ? { issue: issue(4) } : { user: { admin: true } } } };
    };
    const props = { linearApp: { api_key: "lin_api_1" }, teamIds: ["t1"] };
    const { server, source, upstream } = await deployed("linear_app/sources/issue-created-instant/issue-created-instant.mjs", props, linear, {
      publicUrl: "https://pd.example.test",
    });
    expect(source.record).toMatchObject({
      configurable_props: expect.arrayContaining([expect.objectContaining({ type: "$.interface.http" }), expect.objectContaining({ type: "alert" })]),
    });
    const history = [1, 2, 3].map((n) => ({ event: issue(n), id: `i${n}`, summary: `Issue created: Issue ${n}`, ts: Date.parse(issue(n).createdAt) }));
    expect(await emitted(source, 3)).toEqual(history);
    const creation = upstream.calls.find(({ body }) => body["query"].includes("webhookCreate"));
    expect(creation).toMatchObject({
      url: "/graphql",
      headers: { authorization: "lin_api_1" },
      body: { variables: { input: { teamId: "t1", resourceTypes: ["Issue"], url: source.endpoint } } },
    });
    const local = source.endpoint.replace("https://pd.example.test", server.endpointUrl);
    const delivery = (action: string) => ({ action, type: "Issue", createdAt: "2026-02-04T00:00:00.000Z", data: { id: "i4", title: "Issue 4" } });
    const from = (ip: string) => ({ "x-forwarded-for": ip, "linear-delivery": "d4" });
    await post(local, delivery("create"), from("10.0.0.1"));
    for (const action of ["create", "create", "update"]) await post(local, delivery(action), from("35.231.147.226"));
    expect(await emitted(source, 4)).toEqual([
      ...history,
      { event: issue(4), id: "d4", summary: "Issue created: Issue 4", ts: Date.parse("2026-02-04T00:00:00.000Z") },
    ]);
    await server.api.delete(source.path);
    expect(upstream.calls.at(-1)?.body["variables"]).toMatchObject({ id: "wh1" });
  });

  it("monday-specific-column-updated registers its webhook, answers its challenge, and offers columns of the chosen board", async () => {
    const item = (id: string) => ({ id, name: `Item ${id}`, updated_at: `2026-01-0${id}T00:00:00Z` });
    const monday = ({ body }: UpstreamCall): UpstreamAnswer => {
      const { query, variables } = body;
      const answers: Record<string, unknown> = {
        listItems: {
          boards: [
            {
              items_page: {
                cursor: null,
                items: [
                  { id: "2", name: "Item 2" },
                  { id: "1", name: "Item 1" },
                ],
              },
            },
          ],
        },
        getItem: { items: [item(String(variables?.id))] },
        createWebhook: { create_webhook: { id: "77", board_id: "123" } },
        deleteWebhook: { delete_webhook: { id: "77" } },
        listBoards: {
          boards: [
            { id: "123", name: "Roadmap", type: "board" },
            { id: "124", name: "Sub", type: "sub_items_board" },
          ],
        },
        listColumnOptions: {
          boards: [
            {
              columns: [
                { id: "name", title: "Name" },
                { id: "status", title: "Status" },
              ],
            },
          ],
        },
      };
      const name = /(?:query|mutation)\s+(\w+)/.exec(query)?.[1] ?? "";
      return { body: { data: answers[name] ?? {} } };
    };
    const { server, source, upstream, options } = await deployed(
      "monday/sources/specific-column-updated/specific-column-updated.mjs",
      { monday: { api_key: "mk" }, boardId: 123, column: "status" },
      monday,
    );
    expect(await emitted(source, 2)).toMatchObject([
      { event: { item: item("1") }, id: "1_undefined", summary: "Item 1" },
      { event: { item: item("2") }, id: "2_undefined" },
    ]);
    const creation = upstream.calls.find(({ body }) => body["query"].includes("createWebhook"));
    expect(creation).toMatchObject({
      headers: { authorization: "mk" },
      body: { variables: { boardId: 123, url: source.endpoint, event: "change_specific_column_value", config: '{"columnId":"status"}' } },
    });
    expect(await (await post(source.endpoint, { challenge: "ch4" })).json()).toEqual({ challenge: "ch4" });
    const change = { event: { type: "update_column_value", pulseId: 3, boardId: 123, columnId: "status" } };
    for (const body of [change, change, { event: { boardId: 123 } }]) await post(source.endpoint, body);
    expect((await emitted(source, 3)).slice(2)).toEqual([
      { event: { ...change, item: item("3") }, id: "3_2026-01-03T00:00:00Z", summary: "Item 3", ts: Date.parse("2026-01-03T00:00:00Z") },
    ]);
    expect(await options("boardId")).toMatchObject({ options: [{ label: "Roadmap", value: expect.anything() }] });
    expect(await options("column")).toMatchObject({ options: [{ label: "Status", value: "status" }] });
    await server.api.delete(source.path);
    expect(upstream.calls.at(-1)).toMatchObject({ body: { variables: { id: 77 } } });
  });

  it("shopify-collection-updated answers forged topics and shops with 401", async () => {
    const id = "gid://shopify/WebhookSubscription/5";
    const { server, source, upstream } = await deployed(
      "shopify/sources/collection-updated/collection-updated.mjs",
      { app: { shop_id: "acme", oauth_access_token: "shpat_1" }, metafieldNamespaces: ["custom"] },
      ({ body }) =>
        String(body["query"]).includes("webhookSubscriptionCreate")
          ? { body: { data: { webhookSubscriptionCreate: { webhookSubscription: { id }, userErrors: [] } } } }
          : { body: { data: { webhookSubscriptionDelete: { deletedWebhookSubscriptionId: id, userErrors: [] } } } },
    );
    expect(upstream.calls[0]).toMatchObject({
      headers: { host: "acme.myshopify.com", "x-shopify-access-token": "shpat_1" },
      body: { variables: { topic: "COLLECTIONS_UPDATE", webhookSubscription: { callbackUrl: source.endpoint, format: "JSON" } } },
    });
    const headers = (topic: string, domain: string) => ({ "x-shopify-topic": topic, "x-shopify-shop-domain": domain });
    const collection = { id: 1, handle: "c", title: "Coll 1", updated_at: "2026-01-01T00:00:00Z" };
    const statuses: number[] = [];
    for (const [topic = "", domain = ""] of [
      ["collections/update", "acme.myshopify.com"],
      ["collections/update", "acme.myshopify.com"],
      ["products/create", "acme.myshopify.com"],
      ["collections/update", "evil.myshopify.com"],
    ])
      statuses.push((await post(source.endpoint, collection, headers(topic, domain))).status);
    expect(statuses).toEqual([200, 200, 401, 401]);
    expect(await emitted(source, 1)).toEqual([
      { event: collection, id: "11767225600000", summary: "Collection Updated: Coll 1", ts: Date.parse(collection.updated_at) },
    ]);
    await server.api.delete(source.path);
    expect(upstream.calls.at(-1)?.body).toMatchObject({ variables: { id } });
  });

  it("microsoft_outlook-new-email shakes hands, checks its client state, and renews by its timer", async () => {
    const message = (id: string, folder = "inbox") => ({
      id,
      subject: "S",
      createdDateTime: "2026-01-02T03:04:05Z",
      receivedDateTime: "2026-01-02T03:04:05Z",
      parentFolderId: folder,
      hasAttachments: false,
    });
    let clientState = "";
    const graph = ({ method, url, body }: UpstreamCall): UpstreamAnswer => {
      if (method === "DELETE") return { status: 204 };
      if (method === "POST") {
        clientState = String(body["clientState"]);
        return { body: { id: "sub1", clientState } };
      }
      if (method === "PATCH") return { body: { id: "sub1" } };
      if (url.includes("mailFolders"))
        return {
          body: {
            value: [
              { id: "fs", displayName: "Sent Items" },
              { id: "fd", displayName: "Drafts" },
            ],
          },
        };
      const id = /\/me\/messages\/(\w+)/.exec(url)?.[1];
      return { body: id === undefined ? { value: [message("m1"), message("m0", "fs")] } : message(id, id === "m9" ? "fd" : "inbox") };
    };
    const { server, source, upstream } = await deployed(
      "microsoft_outlook/sources/new-email/new-email.mjs",
      { microsoftOutlook: { oauth_access_token: "eyJ" } },
      graph,
    );
    const hashed = (id: string) => createHash("md5").update(id).digest("hex");
    expect(upstream.calls.find(({ method }) => method === "POST")).toMatchObject({
      url: "/v1.0/subscriptions",
      body: { notificationUrl: source.endpoint, changeType: "created", resource: "/me/messages" },
    });
    const handshake = await fetch(`${source.endpoint}?validationToken=abc%20d`, { method: "POST" });
    expect([handshake.status, await handshake.text()]).toEqual([200, "abc d"]);
    const notice = (id: string, state: string) => ({ value: [{ clientState: state, resourceData: { id } }] });
    for (const [id = "", state = ""] of [
      ["m2", clientState],
      ["m2", clientState],
      ["m3", "forged"],
      ["m9", clientState],
    ])
      expect((await post(source.endpoint, notice(id, state))).status).toBe(202);
    expect(await emitted(source, 2)).toEqual(
      ["m1", "m2"].map((id) => ({
        event: { email: expect.objectContaining(message(id)) },
        id: hashed(id),
        summary: `New email (ID:${id})`,
        ts: Date.parse("2026-01-02T03:04:05Z"),
      })),
    );
    await source.run();
    expect(upstream.calls.at(-1)).toMatchObject({ method: "PATCH", url: "/v1.0/subscriptions/sub1" });
    await server.api.delete(source.path);
    expect(upstream.calls.at(-1)).toMatchObject({ method: "DELETE", url: "/v1.0/subscriptions/sub1" });
  });

  it("google_drive-new-files-instant watches changes, trusts its own channel alone, and moves its page on", async () => {
    const file = (n: number) => ({
      id: `f${n}`,
      name: `File ${n}`,
      mimeType: "text/plain",
      parents: ["root"],
      createdTime: new Date(Date.UTC(2030, 0, n)).toISOString(),
    });
    let token = 100;
    let files = [file(2), file(1)];
    const drive = ({ method, url }: UpstreamCall): UpstreamAnswer => {
      if (url.includes("startPageToken")) return { body: { startPageToken: String(token) } };
      if (url.includes("/changes/watch")) return { body: { resourceId: "res1", expiration: String(Date.UTC(2031, 0, 1)) } };
      if (method === "POST") return { status: 204 };
      if (url.includes("/changes?")) return { body: { changes: [{ file: { id: "f3" } }], newStartPageToken: String(++token) } };
      return { body: { files } };
    };
    const { server, source, upstream } = await deployed(
      "google_drive/sources/new-files-instant/new-files-instant.mjs",
      { googleDrive: { oauth_access_token: "ya29" }, drive: "My Drive" },
      drive,
    );
    const watch = upstream.calls.find(({ url }) => url.includes("/changes/watch"));
    expect(watch).toMatchObject({ headers: { authorization: "Bearer ya29" }, body: { type: "web_hook", address: source.endpoint } });
    const seen = (n: number) => ({ event: file(n), id: `f${n}`, summary: `New File: File ${n}`, ts: Date.parse(file(n).createdTime) });
    expect(await emitted(source, 2)).toEqual([seen(1), seen(2)]);
    const notice = (state: string, channel = String(watch?.body["id"])) =>
      post(source.endpoint, "", {
        "x-goog-channel-id": channel,
        "x-goog-resource-id": "res1",
        "x-goog-resource-state": state,
        "x-goog-resource-uri": "u",
        "x-goog-message-number": "2",
      });
    const before = upstream.calls.length;
    await notice("sync");
    await notice("change", "forged");
    expect(upstream.calls).toHaveLength(before);
    files = [file(3)];
    await notice("change");
    await notice("change");
    expect(await emitted(source, 3)).toEqual([seen(1), seen(2), seen(3)]);
    await eventually(async () => (await source.state())["pageToken"] === "102");
    await server.api.delete(source.path);
    expect(upstream.calls.at(-1)).toMatchObject({ method: "POST", url: expect.stringContaining("/channels/stop"), body: { resourceId: "res1" } });
  });
});
