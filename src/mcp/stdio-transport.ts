import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { agentServer } from "./agent-server.ts";
import type { OfferedTools } from "./offered-tools.ts";

interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** Serves one agent over a process's own streams, until it closes them. */
export async function serveAgent(
  { stdin, stdout }: Streams,
  { tools, version, signal }: { tools: OfferedTools; version: string; signal: AbortSignal },
): Promise<void> {
  const server = agentServer(tools, version);
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
    stdin.once("end", () => resolve());
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(new StdioServerTransport(stdin, stdout));
  await closed;
  await server.close();
}
