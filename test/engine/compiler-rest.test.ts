import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { esbuildBundler } from "../../src/code/esbuild-bundler.ts";
import { LocalComponent } from "../../src/code/local-component.ts";
import { temporaryFolder } from "../support/home.ts";
import { bundlerPids } from "../support/processes.ts";

const bundle = (): Promise<unknown> => esbuildBundler.bundle({ path: "a.mjs", text: 'export default { name: "a", run() {} };', files: {} });
const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** Looked at turn by turn: the timers of this test stand still. */
async function ended(): Promise<void> {
  while ((await bundlerPids()).length > 0) await new Promise((resolve) => setImmediate(resolve));
}

describe("the compiler's process", () => {
  /** Each begins long after the one before. */
  let now = performance.now();
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    now += 100 * MINUTE;
    vi.advanceTimersByTime(now - performance.now());
  });
  afterEach(() => void vi.useRealTimers());

  it("ends when nobody has needed it for five seconds, and is there again for whoever needs it", async () => {
    await bundle();
    vi.advanceTimersByTime(5 * SECOND - 1);
    expect(await bundlerPids()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await ended();
    // As long after as makes it new work.
    vi.advanceTimersByTime(10 * MINUTE);
    expect(await bundle()).toMatchObject({ kind: "built" });
    expect(await bundlerPids()).toHaveLength(1);
    vi.advanceTimersByTime(5 * SECOND);
    await ended();
  });

  it("stays ten minutes when it was needed soon after it had ended, as between two saves", async () => {
    await bundle();
    vi.advanceTimersByTime(5 * SECOND);
    await ended();
    vi.advanceTimersByTime(MINUTE);
    await bundle();
    vi.advanceTimersByTime(10 * MINUTE - 1);
    expect(await bundlerPids()).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await ended();
  });

  it("stays while a file is watched, however long nobody saves it", async () => {
    const path = join(await temporaryFolder(), "a.mjs");
    await writeFile(path, 'export default { name: "a", run() {} };');
    const component = await LocalComponent.open(path);
    await component.read();
    const [pid] = await bundlerPids();
    vi.advanceTimersByTime(60 * MINUTE);
    expect(await component.read()).toMatchObject({ kind: "read" });
    expect(await bundlerPids()).toEqual([pid]);
    await component.dispose();
    vi.advanceTimersByTime(5 * SECOND);
    await ended();
  });
});
