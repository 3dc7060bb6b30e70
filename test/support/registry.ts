import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { temporaryFolder } from "./home.ts";
import { startHttpServer } from "./http-server.ts";

export class FakeRegistry {
  readonly #tarballs = new Map<string, Buffer>();
  readonly #versions = new Map<string, Record<string, object>>();
  readonly #times = new Map<string, Record<string, string>>();
  readonly asked: string[] = [];
  readonly tokens = new Set<string>();
  #url = "";

  static async start(): Promise<FakeRegistry> {
    const registry = new FakeRegistry();
    registry.#url = await startHttpServer((request, response) => {
      registry.asked.push(request.url ?? "");
      registry.tokens.add(request.headers.authorization ?? "");
      const tarball = registry.#tarballs.get(request.url ?? "");
      if (tarball !== undefined) return response.end(tarball);
      const name = decodeURIComponent((request.url ?? "").slice(1));
      const versions = registry.#versions.get(name);
      if (versions === undefined) return response.writeHead(404).end("{}");
      return response
        .setHeader("content-type", "application/json")
        .end(JSON.stringify({ name, "dist-tags": { latest: Object.keys(versions).at(-1) }, versions, time: registry.#times.get(name) }));
    });
    return registry;
  }

  get url(): string {
    return this.#url;
  }

  /** Publishes the version as the latest. */
  async publish(name: string, version: string, files: Readonly<Record<string, string>> = {}, rest: object = {}, at = new Date().toISOString()): Promise<void> {
    const folder = await temporaryFolder();
    const manifest = { name, version, main: "index.js", ...rest };
    await mkdir(join(folder, "package"));
    await writeFile(join(folder, "package", "package.json"), JSON.stringify(manifest));
    await writeFile(join(folder, "package", "index.js"), `module.exports = ${JSON.stringify(version)};`);
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, "package", path)), { recursive: true });
      await writeFile(join(folder, "package", path), text);
    }
    execFileSync("tar", ["czf", "it.tgz", "package"], { cwd: folder });
    this.#times.set(name, { ...this.#times.get(name), [version]: at });
    const tarball = await readFile(join(folder, "it.tgz"));
    const path = `/${name}/-/${name}-${version}.tgz`;
    this.#tarballs.set(path, tarball);
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    this.#versions.set(name, { ...this.#versions.get(name), [version]: { ...manifest, dist: { tarball: this.#url + path, integrity } } });
  }
}
