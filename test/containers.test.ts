import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { SETTINGS } from "../src/config.ts";
import { TestServer } from "./support/runtime.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "docs", "containers");
const read = (name: string): string => readFileSync(join(FOLDER, name), "utf8");
const VARIABLES = [...Object.values(SETTINGS).map(({ variable }) => variable), "PD_SECRET_KEY"];

async function healthOf(port: string): Promise<number> {
  const [, words = "[]"] = /HEALTHCHECK .*CMD (\[.*\])$/m.exec(read("Containerfile")) ?? [];
  const [command = "", ...rest]: string[] = JSON.parse(words);
  const child = spawn(command, rest, { env: { ...process.env, PD_PORT: port } });
  const [code] = await once(child, "close");
  return Number(code);
}

/** There is no container engine on every machine that runs the tests. */
describe("the containers", () => {
  it("are built of files that exist, run as an ordinary user, and set only what the server knows", () => {
    const text = read("Containerfile");
    expect(text).toContain("USER node");
    const variables = [
      ...["Containerfile", "compose.yaml", "cluster.compose.yaml"]
        .map(read)
        .join("\n")
        .matchAll(/\bPD_\w+/g),
    ].map(([name]) => name);
    expect(variables.filter((name) => !VARIABLES.includes(name))).toEqual([]);
  });

  it.each(["compose.yaml", "cluster.compose.yaml"])("of %s begin after what they need, with files and volumes that are there", (name) => {
    const { services, volumes } = parse(read(name), { merge: true });
    for (const service of Object.values<any>(services)) {
      expect([...Object.keys(service.build ?? {}), service.image].filter((key) => key !== undefined)).not.toEqual([]);
      if (service.build !== undefined)
        expect([existsSync(join(FOLDER, service.build.context, "package.json")), service.build.dockerfile]).toEqual([true, "docs/containers/Containerfile"]);
      const needed = Array.isArray(service.depends_on) ? service.depends_on : Object.keys(service.depends_on ?? {});
      expect(needed.filter((other: string) => services[other] === undefined)).toEqual([]);
      for (const volume of service.volumes ?? []) {
        const [source = ""] = String(volume).split(":");
        expect([source, source.startsWith(".") ? existsSync(join(FOLDER, source)) : source in volumes]).toEqual([source, true]);
      }
    }
  });

  it("of a cluster have one advertised name per node, and a balancer that knows them all", () => {
    const { services } = parse(read("cluster.compose.yaml"), { merge: true });
    const nodes = Object.entries<any>(services).filter(([, { environment }]) => environment?.PD_ADVERTISE !== undefined);
    expect(nodes.map(([name]) => name)).toEqual(nodes.map(([, { environment }]) => environment.PD_ADVERTISE));
    for (const port of [4141, 4142]) expect(read("Caddyfile")).toContain(`reverse_proxy ${nodes.map(([name]) => `${name}:${port}`).join(" ")}`);
  });

  it("are healthy while the server is ready", async () => {
    const server = await TestServer.inMemory();
    const { port } = new URL(server.apiUrl);
    expect(await healthOf(port)).toBe(0);
    await server.stop();
    expect(await healthOf(port)).toBe(1);
  });
});
