import { expect, it } from "vitest";
import type { LogLine } from "../../src/domain/run/invocation.ts";
import { LateLines } from "../../src/sandbox/process/late-lines.ts";
import { FakeClock } from "../support/fake-clock.ts";

const line = (text: string): LogLine => ({ at: 1, level: "stdout", text });

it("what ended calls print is stored together, and limited for each call whoever prints beside it", async () => {
  const clock = new FakeClock(0);
  const stored: [string, readonly LogLine[]][] = [];
  const late = new LateLines(clock, new AbortController().signal, (id, logs) => stored.push([id, logs]));
  for (let count = 0; count < 3; count++) for (const id of ["inv_a", "inv_b"] as const) late.add(id, line(String(count)));
  expect(stored).toEqual([]);
  await clock.setTo(100);
  expect(stored.map(([id, logs]) => [id, logs.map(({ text }) => text)])).toEqual([
    ["inv_a", ["0", "1", "2"]],
    ["inv_b", ["0", "1", "2"]],
  ]);
  for (let count = 0; count < 20_000; count++) for (const id of ["inv_a", "inv_b"] as const) late.add(id, line("more"));
  late.flush();
  const ofA = stored.filter(([id]) => id === "inv_a").flatMap(([, logs]) => logs);
  expect([ofA.length, ofA.at(-1)?.text]).toEqual([10_001, "Further output of this call is dropped: it printed too much"]);
});
