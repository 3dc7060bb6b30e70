import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { PdHome, killHard } from "../support/pd.ts";
import { startKeyringSession } from "./session-keyring.ts";

const SOURCE = `export default { name: "tells", version: "1", props: { token: { type: "string", secret: true } }, run() { this.$emit({ token: this.token.length }); } };`;

it("the key of a new home lies in the keyring of the session; without it the server says why, and it can be moved to a file", async () => {
  const session = await startKeyringSession();
  const home = await PdHome.make({ PD_KEYRING: "auto", DBUS_SESSION_BUS_ADDRESS: "" });
  const keyFile = () => readFile(join(home.home, "secret-key"), "utf8");
  const first = await home.up([], { env: session });
  await home.json("deploy", await home.file("tells.mjs", SOURCE), "--prop", "token=hush");
  expect((await home.pd("status")).stdout).toMatch(/^Secret key: +keyring$/m);
  expect(await keyFile()).toMatch(/^\{"keyring":"\S+home [0-9a-f]{8}","home":"\S+home","note":"[^"]+"\}\n$/);
  await home.pd("secrets", "rotate");
  await killHard(first.child);

  const elsewhere = await home.pd("up");
  expect([elsewhere.code, elsewhere.stderr]).toEqual([
    1,
    expect.stringMatching(/Error: Cannot use the keyring of this machine: Platform failure[^]*Try: Unlock it, and start pd in its session/),
  ]);

  const again = await home.up(["--keyring", "never"], { env: session });
  expect((await home.pd("status")).stdout).toMatch(/^Secret key: +file$/m);
  await killHard(again.child);
  expect(await keyFile()).toMatch(/^\{"keys":\["[^"]{44}"\]\}\n$/);
  await home.up();
  await home.pd("run", "tells");
  expect(JSON.parse((await home.pd("events", "tells", "--json")).stdout)).toMatchObject([{ event: { token: 4 } }]);
});
