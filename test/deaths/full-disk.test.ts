import { spawnSync } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";

const PD = join(import.meta.dirname, "..", "..", "bin", "pd.cjs");

function upWith(home: string, mount: readonly string[]): { status: number | null; printed: string } {
  const env = { ...process.env, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never", PD_SANDBOX: "belt", NO_COLOR: "1" };
  const words = ["--dev-bind", "/", "/", ...mount, "--", process.execPath, PD, "up"];
  const { status, stdout, stderr } = spawnSync("bwrap", words, { env, encoding: "utf8", timeout: 120_000 });
  return { status, printed: stdout + stderr };
}

describe("pd up", () => {
  it.each([4, 8, 32, 64, 128, 256, 400, 500, 600, 700, 800])("says what to do on a disk with room for %d KB", async (kilobytes) => {
    const home = join(await temporaryFolder(), "home");
    await mkdir(home);
    const { status, printed } = upWith(home, ["--size", String(kilobytes * 1024), "--tmpfs", home]);
    expect(printed).toMatch(/Error: Cannot .*(full|I\/O|no space)/);
    expect(printed).toContain("Free disk space under PD_HOME");
    expect(printed).not.toContain("undefined");
    expect(status).toBe(1);
  });

  it("names the path of a home that may not be written to", async () => {
    const home = join(await temporaryFolder(), "home");
    await mkdir(home);
    await writeFile(join(home, "api-key"), "0123456789abcdef0123456789abcdef\n", { mode: 0o600 });
    const { status, printed } = upWith(home, ["--ro-bind", home, home]);
    expect(printed).toMatch(/Error: Cannot .*\n[^]*\[PD_[A-Z_]+\]\n/);
    expect(printed).toContain(home);
    expect(status).toBe(1);
  });
});
