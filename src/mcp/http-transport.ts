import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { agentServer } from "./agent-server.ts";
import type { OfferedTools } from "./offered-tools.ts";

const MOST_BYTES = 4 * 2 ** 20;

/** Stateless: each request has its key and offer. */
export async function answerAgent(request: Request, { tools, version }: { tools: OfferedTools; version: string }): Promise<Response> {
  // GET and DELETE are for streams and sessions.
  if (request.method !== "POST") return new Response("Only POST is allowed here", { status: 405, headers: { allow: "POST" } });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize: MOST_BYTES });
  const server = agentServer(tools, version);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}
