import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { componentParams } from "../support/components.ts";
import { published } from "../support/published.ts";
import { TestServer } from "../support/runtime.ts";
import { Upstream, type UpstreamAnswer, type UpstreamCall } from "../support/upstream.ts";

interface RanAction {
  readonly done: JsonObject;
  readonly calls: readonly (Pick<UpstreamCall, "method" | "url" | "body"> & { authorization: string | undefined })[];
}

async function ran(path: string, props: JsonObject, answer: (call: UpstreamCall) => UpstreamAnswer = () => ({})): Promise<RanAction> {
  const [server, upstream] = [await TestServer.start(), await Upstream.overTls(answer)];
  const done = await server.api.post("/v1/actions/run", { ...(await componentParams(published(path))), ...upstream.lead, configured_props: props });
  const calls = upstream.calls.map(({ method, url, body, headers }) => ({ method, url, body, authorization: headers.authorization }));
  return { done, calls };
}

describe("published actions run unchanged:", () => {
  it("slack-send-message shows hidden props that were asked for, and names the channel it wrote to", async () => {
    const props = {
      slack: { oauth_access_token: "xoxp-1" },
      channelType: "Channels",
      conversation: "C1",
      text: "hi",
      customizeBotSettings: true,
      username: "bot",
    };
    const { done, calls } = await ran("slack/actions/send-message/send-message.mjs", props, ({ url }) => ({
      body: url === "/api/conversations.info" ? { ok: true, channel: { id: "C1", name: "support" } } : { ok: true, channel: "C1", ts: "1.2" },
    }));
    expect(done).toMatchObject({ exports: { $summary: "Successfully sent a message to #support" }, ret: { ok: true, channel: "C1", ts: "1.2" } });
    expect(calls.map(({ url, authorization }) => [url, authorization])).toEqual([
      ["/api/chat.postMessage", "Bearer xoxp-1"],
      ["/api/conversations.info", "Bearer xoxp-1"],
    ]);
    expect(calls[0]?.body).toMatchObject({ text: "hi", channel: "C1", username: "bot", mrkdwn: "true" });
    expect(JSON.parse(String(calls[0]?.body["blocks"]))).toEqual([
      { type: "section", text: { type: "mrkdwn", text: "hi" } },
      { type: "context", elements: [{ type: "mrkdwn", text: "Sent via <https://pipedream.com/connect|Pipedream Connect>" }] },
    ]);
  });

  it("gitlab-create-issue joins its labels", async () => {
    const props = { gitlab: { oauth_access_token: "t", base_api_url: "gitlab.com" }, projectId: 7, title: "T", labels: ["a", "b"], assigneeIds: ["3"] };
    const { done, calls } = await ran("gitlab/actions/create-issue/create-issue.mjs", props, () => ({ status: 201, body: { id: 1, iid: 2 } }));
    expect(done).toMatchObject({ exports: { $summary: "Created issue T" }, ret: { id: 1, iid: 2 } });
    const body = { title: "T", labels: "a,b", assignee_ids: ["3"] };
    expect(calls).toEqual([{ method: "POST", url: "/api/v4/projects/7/issues", authorization: "Bearer t", body }]);
  });

  it("notion-create-page-from-database declares a prop for each chosen property of the database, and writes them", async () => {
    const properties = {
      Name: { id: "title", name: "Name", type: "title" },
      Done: { id: "d1", name: "Done", type: "checkbox" },
      Other: { id: "o", type: "number" },
    };
    const props = {
      notion: { oauth_access_token: "t" },
      parentDataSource: "ds1",
      templateType: "none",
      propertyTypes: ["Name", "Done"],
      Name: "A page",
      Done: true,
      pageContent: "# Hello",
    };
    const path = "notion/actions/create-page-from-database/create-page-from-database.mjs";
    const { done, calls } = await ran(path, props, ({ method }) => ({
      body: method === "GET" ? { object: "data_source", id: "ds1", properties } : { object: "page", id: "p1" },
    }));
    expect(done).toMatchObject({ exports: { $summary: "Created page successfully" }, ret: { id: "p1" } });
    expect(calls.at(-1)).toMatchObject({
      method: "POST",
      url: "/v1/pages",
      authorization: "Bearer t",
      body: {
        parent: { data_source_id: "ds1" },
        properties: { title: { title: [{ type: "text", text: { content: "A page" } }] }, d1: { checkbox: true } },
        children: [{ type: "heading_1", heading_1: { rich_text: [{ text: { content: "Hello" } }] } }],
      },
    });
    expect(new Set(calls.slice(0, -1).map(({ method, url }) => `${method} ${url}`))).toEqual(new Set(["GET /v1/data_sources/ds1"]));
  });

  it("linear_app-create-issue returns what the SDK's class holds", async () => {
    const props = { linearApp: { api_key: "k" }, teamId: "T", title: "bug" };
    const { done, calls } = await ran("linear_app/actions/create-issue/create-issue.mjs", props, () => ({
      body: { data: { issueCreate: { lastSyncId: 1, success: true, issue: { id: "i1" } } } },
    }));
    expect(done).toMatchObject({ exports: { $summary: "Created issue i1" }, ret: { lastSyncId: 1, success: true, _issue: { id: "i1" } } });
    expect(calls).toMatchObject([{ method: "POST", url: "/graphql", authorization: "k", body: { variables: { input: { teamId: "T", title: "bug" } } } }]);
  });

  it("shopify-create-product parses JSON in a list of texts", async () => {
    const props = {
      shopify: { oauth_access_token: "t", shop_id: "acme" },
      title: "Board",
      tags: ["a"],
      status: "DRAFT",
      images: ["https://example.com/y.png"],
      options: ['{"name":"Color","values":[{"name":"Blue"}]}'],
    };
    const { done, calls } = await ran("shopify/actions/create-product/create-product.mjs", props, () => ({
      body: { data: { productCreate: { product: { id: "gid://1" }, userErrors: [] } } },
    }));
    expect(done).toMatchObject({ exports: { $summary: "Created new product `Board` with id `gid://1`" }, ret: { productCreate: { userErrors: [] } } });
    expect(calls[0]?.body["variables"]).toEqual({
      product: { title: "Board", status: "DRAFT", productOptions: [{ name: "Color", values: [{ name: "Blue" }] }], tags: ["a"] },
      media: [{ mediaContentType: "IMAGE", originalSource: "https://example.com/y.png" }],
    });
  });

  it("monday-create-item declares a prop for each chosen column", async () => {
    const columns = [
      { id: "status", title: "Status", type: "status", settings_str: '{"labels":{"0":"Done","1":"Stuck"}}' },
      { id: "email", title: "Email", type: "email", settings_str: "{}" },
    ];
    const props = { monday: { api_key: "k" }, boardId: "5", itemName: "It", columns: ["status", "email"], status: "1", email: "a@b.c" };
    const { done, calls } = await ran("monday/actions/create-item/create-item.mjs", props, ({ body }) => ({
      body: { data: String(body["query"]).includes("mutation") ? { create_item: { id: "77" } } : { boards: [{ columns }] } },
    }));
    expect(done).toMatchObject({ exports: { $summary: "Successfully created a new item with ID: 77" }, ret: "77" });
    const created = calls.at(-1)?.body["variables"];
    expect(created).toMatchObject({ boardId: 5, itemName: "It" });
    expect(JSON.parse(created.columnValues)).toEqual({ status: "1", email: { text: "a@b.c", email: "a@b.c" } });
  });

  it("microsoft_outlook-send-email attaches a file that it fetches by its address", async () => {
    const props = {
      microsoftOutlook: { oauth_access_token: "t" },
      recipients: ["a@b.c"],
      subject: "S",
      contentType: "text",
      content: "C",
      files: ["https://files.example/report.txt"],
    };
    const { done, calls } = await ran("microsoft_outlook/actions/send-email/send-email.mjs", props, ({ url }) =>
      url === "/report.txt" ? { body: "file text", headers: { "content-type": "text/plain" } } : { status: 202, body: "" },
    );
    expect(done).toMatchObject({ outcome: "returned", exports: { $summary: "Email has been sent." } });
    const attachment = {
      "@odata.type": "#microsoft.graph.fileAttachment",
      name: "report.txt",
      contentType: "text/plain",
      contentBytes: Buffer.from("file text").toString("base64"),
    };
    const message = {
      subject: "S",
      attachments: [attachment],
      body: { content: "C", contentType: "text" },
      toRecipients: [{ emailAddress: { address: "a@b.c" } }],
    };
    expect(calls[1]).toEqual({ method: "POST", url: "/v1.0/me/sendMail", authorization: "Bearer t", body: { message } });
  });

  it("youtube_data_api-search-videos pages until it has enough", async () => {
    const props = { youtubeDataApi: { oauth_access_token: "t" }, q: "cats", maxResults: 3 };
    const { done, calls } = await ran("youtube_data_api/actions/search-videos/search-videos.mjs", props, ({ url }) => ({
      body: { items: (url.includes("pageToken") ? ["v3", "v4"] : ["v1", "v2"]).map((videoId) => ({ id: { videoId } })), nextPageToken: "n" },
    }));
    expect(done).toMatchObject({
      exports: { $summary: "Successfully fetched 3 videos" },
      ret: ["v1", "v2", "v3"].map((videoId) => ({ id: { videoId } })),
    });
    expect(calls.map(({ url }) => new URL(url, "https://host").searchParams.get("pageToken"))).toEqual([null, "n"]);
  });

  it("google_drive-download-file streams a file to /tmp, or returns it", async () => {
    const path = "google_drive/actions/download-file/download-file.mjs";
    const googleDrive = { oauth_access_token: "t" };
    const answer = ({ url }: UpstreamCall): UpstreamAnswer =>
      url.includes("alt=media") ? { body: "content", headers: { "content-type": "text/plain" } } : { body: { name: "a.txt", mimeType: "text/plain" } };
    const fileMetadata = { name: "a.txt", mimeType: "text/plain" };
    const stored = await ran(path, { googleDrive, fileId: "f1", filePath: "a.txt" }, answer);
    expect(stored.done).toMatchObject({
      exports: { $summary: 'Successfully downloaded the file, "a.txt"' },
      ret: { fileMetadata, filePath: "/tmp/a.txt" },
    });
    expect(stored.calls.map(({ url, authorization }) => [url.split("?")[0], authorization])).toEqual([
      ["/drive/v3/files/f1", "Bearer t"],
      ["/drive/v3/files/f1", "Bearer t"],
    ]);
    const returned = await ran(path, { googleDrive, fileId: "f1", getBufferResponse: true }, answer);
    expect(returned.done).toMatchObject({ ret: { fileMetadata, content: { type: "Buffer", data: [...Buffer.from("content")] } } });
  });

  it("aws-sqs-send-message signs its request", async () => {
    const props = {
      aws: { accessKeyId: "AKIA", secretAccessKey: "s" },
      region: "eu-west-1",
      queueUrl: "https://sqs.eu-west-1.amazonaws.com/1/q",
      eventData: { a: 1 },
    };
    const { done, calls } = await ran("aws/actions/sqs-send-message/sqs-send-message.mjs", props, () => ({
      body: { MessageId: "m1", MD5OfMessageBody: "bb6cb5c68df4652941caf652a366f2d8" },
    }));
    expect(done).toMatchObject({ exports: { $summary: `Sent message to ${props.queueUrl}` }, ret: { MessageId: "m1" } });
    expect(calls[0]).toMatchObject({
      authorization: expect.stringMatching(/^AWS4-HMAC-SHA256 Credential=AKIA\/\d{8}\/eu-west-1\/sqs\/aws4_request/),
      body: { QueueUrl: props.queueUrl, MessageBody: '{"a":1}' },
    });
  });

  it("docusign-download-documents finds the account's own address and saves what it fetches", async () => {
    const props = { docusign: { oauth_access_token: "t" }, account: "acc", envelopeId: "e1", downloadType: "combined", filename: "x.pdf" };
    const { done, calls } = await ran("docusign/actions/download-documents/download-documents.mjs", props, ({ url }) => {
      if (url === "/oauth/userinfo") return { body: { accounts: [{ account_id: "acc", base_uri: "https://na1.docusign.net" }] } };
      return url.endsWith("/combined")
        ? { body: "%PDF", headers: { "content-type": "application/pdf" } }
        : { body: { documentsUri: "/envelopes/e1/documents" } };
    });
    expect(done).toMatchObject({ exports: { $summary: "Successfully downloaded files to /tmp/x.pdf" }, ret: "/tmp/x.pdf" });
    expect(calls.map(({ url }) => url)).toEqual([
      "/oauth/userinfo",
      "/restapi/v2.1/accounts/acc/envelopes/e1",
      "/restapi/v2.1/accounts/acc/envelopes/e1/documents/combined",
    ]);
  });

  it("helper_functions need no account: http_request, xml, download, exports", async () => {
    const httpRequest = {
      method: "POST",
      url: "https://example.com/x",
      auth: { type: "bearer", token: "tok" },
      headers: [{ name: "x-a", value: "1" }],
      params: [{ name: "q", value: "2" }],
      body: { contentType: "application/json", mode: "raw", raw: '{"a":1}', type: "raw" },
    };
    const sent = await ran("helper_functions/actions/send-http-request/send-http-request.mjs", { httpRequest }, () => ({ body: { got: 1 } }));
    expect(sent.done).toMatchObject({ ret: { status: 200, data: { got: 1 } } });
    expect(sent.calls).toEqual([{ method: "POST", url: "/x?q=2", authorization: "Bearer tok", body: { a: 1 } }]);
    const read = await ran("helper_functions/actions/xml-to-json/xml-to-json.mjs", { input: "<a><b>1</b></a>" });
    expect(read.done).toMatchObject({ exports: { $summary: "Successfully converted XML to JSON" }, ret: { a: { b: { _text: "1" } } } });
    const file = { url: "https://example.com/x.bin", filename: "x.bin" };
    const fetched = await ran("helper_functions/actions/download-file-to-tmp/download-file-to-tmp.mjs", file, () => ({ body: "bytes" }));
    expect(fetched.done).toMatchObject({ ret: ["x.bin", "/tmp/x.bin"] });
    const exported = await ran("helper_functions/actions/export-variables/export-variables.mjs", { config: { a: 1 } });
    expect(exported.done).toMatchObject({ exports: { config: { a: 1 } } });
  });
});
