import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListToolsRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject } from "../domain/text/json.ts";
import { NO_CHOICES, type OfferedTools } from "./offered-tools.ts";
import type { ChoosingTool, Tool } from "./tool.ts";

export function agentServer(tools: OfferedTools, version: string): Server {
  const server = new Server(
    { name: "headwater", version },
    {
      capabilities: { tools: {}, prompts: {}, completions: {} },
      instructions: "Tools of a Headwater server, which runs event sources, workflows and actions.",
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: (await tools.all()).map(shown) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: given = {} } }) => tools.call(name, given));
  // MCP completes only arguments of prompts, so each tool has a prompt of the same name.
  server.setRequestHandler(ListPromptsRequestSchema, async () => ({ prompts: (await tools.choosing()).map(promptOf) }));
  server.setRequestHandler(GetPromptRequestSchema, async ({ params: { name, arguments: given = {} } }) => {
    const text = `Call the tool ${name} with these arguments: ${JSON.stringify(given)}`;
    return { messages: [{ role: "user" as const, content: { type: "text" as const, text } }] };
  });
  server.setRequestHandler(CompleteRequestSchema, async ({ params: { ref, argument, context } }) => {
    const { choices, hasMore } = ref.type === "ref/prompt" ? await tools.choices(ref.name, argument, context?.arguments ?? {}) : NO_CHOICES;
    const values = choices.map(({ value }) => (typeof value === "string" ? value : JSON.stringify(value)));
    return { completion: { values, hasMore, ...(hasMore ? {} : { total: values.length }) } };
  });
  return server;
}

function shown({ name, title, description, inputSchema, isReadOnly, isDestructive }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: { ...inputSchema, type: "object" as const },
    annotations: { title, readOnlyHint: isReadOnly, destructiveHint: isDestructive, idempotentHint: isReadOnly, openWorldHint: !isReadOnly },
  };
}

function promptOf({ name, description, inputSchema }: ChoosingTool) {
  const properties = isJsonObject(inputSchema["properties"]) ? inputSchema["properties"] : {};
  const required = Array.isArray(inputSchema["required"]) ? inputSchema["required"] : [];
  return { name, description, arguments: Object.keys(properties).map((argument) => ({ name: argument, required: required.includes(argument) })) };
}
