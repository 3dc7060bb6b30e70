import { Agent, request } from "node:http";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Program, recordOf, startProgram } from "./program.ts";

export interface Repetition {
  readonly times: number;
  /** Cleanup has ended when nothing shrinks for this long. */
  readonly quietMs: number;
  readonly begin: (root: string) => Promise<Begun>;
}

interface Begun {
  readonly program: Program;
  readonly repeat: (from: number, to: number) => Promise<void>;
}

const CONNECTIONS = 50;
/** The server prunes once a minute. */
const AFTER_PRUNING_MS = 70_000;
const NO_ANSWER_MS = 60_000;

export const REPEATED: Readonly<Record<string, Repetition>> = {
  saves: { times: 10_000, quietMs: 15_000, begin: saves },
  requests: { times: 1_000_000, quietMs: AFTER_PRUNING_MS, begin: requests },
  sources: { times: 3000, quietMs: 15_000, begin: sources },
};

function answering(version: number): string {
  return `export default { name: "Saved", version: "1", props: { http: { type: "$.interface.http", customResponse: true } }, run() { this.http.respond({ body: "${version}" }); } };\n`;
}

/** A version is kept as long as its invocations, so only 100 are kept. */
async function saves(root: string): Promise<Begun> {
  const folder = mkdtempSync(join(tmpdir(), "headwater-leaks-"));
  const path = join(folder, "saved.mjs");
  writeFileSync(path, answering(0));
  const program = await startProgram({ root, folder, words: ["dev", path, "--keep-invocations", "100"], ready: "Ready for updates!" });
  const endpoint = /Endpoint: (\S+)/.exec(program.printed())?.[1] ?? "";
  const repeat = async (from: number, to: number): Promise<void> => {
    for (let version = from + 1; version <= to; version++) {
      writeFileSync(path, answering(version));
      await untilAnswered(endpoint, String(version));
    }
  };
  return { program, repeat };
}

async function untilAnswered(endpoint: string, wanted: string): Promise<void> {
  let answer = "";
  for (const since = Date.now(); Date.now() - since < NO_ANSWER_MS; await sleep(1)) {
    answer = await (await fetch(endpoint)).text();
    if (answer === wanted) return;
  }
  throw new Error(`after ${NO_ANSWER_MS / 1000} s the endpoint still answers ${JSON.stringify(answer)}, not ${wanted}`);
}

async function requests(root: string): Promise<Begun> {
  const program = await startProgram({ root, folder: mkdtempSync(join(tmpdir(), "headwater-leaks-")), words: ["up"], ready: "Home:" });
  const code = `export default { name: "Asked", version: "1", dedupe: "unique", props: { http: "$.interface.http", db: "$.service.db" },
    run(event) { this.db.set("last", event.body.id); this.$emit(event.body, { id: event.body.id }); } };`;
  const made = recordOf((await program.call("POST", "/v1/sources", { component_code: code }))["data"]);
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const repeat = async (from: number, to: number): Promise<void> => {
    let next = from;
    const client = async (): Promise<void> => {
      while (next < to) await post(agent, String(made["endpoint_url"]), JSON.stringify({ id: next++, text: "x".repeat(900) }));
    };
    await Promise.all(Array.from({ length: CONNECTIONS }, client));
  };
  return { program, repeat };
}

function post(agent: Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", agent, headers: { "content-type": "application/json" } }, (answer) => {
      answer.resume().once("end", () => (answer.statusCode === 200 ? resolve() : reject(new Error(`a request was answered ${answer.statusCode}`))));
    });
    asked.once("error", reject).end(body);
  });
}

async function sources(root: string): Promise<Begun> {
  const program = await startProgram({ root, folder: mkdtempSync(join(tmpdir(), "headwater-leaks-")), words: ["up"], ready: "Home:" });
  const repeat = async (from: number, to: number): Promise<void> => {
    for (let version = from + 1; version <= to; version++) {
      const made = recordOf((await program.call("POST", "/v1/sources", { component_code: answering(version), name: `source ${version}` }))["data"]);
      await untilAnswered(String(made["endpoint_url"]), String(version));
      await program.call("DELETE", `/v1/sources/${String(made["id"])}`);
    }
  };
  return { program, repeat };
}
