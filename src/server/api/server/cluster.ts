import { api } from "../../../api/api.ts";
import type { NodeRecord } from "../../../api/server.ts";
import { type ClusterNode, roleOf } from "../../../domain/cluster/node.ts";
import type { Cluster } from "../../../ports/cluster.ts";
import { type Route, route } from "../route.ts";

export function clusterRoutes(cluster: Cluster): readonly Route[] {
  return [
    route(api.cluster.nodes, async () => ({ data: (await cluster.nodes()).map(nodeRecord) })),
    route(api.cluster.drain, async ({ part, params }) => ({ data: nodeRecord(await cluster.drain(part("id"), params.draining)) })),
  ];
}

function nodeRecord(node: ClusterNode): NodeRecord {
  const { id, version, problem, startedAt, silentMs } = node;
  return { node: id, role: roleOf(node), version, problem: problem === "" ? undefined : problem, started_at_ms: startedAt, silent_ms: silentMs };
}
