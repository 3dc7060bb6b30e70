import { describe, expect, it } from "vitest";
import { type MachineFacts, machineFindings } from "../../src/domain/health/machine-checkup.ts";

const FINE: MachineFacts = {
  node: "20.19.0",
  version: "1.0.0",
  serverVersion: "1.0.0",
  home: { path: "/home/me" },
  driver: { name: "better-sqlite3" },
  ports: [],
  keyring: { isUsable: true, isWanted: true },
  npm: "10.0.0",
  now: 0,
  timeZone: "UTC",
  disk: { freeBytes: 50e9, totalBytes: 100e9 },
  sandbox: { kind: "wall", reason: "" },
};

const told = (facts: Partial<MachineFacts>, about: string): string => {
  const found = machineFindings({ ...FINE, ...facts }).find((finding) => finding.about === about);
  return found === undefined ? "nothing" : `${found.level}: ${found.text}`;
};

describe("of the machine is told", () => {
  it("a port that is free, that another program has, and that may not be listened on", () => {
    const port = { purpose: "endpoints", flag: "endpoint-port", port: 80 };
    expect(told({ ports: [port] }, "port 80")).toBe("good: free, for endpoints");
    expect(told({ ports: [{ ...port, isTaken: true }] }, "port 80")).toBe("bad: another program listens on it, but endpoints need it");
    expect(told({ ports: [{ ...port, problem: "listen EACCES" }] }, "port 80")).toBe("bad: cannot listen on it for endpoints: listen EACCES");
  });

  it("a database that is whole, damaged, or cannot be opened, which says nothing of what it holds", () => {
    const database = { path: "/home/me/headwater.db" };
    expect(told({ database }, "database")).toBe("good: every page of /home/me/headwater.db is intact");
    expect(told({ database: { ...database, damage: "page 7" } }, "database")).toBe("bad: /home/me/headwater.db is damaged: page 7");
    expect(told({ database: { ...database, problem: "unable to open" } }, "database")).toBe("bad: /home/me/headwater.db cannot be opened: unable to open");
  });

  it("no disk of a home that cannot be used", () => {
    expect(told({}, "disk")).toMatch(/^good: /);
    expect(told({ home: { path: "/x", problem: "it is a file" }, disk: { freeBytes: 0, totalBytes: 0 } }, "disk")).toBe("nothing");
  });
});
