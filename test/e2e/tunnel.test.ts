import { once } from "node:events";
import { chmod, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { eventually } from "../support/eventually.ts";
import { componentPath } from "../support/components.ts";
import { PdHome, collect } from "../support/pd.ts";

/** Stands in for a tunnel program: prints its address, and notes its words and its end. */
async function withProgram(name: string, print: string): Promise<PdHome> {
  const home = await PdHome.make();
  const path = await home.file(
    `bin/${name}`,
    `#!/bin/sh\necho "$@" > "${join(home.folder, "words")}"\n${print}\ntrap 'echo over > "${join(home.folder, "ended")}"; exit 0' TERM\nwhile :; do sleep 0.05; done\n`,
  );
  await chmod(path, 0o755);
  return home;
}

const ADDRESSES = {
  cloudflared: [
    "echo 'INF |  https://two-words.trycloudflare.com  |' >&2",
    "https://two-words.trycloudflare.com",
    /^tunnel --no-autoupdate --url http:\/\/127\.0\.0\.1:\d+$/,
  ],
  ngrok: ['echo \'{"msg":"started tunnel","url":"https://ab12.ngrok-free.app"}\'', "https://ab12.ngrok-free.app", /^http \d+ --log stdout --log-format json$/],
  tailscale: ["echo 'https://host.tail1.ts.net/'", "https://host.tail1.ts.net", /^funnel \d+$/],
} as const;

describe("a tunnel", () => {
  it.each(Object.entries(ADDRESSES))("of %s gives the endpoints its address until the server ends", async (name, [print, url, words]) => {
    const home = await withProgram(name, print);
    const path = `${join(home.folder, "bin")}:${process.env["PATH"] ?? ""}`;
    const session = home.spawn(["dev", componentPath("http-plain.mjs"), "--tunnel"], { env: { PATH: path } });
    const out = collect(session, "stdout");
    await eventually(async () => out().includes("Ready for updates!"));
    expect(out()).toMatch(new RegExp(`Endpoint: ${url}/\\w+`));
    expect((await readFile(join(home.folder, "words"), "utf8")).trim()).toMatch(words);
    session.kill("SIGINT");
    await eventually(async () => (await readFile(join(home.folder, "ended"), "utf8").catch(() => "")) !== "");
  });

  it("that is not there, or tells no address, is said with what to do, and nothing starts", async () => {
    const home = await withProgram("ngrok", "echo 'no account' >&2; exit 3");
    const bin = join(home.folder, "bin");
    const none = home.spawn(["up", "--tunnel"], { env: { PATH: join(process.execPath, "..") } });
    const said = collect(none, "stderr");
    const [code] = await once(none, "close");
    expect([code, said()]).toEqual([1, expect.stringContaining("none of cloudflared, ngrok, tailscale is installed")]);
    const failed = await home.pd("up", "--tunnel", join(bin, "ngrok"));
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/it ended with code 3:\nno account/) });
    expect(await home.pd("up", "--tunnel", "wormhole")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("expected one of cloudflared, ngrok, tailscale"),
    });
    // This flag is checked last.
    expect((await home.pd("up", "--search", "--allow-scripts", "--keyring", "x")).stderr).toContain('Cannot use --keyring "x"');
    const both = await home.pd("up", "--tunnel", "--public-url", "https://x.example");
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("Cannot use both --tunnel and --public-url") });
  });
});
