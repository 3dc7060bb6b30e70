import { readFile, readdir } from "node:fs/promises";
import { tmpdir } from "node:os";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCommand } from "../../src/system/process/run-command.ts";
import { temporaryFolder } from "../support/home.ts";

async function running(word: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const words = await Promise.all(pids.map(async (pid) => (await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")).split("\0")));
  return pids.flatMap((pid, index) => (words[index]?.includes(word) === true ? [Number(pid)] : []));
}

describe("a command that leaves a process in the background", () => {
  const settings = { folder: tmpdir(), signal: new AbortController().signal };

  it("has ended when it has, and takes that along", async () => {
    const script = "sleep 7654321 & echo started; echo failed >&2; exit 3";
    expect(await runCommand("sh", ["-c", script], settings)).toEqual({ code: 3, output: expect.stringMatching(/^(started\nfailed|failed\nstarted)\n$/) });
    await expect.poll(() => running("7654321")).toEqual([]);
  });

  it("in a session of its own has ended all the same, with all that it has printed", async () => {
    onTestFinished(async () => (await running("8765432")).forEach((pid) => process.kill(pid, "SIGKILL")));
    const text = "x".repeat(200_000);
    const folder = await temporaryFolder();
    // The background process is detached before the command ends.
    const script = `setsid sh -c 'touch ready; exec sleep 8765432' & until [ -e ready ]; do :; done; head -c 200000 /dev/zero | tr '\\0' x`;
    const { code, output } = await runCommand("sh", ["-c", script], { ...settings, folder });
    expect([code, output]).toEqual([0, text]);
    await expect.poll(() => running("8765432")).toHaveLength(1);
  });

  it("ends with it when the time is over", async () => {
    await expect(runCommand("sh", ["-c", "sleep 6543210 & sleep 6543210"], { ...settings, timeoutMs: 100 })).rejects.toThrow("timed out after 0.1 s");
    await expect.poll(() => running("6543210")).toEqual([]);
  });
});
