/** Time between two signs of life of a node. */
export const BEAT_MS = 500;
/** A leader that has not reached the database for this long gives up, before another node takes over. */
export const STEP_DOWN_AFTER_MS = 4000;
/** Of no sign of life. Another node then takes over. */
export const SILENT_AFTER_MS = 5000;

export interface ClusterNode {
  /** `<host>:<port>` of its API, as other nodes reach it. */
  readonly id: string;
  readonly apiUrl: string;
  readonly endpointUrl: string;
  readonly version: string;
  /** Epoch ms, by the database's clock. */
  readonly startedAt: number;
  /** ms since its last sign of life. */
  readonly silentMs: number;
  readonly isDraining: boolean;
  /** It has an open session that tries to get the lock, or has it. */
  readonly isCandidate: boolean;
  /** Why it could not lead when it tried. Empty if it could. */
  readonly problem: string;
  readonly isLeader: boolean;
  /** A leader that takes requests. */
  readonly isReady: boolean;
}

/** `standby`: would lead if the leader ended. `starting`: is about to be one of both. `unable`: its last try to lead failed. */
export type NodeRole = "leading" | "starting" | "standby" | "unable" | "draining" | "silent";

export function roleOf({ silentMs, isDraining, isCandidate, problem, isLeader, isReady }: ClusterNode): NodeRole {
  // The sessions of a process that has died are closed at once.
  if (silentMs >= (isCandidate ? SILENT_AFTER_MS : 2 * BEAT_MS)) return "silent";
  if (isLeader && isReady) return isDraining ? "draining" : "leading";
  if (isDraining) return "draining";
  if (problem !== "") return "unable";
  return isLeader || !isCandidate ? "starting" : "standby";
}

/** The node that takes requests now. */
export function leaderOf(nodes: readonly ClusterNode[]): ClusterNode | undefined {
  return nodes.find(({ isLeader, isReady, silentMs }) => isLeader && isReady && silentMs < SILENT_AFTER_MS);
}

export function canLeadInstead(nodes: readonly ClusterNode[], id: string): boolean {
  return nodes.some((node) => node.id !== id && roleOf(node) === "standby");
}
