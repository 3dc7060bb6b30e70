import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { JSONRPCMessage, RequestId } from "@modelcontextprotocol/sdk/types.js";
import { PdError } from "../domain/errors.ts";
import { agentServer } from "./agent-server.ts";
import type { OfferedTools } from "./offered-tools.ts";

interface Streams {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
}

/** Serves until the streams close. Requests received before are answered. */
export async function serveAgent(
  { stdin, stdout }: Streams,
  { tools, version, signal }: { tools: OfferedTools; version: string; signal: AbortSignal },
): Promise<void> {
  const server = agentServer(tools, version);
  const transport = new AnsweringTransport({ stdin, stdout });
  const ended = new Promise<void>((resolve) => void stdin.once("end", () => resolve()));
  const closed = new Promise<void>((resolve) => {
    server.onclose = () => resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
  await server.connect(transport);
  const isCutOff = await Promise.race([closed.then(() => !signal.aborted), ended.then(() => transport.untilAnswered()).then(() => false)]);
  await server.close();
  const { failure } = transport;
  if (isCutOff && failure !== undefined) throw new PdError("PD_FAILED", `Cannot keep the agent connected: ${failure.message}`, { cause: failure });
}

class AnsweringTransport extends StdioServerTransport {
  /** Except for bad messages. Ends the connection. */
  failure: Error | undefined;
  readonly #stdout: NodeJS.WriteStream;
  readonly #open = new Set<RequestId>();
  #whenAnswered: (() => void) | undefined;

  constructor({ stdin, stdout }: Streams) {
    super(stdin, stdout);
    this.#stdout = stdout;
  }

  // A bad message's id is unknown, but its sender must not wait forever.
  override onerror = (error: Error): void => {
    if (error instanceof SyntaxError && error.message === NOTHING_READ) return;
    const code = codeOfBad(error);
    if (code === undefined) this.failure = error;
    const message = code === INVALID_REQUEST ? "The JSON is not a JSON-RPC message" : error.message;
    this.#stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: null, error: { code: code ?? INTERNAL_ERROR, message } })}\n`);
  };

  // `connect` calls this handler before its own.
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

const [PARSE_ERROR, INVALID_REQUEST, INTERNAL_ERROR] = [-32_700, -32_600, -32_603];

/** JSON.parse's message for an empty string. */
const NOTHING_READ = "Unexpected end of JSON input";

function codeOfBad(error: Error): number | undefined {
  if (error instanceof SyntaxError) return PARSE_ERROR;
  return "issues" in error ? INVALID_REQUEST : undefined;
}
