import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { LocalComponent } from "../../src/code/local-component.ts";
import { temporaryFolder } from "../support/home.ts";
import { killBundler } from "../support/processes.ts";
import { TestServer } from "../support/runtime.ts";

const code = (version: number): string => `export default { name: "t", version: "${version}", run() { return ${version}; } };`;

describe("a compiler that is killed", () => {
  it("is started again for the next deploy, and for several at once", async () => {
    const server = await TestServer.start();
    await server.deploy(code(1));
    await killBundler();
    const sources = await Promise.all([2, 3, 4, 5].map((version) => server.deploy(code(version))));
    expect(await Promise.all(sources.map((source) => source.run()))).toMatchObject([{ returned: 2 }, { returned: 3 }, { returned: 4 }, { returned: 5 }]);
    const building = sources[0]?.update({ component_code: code(6) });
    await killBundler();
    expect(await building).toMatchObject({ component_version: "6" });
  });

  it("is started again for a file that is watched", async () => {
    const path = join(await temporaryFolder(), "a.mjs");
    await writeFile(path, code(1));
    const component = await LocalComponent.open(path);
    await killBundler();
    await writeFile(path, code(2));
    expect(await component.read()).toMatchObject({ kind: "read", code: { text: code(2) } });
    await component.dispose();
  });
});

describe("a file that imports itself", () => {
  it.each(["./source.mjs", "././source", "./index.js"])("is there once, as %s", async (name) => {
    const server = await TestServer.start();
    const text = `import self from "${name}"; globalThis.made = (globalThis.made ?? 0) + 1; export default { name: "a", version: "1", run() { return [globalThis.made, typeof self.run]; } };`;
    const source = await server.deploy(text, { path: name.includes("index") ? "index.js" : "source.mjs" });
    expect(await source.run()).toMatchObject({ returned: [1, "function"] });
  });
});

describe("code that is sent here", () => {
  it.each(["//# sourceMappingURL=file://", "//@ sourceMappingURL=", "/*# sourceMappingURL = "])(
    "cannot have files of this machine shown by %s",
    async (comment) => {
      const folder = await temporaryFolder();
      const secret = join(folder, "secret.json");
      await mkdir(folder, { recursive: true });
      await writeFile(secret, "hush-hush, this is not JSON");
      const server = await TestServer.start();
      const deployed = server.deploy(`export default {\n${comment}${secret}${comment.startsWith("/*") ? " */" : ""}\n`);
      const message = await deployed.then(() => "deployed", String);
      expect(message).toContain("Cannot build source.mjs");
      expect(message).not.toContain("hush");
    },
  );
});
