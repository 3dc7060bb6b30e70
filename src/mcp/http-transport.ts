import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { agentServer } from "./agent-server.ts";
import type { OfferedTools } from "./offered-tools.ts";

const MOST_BYTES = 4 * 2 ** 20;

/** Answers one request of an agent. No session is kept between two: each brings its key, and what it is offered. */
export async function answerAgent(request: Request, { tools, version }: { tools: OfferedTools; version: string }): Promise<Response> {
  // There is nothing to stream, and no session to end.
  if (request.method !== "POST") return new Response("Only POST is answered here", { status: 405, headers: { allow: "POST" } });
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true, maxRequestBodySize: MOST_BYTES });
  const server = agentServer(tools, version);
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
}
