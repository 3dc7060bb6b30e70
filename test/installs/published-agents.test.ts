import { expect, it } from "vitest";
import { Agent } from "../support/agent.ts";
import { PdHome } from "../support/pd.ts";
import { PUBLISHED } from "../support/published.ts";

it("an agent is offered published actions unchanged: their props as a schema, their choices, and what they do", async () => {
  const home = await PdHome.make();
  const { apiUrl, apiKey } = await home.up();
  await home.pd("registry", "add", PUBLISHED, "--name", "published");
  await home.pd("accounts", "connect", "slack", "--field", "oauth_access_token=xoxp-hush", "--name", "team");
  const chosen = "slack-send-message,gitlab-create-issue,helper_functions-base64-decode-string";
  const agent = await Agent.overHttp(`${apiUrl}/mcp?actions=${chosen}&account=slack%3Dteam`, apiKey);
  const { tools } = await agent.client.listTools();
  const slack = tools.find(({ name }) => name === "slack-send-message");
  expect(slack?.inputSchema.properties).toMatchObject({ text: { type: "string" }, channelType: { type: "string" } });
  expect(slack?.inputSchema.properties).not.toHaveProperty("slack");
  const gitlab = tools.find(({ name }) => name === "gitlab-create-issue");
  expect(gitlab?.inputSchema.properties).toMatchObject({ gitlab: { type: "string", description: expect.stringContaining("none is connected yet") } });
  expect(await agent.call("gitlab-create-issue", { projectId: 1, title: "T" })).toMatchObject({
    isError: true,
    value: { error: { fix: expect.stringContaining("pd accounts connect gitlab") } },
  });
  const { value: choices } = await agent.call("list_choices", { tool: "slack-send-message", argument: "channelType" });
  expect(choices).toMatchObject({ choices: expect.arrayContaining([{ label: "Channels", value: "Channels" }]) });
  const decoded = await agent.call("helper_functions-base64-decode-string", { data: "aGVsbG8=" });
  expect([decoded.isError, decoded.text]).toEqual([false, expect.stringContaining("hello")]);
  expect(JSON.stringify([tools, decoded])).not.toContain("xoxp-hush");
});
