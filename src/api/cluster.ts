import * as z from "zod";
import { CALLS } from "./calls.ts";
import { call, flag, many, ms, one, optionalText, text } from "./declare.ts";

const tag = "Cluster";

const node = z.object({
  node: text.describe("host and port of its API, as other nodes reach it"),
  role: z
    .enum(["leading", "starting", "standby", "unable", "draining", "silent"])
    .describe(
      "leading: serves all sources; starting: is about to lead or to stand by; standby: forwards requests, and leads when the leader ends; unable: failed when it tried to lead; draining: leads only when no other node can; silent: gave no sign of life for 5 s",
    ),
  version: text,
  problem: optionalText.describe("why it could not lead"),
  started_at_ms: ms,
  silent_ms: z.int().describe("since its last sign of life"),
});
export type NodeRecord = z.infer<typeof node>;

export const cluster = {
  nodes: call(CALLS.cluster.nodes, { tag, summary: "Lists the nodes of this cluster; empty for a server that is alone", answer: many(node) }),
  drain: call(CALLS.cluster.drain, {
    tag,
    summary: "Drains a node, or ends its draining. A draining node does not lead: a leader hands over to another node",
    params: z.object({ draining: flag }),
    answer: one(node),
  }),
};
