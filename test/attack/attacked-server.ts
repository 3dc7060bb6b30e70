import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { type GivenSettings, SETTINGS } from "../../src/config.ts";
import { isRecord } from "../../src/domain/text/json.ts";
import { temporaryFolder } from "../support/home.ts";
import { type RunningServer, TestServer } from "../support/runtime.ts";

export interface Attacked {
  readonly server: TestServer;
  readonly pid: number;
}

/** `user`: numeric id. Omitted: the current user. */
export async function startAttacked(flags: GivenSettings = {}, user?: number): Promise<Attacked> {
  const home = flags.home ?? (await temporaryFolder());
  const given = Object.entries({ port: "0", endpointPort: "0", keyringUse: "never", ...flags, home });
  const words = given.flatMap(([name, value]) => (isSetting(name) ? [`--${SETTINGS[name].flag}`, String(value)] : []));
  const child = spawn(process.execPath, [join(inject("installed"), "bin", "pd.cjs"), "up", ...words], {
    stdio: ["ignore", "pipe", "pipe"],
    ...(user === undefined ? {} : { uid: user, gid: user, env: { ...process.env, HOME: home } }),
  });
  await untilReady(child);
  const record: unknown = JSON.parse(readFileSync(join(home, "server.json"), "utf8"));
  const { api_url: apiUrl, endpoint_url: endpointUrl } = isRecord(record) ? record : {};
  const running: RunningServer = {
    apiUrl: String(apiUrl),
    endpointUrl: String(endpointUrl),
    apiKey: readFileSync(join(home, "api-key"), "utf8").trim(),
    [Symbol.asyncDispose]: () => stop(child),
  };
  return { server: TestServer.of(home, running), pid: child.pid ?? 0 };
}

function isSetting(name: string): name is keyof typeof SETTINGS {
  return name in SETTINGS;
}

async function untilReady(child: ChildProcess): Promise<void> {
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    const read = (text: string): void => {
      printed += text;
      if (printed.includes("Home:")) resolve();
    };
    child.stdout?.setEncoding("utf8").on("data", read);
    child.stderr?.setEncoding("utf8").on("data", read);
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${printed}`)));
  });
}

/** Throws when the server has exited: then the attack succeeded. */
async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) throw new Error(`the server was ended: ${child.signalCode ?? child.exitCode}`);
  child.kill("SIGTERM");
  await once(child, "exit");
}
