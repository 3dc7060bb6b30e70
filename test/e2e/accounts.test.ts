import { once } from "node:events";
import { describe, expect, it } from "vitest";
import { PdHome, collect } from "../support/pd.ts";
import { eventually } from "../support/runtime.ts";
import { TokenServer } from "../support/token-server.ts";

const SOURCE = `export default { name: "uses", version: "1", props: { demo: { type: "app", app: "demo", methods: { all() { return { ...this.$auth }; } } } },
  run() { this.$emit(this.demo.all()); } };`;

describe("pd accounts", () => {
  it("connects by flags, a variable or stdin; lists, shows, renames, updates and deletes without showing a secret", async () => {
    const home = await PdHome.inProcess({ DEMO: '{"api_key":"hush-2"}' });
    const first = await home.pd("accounts", "connect", "demo", "--field", "api_key=hush-1", "--field", "region=eu", "--name", "work");
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Connected work \(apn_\w+\); use it as --prop <app prop>=work\n$/)]);
    expect(await home.json("accounts", "connect", "demo", "--env", "DEMO")).toMatchObject({ name: "demo", fields: ["api_key"] });
    expect((await home.pd("accounts", "connect", "other", "--stdin", { input: '{"token":"hush-3"}' })).code).toBe(0);
    expect((await home.pd("accounts", "list")).stdout).toMatch(
      /^NAME +ID +APP +STATE +FIELDS\ndemo +apn_\w+ +demo +not tested +api_key\nwork +apn_\w+ +demo +not tested +api_key, region\nother /,
    );
    expect((await home.pd("accounts", "show", "work")).stdout).toMatch(/^work \(apn_\w+\), an account of demo\n  api_key = \*{8}\n  region = \*{8}\n$/);
    const revealed = await home.pd("accounts", "show", "work", "--reveal");
    expect([revealed.code, revealed.stderr]).toEqual([2, expect.stringContaining("the output is not a terminal")]);
    await home.json("deploy", await home.file("uses.mjs", SOURCE), "--prop", "demo=work");
    await home.pd("run", "uses");
    await home.pd("accounts", "rename", "work", "home");
    await home.pd("accounts", "update", "home", "--field", "api_key=hush-4");
    await home.pd("run", "uses");
    expect(JSON.parse((await home.pd("events", "uses", "--json")).stdout)).toMatchObject([
      { event: { api_key: "hush-1", region: "eu" } },
      { event: { api_key: "hush-4" } },
    ]);
    const app = await TokenServer.start(({ authorization }) => ({ status: authorization === "Key hush-4" ? 200 : 401, body: {} }));
    const asked = ["accounts", "test", "home", "--url", app.url, "--header"];
    const [works, refused] = [await home.pd(...asked, "authorization: Key {api_key}"), await home.pd(...asked, "authorization: wrong")];
    expect([works.code, works.stdout]).toEqual([0, expect.stringMatching(/^Works: http:\/\/127\.0\.0\.1:\d+ answered with status 200\n$/)]);
    expect([refused.code, refused.stdout]).toEqual([1, expect.stringMatching(/^Refused: http:\/\/127\.0\.0\.1:\d+ answered with status 401\n$/)]);
    const unknown = await home.pd("accounts", "test", "home");
    expect([unknown.code, unknown.stdout]).toEqual([1, expect.stringContaining("Not tested: no test request of demo is known")]);
    for (const wrong of [
      ["--header", "x: y"],
      ["--url", app.url, "--header", "nonsense"],
      ["--url", "ftp://x"],
    ])
      expect((await home.pd("accounts", "test", "home", ...wrong)).code).toBe(wrong[1] === "ftp://x" ? 1 : 2);
    const used = await home.pd("accounts", "delete", "home", "--yes");
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('Cannot delete account "home": used by uses')]);
    expect((await home.pd("accounts", "delete", "other", "--yes")).code).toBe(0);
    for (const words of [
      ["accounts", "connect", "demo"],
      ["accounts", "connect", "demo", "--env", "NOTHING"],
      ["accounts", "connect"],
      ["accounts", "frob", "x"],
    ])
      expect((await home.pd(...words)).code).toBe(2);
    expect((await home.pd("secrets", "rotate")).stderr).toContain("All secrets are sealed with a new key");
    await home.pd("run", "uses");
    expect(JSON.parse((await home.pd("events", "uses", "--json")).stdout).at(-1)).toMatchObject({ event: { api_key: "hush-4" } });
  });

  it("connects by OAuth through a browser on this machine, and by a code that is entered elsewhere", async () => {
    const home = await PdHome.inProcess({ PD_OAUTH_CLIENT_SECRET: "hush-5" });
    const answers = ["authorization_pending"];
    const provider = await TokenServer.start(({ path, form }) => {
      if (path === "/device")
        return { body: { device_code: "d", user_code: "AB-12", verification_uri: "https://example.com/go", expires_in: 60, interval: 1 } };
      if (form["code"] === "denied") return { status: 400, body: { error: "invalid_grant", error_description: "this code was used" } };
      const error = form["grant_type"]?.includes("device") === true ? answers.shift() : undefined;
      return error === undefined ? { body: { access_token: `token-of-${form["client_secret"]}`, refresh_token: "r" } } : { status: 400, body: { error } };
    });
    const words = ["accounts", "connect", "demo", "--client-id", "me", "--token-url", `${provider.url}/token`];
    const browser = home.spawn([...words, "--name", "browser", "--authorize-url", `${provider.url}/authorize`, "--json"]);
    const [stdout, stderr] = [collect(browser, "stdout"), collect(browser, "stderr")];
    const url = new URL(await eventually(async () => /^http:\/\/\S+(?=\n)/m.exec(stderr())?.[0]));
    expect([url.searchParams.get("client_id"), url.searchParams.get("code_challenge_method")]).toEqual(["me", "S256"]);
    const page = await fetch(`${url.searchParams.get("redirect_uri")}?code=c&state=${url.searchParams.get("state")}`);
    expect(await page.text()).toContain("This window can be closed");
    await once(browser, "close");
    expect(JSON.parse(stdout())).toMatchObject({ name: "browser", healthy: true, fields: ["oauth_access_token", "oauth_client_id", "oauth_refresh_token"] });
    const refused = home.spawn([...words, "--name", "refused", "--authorize-url", `${provider.url}/authorize`]);
    const said = collect(refused, "stderr");
    const asked = new URL(await eventually(async () => /^http:\/\/\S+(?=\n)/m.exec(said())?.[0])).searchParams;
    const shown = await fetch(`${asked.get("redirect_uri")}?code=denied&state=${asked.get("state")}`);
    expect(await shown.text()).toContain("Not connected. The terminal shows why");
    const [code] = await once(refused, "close");
    expect([code, said()]).toEqual([1, expect.stringContaining("Error: Cannot connect demo: this code was used")]);
    const device = await home.pd(...words, "--name", "device", "--flow", "device", "--device-url", `${provider.url}/device`);
    expect([device.code, device.stderr]).toEqual([0, expect.stringContaining("Open https://example.com/go and enter AB-12")]);
    expect((await home.pd(...words, "--flow", "nonsense")).code).toBe(2);
    await home.json("deploy", await home.file("uses.mjs", SOURCE), "--prop", "demo=device");
    await home.pd("run", "uses");
    expect(JSON.parse((await home.pd("events", "uses", "--json")).stdout)).toMatchObject([{ event: { oauth_access_token: "token-of-hush-5" } }]);
  });
});
