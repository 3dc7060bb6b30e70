import { packageVersion } from "../../../system/program-files.ts";
import { OfferedTools } from "../../../mcp/offered-tools.ts";
import { readOffer } from "../../../mcp/read-offer.ts";
import { serveAgent } from "../../../mcp/stdio-transport.ts";
import { type CliContext, connect } from "../../context.ts";
import { abortOnStop } from "../../stop-signals.ts";

export interface McpFlags {
  readonly actions?: string | undefined;
  /** Each is `app=account`. */
  readonly account?: readonly string[] | undefined;
  readonly steer?: boolean | undefined;
}

/** Serves an agent until it disconnects. */
export async function mcp(cli: CliContext, { actions, account, steer }: McpFlags): Promise<number> {
  const offer = readOffer({ actions, accounts: account, steers: steer });
  const client = await connect(cli);
  const { signal } = abortOnStop(cli.stdout);
  await serveAgent(cli, { tools: new OfferedTools(client, offer), version: await packageVersion(), signal });
  return 0;
}
