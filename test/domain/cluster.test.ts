import { describe, expect, it } from "vitest";
import { type ClusterNode, SILENT_AFTER_MS, canLeadInstead, leaderOf, roleOf } from "../../src/domain/cluster/node.ts";

function node(id: string, more: Partial<ClusterNode> = {}): ClusterNode {
  const urls = { apiUrl: `http://${id}:1`, endpointUrl: `http://${id}:2` };
  return {
    id,
    ...urls,
    version: "1.0.0",
    startedAt: 0,
    silentMs: 100,
    isDraining: false,
    isCandidate: true,
    problem: "",
    isLeader: false,
    isReady: true,
    ...more,
  };
}

describe("a node of a cluster", () => {
  it.each([
    [{ isLeader: true }, "leading"],
    [{ isLeader: true, isReady: false }, "starting"],
    [{}, "standby"],
    [{ isCandidate: false }, "starting"],
    [{ isCandidate: false, silentMs: 1000 }, "silent"],
    [{ problem: "its schema is older" }, "unable"],
    [{ isDraining: true }, "draining"],
    [{ isLeader: true, isDraining: true }, "draining"],
    [{ isLeader: true, silentMs: SILENT_AFTER_MS }, "silent"],
  ] as const)("with %j is %s", (facts, role) => {
    expect(roleOf(node("a", facts))).toBe(role);
  });

  it("gets requests while it leads, takes them and is heard of", () => {
    const leader = node("a", { isLeader: true });
    expect(leaderOf([node("b"), leader])).toBe(leader);
    expect(leaderOf([node("a", { isLeader: true, isReady: false })])).toBeUndefined();
    expect(leaderOf([node("a", { isLeader: true, silentMs: SILENT_AFTER_MS })])).toBeUndefined();
  });

  it("can be replaced by a standby only", () => {
    const leader = node("a", { isLeader: true });
    expect(canLeadInstead([leader, node("b")], "a")).toBe(true);
    expect(canLeadInstead([leader], "a")).toBe(false);
    expect(canLeadInstead([leader, node("b", { isDraining: true }), node("c", { silentMs: SILENT_AFTER_MS }), node("d", { problem: "older" })], "a")).toBe(
      false,
    );
  });
});
