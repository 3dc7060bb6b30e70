import { Chalk } from "chalk";
import { describe, expect, it } from "vitest";
import { RunLines } from "../../src/cli/run-lines.ts";

const RUN = { id: "inv_1", at: Date.UTC(2026, 0, 1), durationMs: 12, outcome: { kind: "returned" }, eventCount: 3, dropped: {} } as const;

function looking() {
  const lines: string[] = [];
  return { lines, runs: new RunLines({ print: (line) => lines.push(line), colours: new Chalk({ level: 0 }) }) };
}

describe("whoever looks at pd up", () => {
  it("sees a line a run, with what it came to", () => {
    const { lines, runs } = looking();
    runs.add("orders", { ...RUN, dropped: { unique: 2 } });
    runs.add("orders", { ...RUN, outcome: { kind: "threw", error: { name: "TypeError", message: "no", stack: "" } }, eventCount: 0 });
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:00:00\.000 ✔ orders {2}12 ms, 3 events, 2 dropped \(unique\) {2}inv_1$/),
      expect.stringMatching(/^\d\d:00:00\.000 ✖ orders {2}TypeError: no {2}12 ms {2}inv_1$/),
    ]);
  });

  it("sees of very many a few a second, and how many more there were", () => {
    const { lines, runs } = looking();
    for (let n = 0; n < 500; n++) runs.add("orders", RUN);
    expect(lines).toHaveLength(20);
    runs.add("orders", { ...RUN, at: RUN.at + 1000 });
    expect(lines.slice(20)).toEqual([expect.stringContaining("… and 480 more runs in that second"), expect.stringContaining("✔ orders")]);
  });
});
