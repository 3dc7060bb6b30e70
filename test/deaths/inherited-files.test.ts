import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readlinkSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { PD, untilOutput } from "../support/pd.ts";
import { codeOf } from "../../src/domain/errors.ts";

/** The server has an inherited open file, and V8 writes a profile. */
async function serverWithFiles({ home, left }: { home: string; left: string }): Promise<number> {
  const env = { ...process.env, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never", NODE_OPTIONS: "--perf-basic-prof" };
  const shell = `exec 200>"${left}"; exec "${process.execPath}" "${PD}" up`;
  const child = spawn("bash", ["-c", shell], { cwd: dirname(left), env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await untilOutput(child, (text) => text.includes("Home:"));
  const pid = Number(child.pid);
  onTestFinished(() => rm(profileOf(pid), { force: true }));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    expect(await once(child, "exit")).toEqual([0, null]);
  });
  return pid;
}

function openFilesOf(pid: number): readonly string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch (error) {
      if (codeOf(error) === "ENOENT") return [];
      throw error;
    }
  });
}

function profileOf(pid: number): string {
  return `/tmp/perf-${pid}.map`;
}

describe.runIf(process.platform === "linux")("the files that a server was started with", () => {
  it("are let go when others have left them; what V8 writes of it goes into no file of the home", async () => {
    const folder = await temporaryFolder();
    const [home, left] = [join(folder, "home"), join(folder, "left")];
    const pid = await serverWithFiles({ home, left });
    const open = openFilesOf(pid);
    expect(open).not.toContain(left);
    expect(open).toContain(profileOf(pid));
    expect(await readFile(join(home, "server.lock"), "utf8")).toBe("");
    expect(await readFile(profileOf(pid), "utf8")).toContain("JS:");
  });
});
