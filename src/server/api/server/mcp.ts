import type { Context, Hono } from "hono";
import { createClient } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import type { OfferedTools } from "../../../mcp/offered-tools.ts";
import type { Clock } from "../../../ports/clock.ts";
import { readOffer } from "../../../mcp/read-offer.ts";
import { callerOf } from "../rights.ts";

interface AgentDoor {
  /** Tools call this API with the rights of the agent's key. */
  readonly url: () => string;
  readonly version: string;
  readonly clock: Clock;
}

/** `?actions=slack-send-message,github-*&account=slack=team&steer=true` selects the tools. */
export function mountAgents(app: Hono, { url, version, clock }: AgentDoor): void {
  const kept = new Map<string, ToolsOfKey>();
  app.all("/mcp", async (context) => {
    const { key } = callerOf(context);
    const { OfferedTools: Tools, answerAgent } = await import("../../../mcp/http-door.ts");
    const offer = offerOf(context);
    const name = JSON.stringify([key, offer]);
    const known = kept.get(name);
    const isFresh = known !== undefined && known.until > clock.now();
    const tools = isFresh ? known.tools : new Tools(createClient({ baseUrl: url(), key }), offer);
    kept.delete(name);
    kept.set(name, { key, tools, until: isFresh ? known.until : clock.now() + KEPT_MS });
    // A key replaces only its own tools.
    const [oldest, ...others] = [...kept].filter(([, one]) => one.key === key);
    if (oldest !== undefined && others.length >= MOST_OF_KEY) kept.delete(oldest[0]);
    return answerAgent(context.req.raw, { tools, version });
  });
}

/** Kept between requests: reading the declarations of actions runs them. */
interface ToolsOfKey {
  readonly key: string;
  readonly tools: OfferedTools;
  readonly until: number;
}

const KEPT_MS = 60_000;
const MOST_OF_KEY = 20;

function offerOf({ req }: Context): ReturnType<typeof readOffer> {
  const strange = Object.keys(req.query()).filter((name) => !["actions", "account", "steer"].includes(name));
  if (strange.length > 0) throw new PdError("PD_BAD_INPUT", `Cannot offer ${strange.join(", ")}: /mcp accepts actions, account and steer`);
  const steer = req.query("steer");
  if (steer !== undefined && !["true", "false"].includes(steer)) throw new PdError("PD_BAD_INPUT", `Cannot use steer=${steer}: expected true or false`);
  return readOffer({ actions: req.queries("actions")?.join(","), accounts: req.queries("account"), steers: steer === "true" });
}
