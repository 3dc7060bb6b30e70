import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";

export interface Program {
  readonly pid: number;
  readonly folder: string;
  printed(): string;
  /** Throws unless the status is 2xx. */
  call(method: string, path: string, body?: object): Promise<Record<string, unknown>>;
  stop(): Promise<void>;
}

interface Start {
  readonly root: string;
  readonly folder: string;
  readonly words: readonly string[];
  readonly ready: string;
}

export async function startProgram({ root, folder, words, ready }: Start): Promise<Program> {
  const home = join(folder, "home");
  mkdirSync(join(folder, "tmp"));
  const { NODE_EXTRA_CA_CERTS: _ca, ...kept } = process.env;
  const env = { ...kept, PD_HOME: home, PD_PORT: "0", PD_ENDPOINT_PORT: "0", PD_KEYRING: "never", NO_COLOR: "1", TMPDIR: join(folder, "tmp") };
  const child = spawn(process.execPath, [join(root, "bin/pd.cjs"), ...words], { env, stdio: ["ignore", "pipe", "inherit"] });
  let printed = "";
  await new Promise<void>((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`pd ${words.join(" ")} ended with ${code}: ${printed}`)));
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      printed = (printed + text).slice(-20_000);
      if (printed.includes(ready)) resolve();
    });
  });
  return {
    pid: child.pid ?? 0,
    folder,
    printed: () => printed,
    call: (method, path, body) => callApi(home, `${method} ${path}`, body),
    stop: () => stop(child, folder),
  };
}

async function callApi(home: string, what: string, body: object | undefined): Promise<Record<string, unknown>> {
  const [method = "", path = ""] = what.split(" ");
  const record = recordOf(JSON.parse(readFileSync(join(home, "server.json"), "utf8")));
  const answer = await fetch(`${String(record["api_url"])}${path}`, {
    method,
    headers: { authorization: `Bearer ${readFileSync(join(home, "api-key"), "utf8").trim()}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${what} is answered ${answer.status}: ${text}`);
  return recordOf(JSON.parse(text || "{}"));
}

export function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

async function stop(child: ChildProcess, folder: string): Promise<void> {
  child.removeAllListeners("exit");
  if (child.exitCode === null && child.signalCode === null) {
    child.kill("SIGINT");
    await once(child, "exit");
  }
  rmSync(folder, { recursive: true, force: true });
}
