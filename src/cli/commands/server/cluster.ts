import { setTimeout as sleep } from "node:timers/promises";
import type { NodeRecord } from "../../../api/server.ts";
import type { Client } from "../../../client/client.ts";
import { PdError } from "../../../domain/errors.ts";
import { type CliContext, connect } from "../../context.ts";
import { localTime, printNote, printRecord, printRecords } from "../../reporter.ts";
import { withSpinner } from "../../spinner.ts";

const HAND_OVER_MS = 30_000;
const LOOK_MS = 200;

export async function status(cli: CliContext): Promise<number> {
  const client = await connect(cli);
  const nodes = await client.cluster.nodes();
  for (const { node, problem } of nodes) if (problem !== undefined && !cli.isJson) printNote(cli, `${node} could not lead: ${problem}`);
  return printRecords(cli, nodes, {
    columns: ["node", "role", "version", "started", "seen"],
    cells: ({ node, role, version, started_at_ms: startedAt, silent_ms: silentMs }) => [
      node,
      role,
      version,
      localTime(startedAt),
      `${Math.floor(silentMs / 1000)} s ago`,
    ],
    none: "This server is alone: pd up --database-url <url> --advertise <host> makes it a node of a cluster",
  });
}

/** Returns once another node leads. */
export async function drain(cli: CliContext, node: string, { undo = false }: { undo?: boolean | undefined }): Promise<number> {
  const client = await connect(cli);
  const drained = await client.cluster.drain(node, { draining: !undo });
  if (undo) return printRecord(cli, drained, () => printNote(cli, `${node} may lead again`));
  const leader = await withSpinner(cli, `Draining ${node}`, untilOtherLeads(client, node));
  return printRecord(cli, { ...drained, leader: leader.node }, () => printNote(cli, `${node} is drained: ${leader.node} leads`));
}

async function untilOtherLeads(client: Client, node: string): Promise<NodeRecord> {
  for (const started = Date.now(); Date.now() - started < HAND_OVER_MS; await sleep(LOOK_MS)) {
    const leader = (await client.cluster.nodes()).find(({ role }) => role === "leading");
    if (leader !== undefined && leader.node !== node) return leader;
  }
  throw new PdError("PD_FAILED", `Cannot drain ${node}: no other node leads after ${HAND_OVER_MS / 1000} s`, { fix: "pd cluster status" });
}
