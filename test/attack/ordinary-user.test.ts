import { chmodSync, chownSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryFolder } from "../support/home.ts";
import { startAttacked } from "./attacked-server.ts";
import { HARMLESS, HARMLESS_ANSWERS } from "./harmless.ts";

/** `nobody` on Debian. */
const ORDINARY = 65_534;

const READING = `import fs from "node:fs";
export default { name: "reading", version: "1", run() {
  const told = (work) => { try { return String(work()).slice(0, 40); } catch (error) { return error.code ?? "refused"; } };
  const { HOME_OF_SERVER: home, SECRET: secret, SERVER_PID: pid } = process.env;
  return [home + "/api-key", home + "/secret-key", home + "/headwater.db", secret, "/proc/" + pid + "/environ"].map((path) => told(() => fs.readFileSync(path, "latin1")))
    .concat([told(() => process.kill(Number(pid), 0)), told(() => fs.writeFileSync(home + "/planted", "x") ?? "written")]);
} };`;

// Only root can start a server as another user.
describe.runIf(process.getuid?.() === 0)("a server of an ordinary user", () => {
  it.each(["wall", "belt"])("encloses components in the %s as that of root does", async (sandbox) => {
    const home = await temporaryFolder();
    const secret = join(home, "secret.txt");
    writeFileSync(secret, "hush");
    chownSync(secret, ORDINARY, ORDINARY);
    chownSync(home, ORDINARY, ORDINARY);
    const { server, pid } = await startAttacked({ sandboxUse: sandbox, home }, ORDINARY);
    expect(readFileSync(`/proc/${pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:\\s+${ORDINARY}\\s`, "m"));
    expect(await server.client.server.status()).toMatchObject({ sandbox });
    expect((await (await server.deploy(HARMLESS)).run())["returned"]).toEqual(HARMLESS_ANSWERS);
    const reading = await server.deploy(READING, { env: { HOME_OF_SERVER: home, SECRET: secret, SERVER_PID: String(pid) } });
    const got = (await reading.run())["returned"];
    for (const one of Array.isArray(got) ? got : [got]) expect(one).toMatch(/^(E[A-Z_]+|ERR_[A-Z_]+|refused)$/);
    chmodSync(home, 0o700);
  });
});
