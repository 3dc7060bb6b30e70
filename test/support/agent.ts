import { PD } from "./pd.ts";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { onTestFinished } from "vitest";
import { type JsonObject, isJsonObject } from "../../src/domain/text/json.ts";

export interface Called {
  readonly isError: boolean;
  readonly text: string;
  readonly value: JsonObject;
}

export class Agent {
  readonly client: Client;

  static async overStdio(words: readonly string[], env: Readonly<Record<string, string>>): Promise<Agent> {
    const client = new Client({ name: "test", version: "1" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [PD, "mcp", ...words], env: { ...env }, stderr: "ignore" }));
    onTestFinished(() => client.close());
    return new Agent(client);
  }

  static async overHttp(url: string, key: string): Promise<Agent> {
    const client = new Client({ name: "test", version: "1" });
    const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { authorization: `Bearer ${key}` } } });
    // Under exactOptionalPropertyTypes, the library's transport does not match its own interface.
    const connect: (transport: any) => Promise<void> = (given) => client.connect(given);
    await connect(transport);
    onTestFinished(() => client.close());
    return new Agent(client);
  }

  private constructor(client: Client) {
    this.client = client;
  }

  async names(): Promise<readonly string[]> {
    return (await this.client.listTools()).tools.map(({ name }) => name);
  }

  async call(name: string, given: JsonObject = {}): Promise<Called> {
    const { content, structuredContent, isError } = await this.client.callTool({ name, arguments: given });
    const texts = (Array.isArray(content) ? content : []).map((part: { text?: string }) => part.text ?? "");
    return { isError: isError === true, text: texts.join("\n"), value: isJsonObject(structuredContent) ? structuredContent : {} };
  }
}
