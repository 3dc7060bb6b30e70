import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { agentServer } from "./agent-server.ts";
import type { OfferedTools } from "./offered-tools.ts";

interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** Serves one agent over a process's own streams, until it closes them; what it has asked before that is answered. */
export async function serveAgent(
  { stdin, stdout }: Streams,
  { tools, version, signal }: { tools: OfferedTools; version: string; signal: AbortSignal },
): Promise<void> {
  const server = agentServer(tools, version);
  const transport = new AnsweringTransport(stdin, stdout);
  const ended = new Promise<void>((resolve) => void stdin.once("end", () => resolve()));
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(transport);
  await Promise.race([closed, ended.then(() => transport.untilAnswered())]);
  await server.close();
}

/** Knows which requests wait for their answer. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<RequestId>();
  #whenAnswered: (() => void) | undefined;

  // Whoever connects calls what was here before.
  override onmessage = (message: JSONRPCMessage): void => {
    if (!("method" in message)) return;
    if ("id" in message) this.#open.add(message.id);
    const cancelled = message.method === "notifications/cancelled" ? message.params?.["requestId"] : undefined;
    if (typeof cancelled === "string" || typeof cancelled === "number") this.#close(cancelled);
  };

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!("method" in message) && message.id !== undefined) this.#close(message.id);
  }

  untilAnswered(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenAnswered = resolve;
      if (this.#open.size === 0) resolve();
    });
  }

  #close(id: RequestId): void {
    this.#open.delete(id);
    if (this.#open.size === 0) this.#whenAnswered?.();
  }
}
