import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";
import { readServerRecord } from "../../src/system/home/server-record.ts";
import { InProcessServer, type Result, runInProcess } from "./in-process-pd.ts";
import { eventually } from "./eventually.ts";
import { ApiClient } from "./api.ts";
import type { JsonObject } from "../../src/domain/text/json.ts";
import { temporaryFolder } from "./home.ts";

export const PD = join(import.meta.dirname, "..", "..", "bin", "pd.cjs");

interface SpawnOptions {
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Its `pd` processes end with the test. */
export class PdHome {
  readonly folder: string;
  readonly #running = new Set<ChildProcess>();
  #server: InProcessServer | undefined;
  readonly #variables: Readonly<Record<string, string>>;

  static async make(variables: Readonly<Record<string, string>> = {}): Promise<PdHome> {
    const home = new PdHome(await temporaryFolder(), variables);
    onTestFinished(() => home.#end());
    return home;
  }

  private constructor(folder: string, variables: Readonly<Record<string, string>>) {
    this.folder = folder;
    this.#variables = {
      PD_HOME: this.home,
      PD_PORT: "0",
      PD_ENDPOINT_PORT: "0",
      XDG_CONFIG_HOME: join(folder, "config"),
      PD_KEYRING: "never",
      BROWSER: "none",
      PD_REDIRECT_PORT: "0",
      NO_COLOR: "1",
      ...variables,
    };
  }

  get home(): string {
    return join(this.folder, "home");
  }

  async file(name: string, text: string): Promise<string> {
    const path = join(this.folder, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  }

  /** Runs `pd` and its server in this process. Other processes can reach the server. */
  static async inProcess(variables: Readonly<Record<string, string>> = {}): Promise<PdHome> {
    const home = new PdHome(await temporaryFolder(), variables);
    home.#server = new InProcessServer(home.#variables);
    onTestFinished(() => home.#end());
    return home;
  }

  async pd(...given: (string | { readonly input: string })[]): Promise<Result> {
    if (this.#server !== undefined) return runInProcess(given, { folder: this.folder, variables: this.#variables, server: this.#server });
    const process = this.spawn(given.filter((word) => typeof word === "string"));
    for (const word of given) if (typeof word !== "string") process.stdin?.end(word.input);
    const [stdout, stderr] = [collect(process, "stdout"), collect(process, "stderr")];
    const [code] = await once(process, "close");
    return { code, stdout: stdout(), stderr: stderr() };
  }

  async json(...words: string[]): Promise<JsonObject> {
    const { stdout, stderr } = await this.pd(...words, "--json");
    if (stdout === "") throw new Error(`pd ${words.join(" ")} answered nothing: ${stderr}`);
    return JSON.parse(stdout);
  }

  spawn(words: readonly string[], { shell, env: extra }: SpawnOptions = {}): ChildProcess {
    const env = { ...process.env, ...this.#variables, ...extra };
    const options = { env, cwd: this.folder, stdio: ["pipe", "pipe", "pipe"] as ["pipe", "pipe", "pipe"] };
    const child =
      shell === undefined
        ? spawn(process.execPath, [PD, ...words], options)
        : spawn("bash", ["-c", `${shell}; exec ${process.execPath} ${PD} ${words.join(" ")}`], options);
    this.#running.add(child);
    child.once("close", () => this.#running.delete(child));
    return child;
  }

  async upInProcess(): Promise<InProcess> {
    await this.json("list");
    const { api_url: url, endpoint_url: endpointUrl } = await this.json("status");
    const apiKey = (await readFile(join(this.home, "api-key"), "utf8")).trim();
    const apiUrl = String(url);
    return { api: new ApiClient({ baseUrl: apiUrl, key: apiKey }), apiUrl, apiKey, endpointUrl: String(endpointUrl) };
  }

  async up(words: readonly string[] = [], options: SpawnOptions = {}): Promise<Server> {
    const child = this.spawn(["up", "--json", ...words], options);
    const stderr = collect(child, "stderr");
    const stdout = collect(child, "stdout");
    const started = untilOutput(child, (text) => text.includes("\n"));
    await Promise.race([started, once(child, "close").then(() => Promise.reject(new Error(`pd up ended: ${stderr()}`)))]);
    const { api_url, endpoint_url, error } = JSON.parse(stdout());
    if (error !== undefined) throw new Error(`pd up has failed: ${stdout()}`);
    const key = (await readFile(join(this.home, "api-key"), "utf8")).trim();
    return { child, stderr, endpointUrl: endpoint_url, api: new ApiClient({ baseUrl: api_url, key }), apiKey: key, apiUrl: api_url };
  }

  async #end(): Promise<void> {
    await this.#server?.stop();
    const record = readServerRecord(this.home);
    if (record !== undefined) await stopped(record.pid);
    for (const child of this.#running) {
      child.kill("SIGKILL");
      await once(child, "close");
    }
  }
}

async function stopped(pid: number): Promise<void> {
  const tells = (signal: "SIGTERM" | 0): boolean => {
    try {
      return process.kill(pid, signal);
    } catch {
      return false;
    }
  };
  tells("SIGTERM");
  await eventually(async () => !tells(0));
}

export interface InProcess {
  readonly api: ApiClient;
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly endpointUrl: string;
}

export interface Server extends InProcess {
  readonly child: ChildProcess;
  readonly stderr: () => string;
}

export function collect(child: ChildProcess, stream: "stdout" | "stderr"): () => string {
  let text = "";
  child[stream]?.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return () => text;
}

export function untilOutput(child: ChildProcess, isEnough: (text: string) => boolean): Promise<string> {
  let text = "";
  return new Promise((resolve) => {
    const read = (chunk: string): void => {
      text += chunk;
      if (!isEnough(text)) return;
      child.stdout?.off("data", read);
      resolve(text);
    };
    child.stdout?.setEncoding("utf8").on("data", read);
  });
}

export async function killHard(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
