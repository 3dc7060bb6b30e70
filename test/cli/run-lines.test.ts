import { describe, expect, it } from "vitest";
import { colours } from "../../src/cli/colours.ts";
import { RunLines } from "../../src/cli/run-lines.ts";

const RUN = { id: "inv_1", at: Date.UTC(2026, 0, 1), durationMs: 12, outcome: { kind: "returned" }, eventCount: 3, dropped: {} } as const;

function looking() {
  const lines: string[] = [];
  return { lines, runs: new RunLines({ print: (line) => lines.push(line), colours: colours(false) }) };
}

const orders = (): string => "orders";
describe("whoever looks at pd up", () => {
  it("sees a line a run, with what it came to", () => {
    const { lines, runs } = looking();
    runs.add({ ...RUN, dropped: { unique: 2 } }, orders);
    const error = { name: "TypeError", message: `no\u001b[8m\n12:00:00 ✔ forged${"x".repeat(1000)}`, stack: "" };
    runs.add({ ...RUN, outcome: { kind: "threw", error }, eventCount: 0 }, orders);
    expect(lines).toEqual([
      expect.stringMatching(/^\d\d:00:00\.000 ✔ orders {2}12 ms, 3 events, 2 dropped \(unique\) {2}inv_1$/),
      expect.stringMatching(/^\d\d:00:00\.000 ✖ orders {2}TypeError: no {2}12 ms {2}inv_1$/),
    ]);
  });

  it("sees of very many a few a second, and how many more there were; nobody asks what the others are called", () => {
    const { lines, runs } = looking();
    let asked = 0;
    for (let n = 0; n < 500; n++) runs.add(RUN, () => `orders${++asked}`);
    expect([lines.length, asked]).toEqual([20, 20]);
    runs.add({ ...RUN, at: RUN.at + 1000 }, orders);
    expect(lines.slice(20)).toEqual([expect.stringContaining("… and 480 more runs"), expect.stringContaining("✔ orders")]);
  });
});
