import { PdError } from "../domain/errors.ts";
import type { ClusterNode } from "../domain/cluster/node.ts";

/** Servers on one database. One leads: it serves all sources. The others forward requests to it. */
export interface Cluster {
  /** Empty for a server that is alone. */
  nodes(): Promise<readonly ClusterNode[]>;
  /** A draining node does not lead. Throws PD_NOT_FOUND, and PD_CONFLICT when no other node could lead. */
  drain(id: string, isDraining: boolean): Promise<ClusterNode>;
}

export const NO_CLUSTER: Cluster = {
  nodes: async () => [],
  drain: async (id) => {
    throw new PdError("PD_NOT_FOUND", `Cannot drain ${JSON.stringify(id)}: this server is no node of a cluster`, {
      fix: "Start it with --database-url and --advertise",
    });
  },
};
