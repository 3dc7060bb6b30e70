import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { CliContext } from "../../src/cli/context.ts";
import { openInBrowser, openPrivately } from "../../src/cli/open-browser.ts";
import { temporaryFolder } from "../support/home.ts";

async function onMachine(): Promise<{ cli: CliContext; home: string; opened: () => Promise<string> }> {
  const folder = await temporaryFolder();
  const [bin, note] = [join(folder, "bin"), join(folder, "opened")];
  await mkdir(bin);
  await writeFile(join(bin, "xdg-open"), `#!/bin/sh\nprintf '%s\\n' "$@" > ${note}.part\nmv ${note}.part ${note}\n`);
  await chmod(join(bin, "xdg-open"), 0o755);
  vi.stubEnv("PATH", `${bin}:${process.env["PATH"] ?? ""}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const home = join(folder, "home");
  const stream = new PassThrough();
  const cli = { environment: { PD_HOME: home }, stdout: stream, stderr: stream, stdin: stream, isJson: false, settings: {} } as unknown as CliContext;
  return { cli, home, opened: () => readFile(note, "utf8").catch(() => "") };
}

describe("what a server wants opened in a browser", () => {
  it.each([
    "file:///etc/passwd",
    "--help",
    "-a Calculator",
    "vscode://file/x",
    "javascript:alert(1)",
    "data:text/html,x",
    "//host/x",
    "C:\\x.exe",
    "ms-settings:",
    "",
    "not an address",
  ])("is refused for %j, and nothing is started", async (address) => {
    const { cli, opened } = await onMachine();
    const refusal = { code: "PD_BAD_INPUT", message: expect.stringContaining("not an http or https address") };
    expect(() => openInBrowser(cli, address)).toThrow(expect.objectContaining(refusal));
    await expect(openPrivately(cli, address)).rejects.toMatchObject(refusal);
    expect(await opened()).toBe("");
  });

  it("is opened for an address of the web, as the only word", async () => {
    const { cli, opened } = await onMachine();
    openInBrowser(cli, "https://example.com/a?b=c d");
    await expect.poll(opened).toBe("https://example.com/a?b=c%20d\n");
  });

  it("is written into no HTML as it is", async () => {
    const { cli, home, opened } = await onMachine();
    await openPrivately(cli, `http://127.0.0.1:1/#ticket="><script>alert(1)</script>'&`);
    await expect.poll(opened).toMatch(/^file:\/\/.*open\.html\n$/);
    const page = await readFile(join(home, "open.html"), "utf8");
    expect(page).not.toContain("<script>");
    expect(page.match(/content="0;url=([^"]*)"/)?.[1]).toMatch(/^http:\/\/127\.0\.0\.1:1\/#ticket=(%22|&quot;)/);
  });
});
