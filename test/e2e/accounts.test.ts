import { describe, expect, it } from "vitest";
import { PdHome } from "../support/pd.ts";

const SOURCE = `export default { name: "uses", version: "1", props: { demo: { type: "app", app: "demo", methods: { all() { return { ...this.$auth }; } } } },
  run() { this.$emit(this.demo.all()); } };`;

describe("pd accounts", () => {
  it("connects by flags, a variable or stdin; lists, shows, renames, updates and deletes without showing a secret", async () => {
    const home = await PdHome.make({ DEMO: '{"api_key":"hush-2"}' });
    const first = await home.pd("accounts", "connect", "demo", "--field", "api_key=hush-1", "--field", "region=eu", "--name", "work");
    expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/^Connected work \(apn_\w+\); use it as --prop <app prop>=work\n$/)]);
    expect(await home.json("accounts", "connect", "demo", "--env", "DEMO")).toMatchObject({ name: "demo", fields: ["api_key"] });
    expect((await home.pd("accounts", "connect", "other", "--stdin", { input: '{"token":"hush-3"}' })).code).toBe(0);
    expect((await home.pd("accounts", "list")).stdout).toMatch(
      /^NAME +ID +APP +FIELDS\ndemo +apn_\w+ +demo +api_key\nwork +apn_\w+ +demo +api_key, region\nother /,
    );
    expect((await home.pd("accounts", "show", "work")).stdout).toMatch(/^work \(apn_\w+\), an account of demo\n  api_key = \*{8}\n  region = \*{8}\n$/);
    const revealed = await home.pd("accounts", "show", "work", "--reveal");
    expect([revealed.code, revealed.stderr]).toEqual([2, expect.stringContaining("nobody looks at this output")]);
    await home.json("deploy", await home.file("uses.mjs", SOURCE), "--prop", "demo=work");
    await home.pd("run", "uses");
    await home.pd("accounts", "rename", "work", "home");
    await home.pd("accounts", "update", "home", "--field", "api_key=hush-4");
    await home.pd("run", "uses");
    expect(JSON.parse((await home.pd("events", "uses", "--json")).stdout)).toMatchObject([
      { event: { api_key: "hush-1", region: "eu" } },
      { event: { api_key: "hush-4" } },
    ]);
    const used = await home.pd("accounts", "delete", "home");
    expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('Cannot delete account "home": uses would lose it')]);
    expect((await home.pd("accounts", "delete", "other")).code).toBe(0);
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
});
