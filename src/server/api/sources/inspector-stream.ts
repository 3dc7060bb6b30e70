import { IncomingMessage } from "node:http";
import { EventEmitter, on } from "node:events";
import { getConnInfo } from "@hono/node-server/conninfo";
import { type Context, Hono } from "hono";
import type { DebugNewsRecord } from "../../../api/sources.ts";
import type { DebugSession } from "../../../debugger/debug-session.ts";
import type { InspectorDoor } from "../../../debugger/inspector-door.ts";
import type { PeerRules } from "../../../debugger/loopback-peer.ts";
import { isLoopbackAddress } from "../../../domain/text/addresses.ts";
import { PdError, messageOf } from "../../../domain/errors.ts";
import type { Engine } from "../../../engine/engine.ts";
import type { Clock } from "../../../ports/clock.ts";
import { type ActionDebuggers, type DebugTarget, deployedTarget } from "./debug-targets.ts";
import { type Message, frameOf, framesOf, stream, streamHead } from "./event-stream.ts";
import { callerOf } from "../rights.ts";
import { isForwarded } from "../../forwarding/forwarded.ts";

interface InspectorPorts {
  readonly engine: Engine;
  readonly debuggers: ActionDebuggers;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly peers: PeerRules;
  /** The server sends no messages to this TCP port until the returned function is called. */
  readonly keepPort: (port: number) => () => void;
}

interface Inspection {
  readonly target: DebugTarget;
  readonly session: DebugSession;
  readonly door: InspectorDoor;
  readonly news: EventEmitter;
  readonly freePort: () => void;
}

const KEY_LENGTH = 32;

/** For sources and workflows, and for actions. A debugger may connect while a client reads the stream. */
export function inspectorRoutes(ports: InspectorPorts): Hono {
  const app = new Hono();
  const answer = async (context: Context, target: DebugTarget): Promise<Response> => {
    if (context.req.method === "HEAD") return streamHead(context);
    const inspection = await begin(ports, target, { port: portOf(context), root: rootOf(context, target) });
    return stream(context, async (signal) => ({ frames: framesOf(told(ports, inspection, signal), (message) => [frameOf(message)]) }));
  };
  app.get("/sse/dc/:id/inspector", async (context) => {
    requireOwner(context);
    return answer(context, deployedTarget(ports.engine, context.req.param("id")));
  });
  app.get("/sse/actions/:id/inspector", async (context) => {
    requireOwner(context);
    return answer(context, ports.debuggers.target(context.req.param("id")));
  });
  return app;
}

/** Debugged components run without Node's permission model. So only the owner may debug, from the server's machine. */
function requireOwner(context: Context): void {
  const { name } = callerOf(context);
  const incoming: unknown = Reflect.get(Object(context.env), "incoming");
  const isFromNode = incoming instanceof IncomingMessage && isForwarded(incoming);
  const isHere = isLoopbackAddress(getConnInfo(context).remote.address) && !isFromNode;
  if (name === undefined && isHere) return;
  const why = isHere ? `the key ${JSON.stringify(name)} is not the owner's` : "the request came from another machine";
  throw new PdError("PD_NOT_OWNER", `Cannot debug on this server: ${why}`);
}

function portOf(context: Context): number {
  const text = context.req.query("port") ?? "0";
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new PdError("PD_BAD_INPUT", `Cannot listen on port ${JSON.stringify(text)} for a debugger: expected a number from 0 to 65535`);
}

function rootOf(context: Context, { slug }: DebugTarget): string {
  const root = context.req.query("root");
  if (root === undefined) return `headwater:///${slug}/`;
  if (/^file:\/\/\/([^\s]*\/)?$/.test(root) && URL.canParse(root)) return root;
  throw new PdError("PD_BAD_INPUT", `Cannot use ${JSON.stringify(root)} as the folder of the files: expected a file: URL that ends in a slash`);
}

async function begin({ clock, peers, keepPort }: InspectorPorts, target: DebugTarget, { port, root }: { port: number; root: string }): Promise<Inspection> {
  const news = new EventEmitter();
  const tell = (record: DebugNewsRecord): void => void news.emit("news", record);
  const [{ DebugSession: Session }, { InspectorDoor: Door }] = await Promise.all([
    import("../../../debugger/debug-session.ts"),
    import("../../../debugger/inspector-door.ts"),
  ]);
  const session = new Session({ url: `headwater:///${target.slug}.mjs`, root, tell });
  const door = await Door.open(session, { port, title: target.title, key: clock.randomText(KEY_LENGTH), peers });
  return { target, session, door, news, freePort: keepPort(door.port) };
}

/** Listens from the start: code may pause while it is loaded. */
async function* told({ signal }: InspectorPorts, { target, session, door, news, freePort }: Inspection, gone: AbortSignal): AsyncGenerator<Message> {
  const listening: DebugNewsRecord = { kind: "listening", url: door.url, port: door.port };
  const over = AbortSignal.any([signal, gone, target.gone]);
  // Resumes paused code, also code that is still loading.
  over.addEventListener("abort", () => void door.close(), { once: true });
  const begun = target.begin(session);
  try {
    const coming = on(news, "news", { signal: over });
    const ended = begun.then(
      (): DebugNewsRecord => ({ kind: "ready" }),
      (error: unknown): DebugNewsRecord => ({ kind: "refused", reason: messageOf(error) }),
    );
    void ended.then((record) => news.emit("news", record));
    yield { data: JSON.stringify(listening) };
    for await (const [record] of coming) yield { data: JSON.stringify(record) };
  } catch (error) {
    if (!over.aborted) throw error;
  } finally {
    await door.close();
    freePort();
    await begun.catch(() => {});
    if (!signal.aborted) await target.end(session);
  }
}
