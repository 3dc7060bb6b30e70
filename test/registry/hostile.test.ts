import { execFileSync } from "node:child_process";
import { createReadStream, existsSync } from "node:fs";
import { mkdir, readFile, readdir, symlink, writeFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { readComponentText } from "../../src/registry/component-folder.ts";
import { startGitServer } from "../support/git-server.ts";
import { temporaryFolder } from "../support/home.ts";
import { TestServer } from "../support/runtime.ts";
import { startHttpServer } from "../support/http-server.ts";

async function repository(component: string, manifest = "{}"): Promise<string> {
  const folder = await temporaryFolder();
  await writeFile(join(folder, "x.mjs"), component);
  await writeFile(join(folder, "package.json"), manifest);
  const git = (...words: string[]) => execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@example.com", ...words], { cwd: folder, stdio: "pipe" });
  git("init", "--quiet");
  git("add", ".");
  git("commit", "--quiet", "-m", "one");
  return `file://${folder}`;
}

const component = (version: string) => `export default {\n  key: "x-source",\n  name: "X",\n  version: "${version}",\n  run() {},\n};\n`;

async function archiveOf(version: string): Promise<Buffer> {
  const [archive, folder] = [await temporaryFolder(), await temporaryFolder()];
  await writeFile(join(archive, "x.mjs"), component(version));
  execFileSync("tar", ["czf", join(folder, "x.tgz"), "-C", join(archive, ".."), basename(archive)]);
  return readFile(join(folder, "x.tgz"));
}

async function listening(answer: RequestListener): Promise<string> {
  return (await startHttpServer(answer)).slice("http://".length);
}

describe("a key or an app's name", () => {
  it("is never a path, a package specifier or an address", async () => {
    const [server, target] = [await TestServer.start(), await temporaryFolder()];
    const marker = join(target, "marker");
    const url = await repository(component("1"), JSON.stringify({ name: "@pipedream/x", version: "1.0.0", scripts: { prepare: `touch ${marker}` } }));
    for (const key of [`x@git+${url}`, `x@git+${url}-y`, "../../x-y", "/etc/x-y", "x-y/../../z-a"]) {
      await expect(server.api.post("/v1/components/describe", { key })).rejects.toMatchObject({ code: "PD_COMPONENT_NOT_FOUND" });
    }
    await mkdir(join(target, "victim"));
    for (const app of [`x@git+${url}`, "../../victim", `../../../../../../../..${target}/victim`]) {
      await expect(server.api.post("/v1/registries/update", { name: "pipedream", app })).rejects.toMatchObject({ code: "PD_COMPONENT_NOT_FOUND" });
    }
    expect([existsSync(marker), existsSync(join(target, "victim"))]).toEqual([false, true]);
  });
});

describe("a registry", () => {
  it("keeps its name and what it holds when another is added under it", async () => {
    const server = await TestServer.start();
    const [one, two] = [await repository(component("1")), await repository(component("2"))];
    const add = (location: string) => server.api.post("/v1/registries", { name: "g", kind: "git", location });
    await add(one);
    await expect(add(two)).rejects.toMatchObject({ code: "PD_CONFLICT" });
    expect(await server.api.get("/v1/components/registry/x-source")).toMatchObject({ data: { version: "1" } });
  });

  it.each([200, 500])("that was removed while it was added leaves its name to another, whatever its address answers (%i)", async (status) => {
    const server = await TestServer.start();
    const [packed, other] = [await archiveOf("1"), await archiveOf("2")];
    let answer: (() => void) | undefined;
    const slow = await listening((_request, response) => (answer = () => void response.writeHead(status).end(status === 200 ? packed : "")));
    const quick = await listening((_request, response) => void response.end(other));
    const add = (host: string) => server.api.post("/v1/registries", { name: "r", kind: "tarball", location: `http://${host}/x.tgz` });
    const first = expect(add(slow)).rejects.toMatchObject({ code: expect.stringMatching(/PD_CONFLICT|PD_REGISTRY_UNREACHABLE/) });
    await expect.poll(() => answer).toBeDefined();
    await server.api.delete("/v1/registries/r");
    await add(quick);
    answer?.();
    await first;
    expect(await server.api.get("/v1/registries")).toMatchObject({ data: [{}, { name: "r", location: `http://${quick}/x.tgz` }] });
    expect(await server.api.get("/v1/components/registry/x-source")).toMatchObject({ data: { version: "2" } });
  });

  it("never shows the password in its address", async () => {
    const server = await TestServer.start();
    const location = "http://me:hunter2@127.0.0.1:9/x.tgz";
    const added = server.api.post("/v1/registries", { name: "t", kind: "tarball", location });
    await expect(added).rejects.toThrow(/^Cannot fetch http:\/\/127\.0\.0\.1:9\/x\.tgz: bad port/);
    expect(await server.api.get("/v1/registries")).toMatchObject({ data: [{ name: "pipedream" }] });
    const archive = await temporaryFolder();
    await writeFile(join(archive, "x.mjs"), component("1"));
    const packed = join(await temporaryFolder(), "x.tgz");
    execFileSync("tar", ["czf", packed, "-C", join(archive, ".."), basename(archive)]);
    const seen: unknown[] = [];
    const host = await listening((request, response) => {
      seen.push(request.headers.authorization);
      createReadStream(packed).pipe(response);
    });
    await server.api.post("/v1/registries", { name: "t", kind: "tarball", location: `http://me:hunter2@${host}/x.tgz` });
    expect(seen).toEqual([`Basic ${Buffer.from("me:hunter2").toString("base64")}`]);
    expect(await server.api.get("/v1/registries")).toMatchObject({ data: [{}, { name: "t", location: `http://${host}/x.tgz` }] });
  });

  it("gives Git the password in its address, and leaves it in no file and no command line", async () => {
    const [server, origin, shim] = [await TestServer.start(), await repository(component("1")), await temporaryFolder()];
    const lines = join(shim, "lines");
    const real = execFileSync("which", ["git"]).toString().trim();
    await writeFile(join(shim, "git"), `#!/bin/sh\necho "$@" >> ${lines}\nexec ${real} "$@"\n`, { mode: 0o755 });
    vi.stubEnv("PATH", `${shim}:${process.env["PATH"]}`);
    onTestFinished(() => void vi.unstubAllEnvs());
    const folder = fileURLToPath(origin);
    const base = await startGitServer(dirname(folder), "me:hunter2");
    const add = (login: string) =>
      server.api.post("/v1/registries", { name: "g", kind: "git", location: `${base.replace("//", `//${login}@`)}/${basename(folder)}/.git` });
    await expect(add("me:hunter2/#")).rejects.toMatchObject({ code: "PD_BAD_INPUT", message: "Cannot add registry g: its address is not valid" });
    await expect(add("me:wrong")).rejects.toMatchObject({ code: "PD_REGISTRY_UNREACHABLE", message: expect.not.stringContaining("wrong") });
    await add("me:hunter2");
    expect(await server.api.get("/v1/components/registry/x-source")).toMatchObject({ data: { version: "1" } });
    const files = (await readdir(server.home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const texts = await Promise.all(files.map(({ parentPath, name }) => readFile(join(parentPath, name), "latin1")));
    const asked = await readFile(lines, "utf8");
    expect([asked.includes("clone"), /hunter2|bWU6aHVudGVyMg/.test([asked, ...texts].join("\n"))]).toEqual([true, false]);
  });

  it("gives its password to no host that it is sent on to, and takes one without a name, or with a % that is none", async () => {
    const server = await TestServer.start();
    const seen: (string | undefined)[] = [];
    const stranger = await listening((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(401, { "www-authenticate": "Basic" }).end();
    });
    const asked: (string | undefined)[] = [];
    const first = await listening((request, response) => {
      asked.push(request.headers.authorization);
      if (request.headers.authorization === undefined) response.writeHead(401, { "www-authenticate": "Basic" }).end();
      else response.writeHead(302, { location: `http://${stranger}${request.url}` }).end();
    });
    const add = (login: string) => server.api.post("/v1/registries", { name: "g", kind: "git", location: `http://${login}@${first}/x.git` });
    for (const login of ["me:hunter2", ":hunter2", "me:50%off"]) await expect(add(login)).rejects.toMatchObject({ code: "PD_REGISTRY_UNREACHABLE" });
    expect(new Set(asked)).toEqual(new Set([undefined, ...["me:hunter2", "git:hunter2", "me:50%off"].map((login) => `Basic ${btoa(login)}`)]));
    expect([seen.length > 0, seen.filter((authorization) => authorization !== undefined)]).toEqual([true, []]);
  });

  it("may hold any text: reading a key out of it takes no longer for that", () => {
    expect(readComponentText(`export default { key: "a${"-".repeat(5000)}!", version: "1" }`, "x.mjs")).toBe("no key");
  });

  it("takes nothing from above its own folder", async () => {
    const [server, above] = [await TestServer.start(), await temporaryFolder()];
    await writeFile(join(above, "package.json"), JSON.stringify({ dependencies: { semver: "5.0.0" } }));
    await mkdir(join(above, "registry"));
    await writeFile(join(above, "registry", "x.mjs"), `import "semver";\n${component("1")}`);
    await server.api.post("/v1/registries", { name: "r", kind: "folder", location: `${above}/registry/` });
    expect(await server.api.post("/v1/sources", { key: "x-source" })).toMatchObject({ data: { registry: { name: "r", path: "x.mjs" } } });
  });

  it.each(["file", "folder"])("reads nothing outside of its own by a link to a %s", async (kind) => {
    const [server, above] = [await TestServer.start(), await temporaryFolder()];
    const folder = join(above, "registry");
    await mkdir(folder);
    await mkdir(join(above, "private"));
    await writeFile(join(above, "private", "key.md"), "hunter2");
    if (kind === "file") await symlink(join("..", "private", "key.md"), join(folder, "key.md"));
    else await symlink(join("..", "private"), join(folder, "linked"));
    await writeFile(join(folder, "x.mjs"), `import key from "./${kind === "file" ? "" : "linked/"}key.md";\n${component("1")}`);
    await server.api.post("/v1/registries", { name: "r", kind: "folder", location: folder });
    await expect(server.api.get("/v1/components/registry/x-source")).rejects.toMatchObject({
      code: "PD_BUILD_FAILED",
      message: expect.stringContaining("is outside of the project"),
    });
  });
});
