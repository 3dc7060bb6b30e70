import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { PostgresServer } from "../support/postgres-server.ts";
import { type Stage, now } from "./actors.ts";

/** PostgreSQL behind a proxy that cuts connections. */
export class TorturedDatabase implements AsyncDisposable {
  readonly #server: PostgresServer;
  readonly #proxy: CuttingProxy;
  /** Of the nodes of a cluster. */
  readonly #proxies: CuttingProxy[] = [];

  static async start(): Promise<TorturedDatabase> {
    const server = await PostgresServer.start([]);
    return new TorturedDatabase(server, await CuttingProxy.open(join(server.folder, ".s.PGSQL.5432")));
  }

  private constructor(server: PostgresServer, proxy: CuttingProxy) {
    this.#server = server;
    this.#proxy = proxy;
  }

  get flags(): readonly string[] {
    return ["--database-url", `postgres://headwater@127.0.0.1:${this.#proxy.port}/postgres`];
  }

  async flagsOf(place: number): Promise<readonly string[]> {
    const proxy = await this.#open();
    this.#proxies[place] = proxy;
    return ["--database-url", `postgres://headwater@127.0.0.1:${proxy.port}/postgres`];
  }

  async cutOff(place: number, ms: number): Promise<void> {
    const proxy = this.#proxies[place];
    proxy?.block();
    await sleep(ms);
    proxy?.unblock();
  }

  async restart(): Promise<void> {
    await this.#server.stop("SIGQUIT");
    await this.#server.run();
  }

  async endSessions(): Promise<void> {
    await this.#server.ask("select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'headwater%'");
  }

  cutAnswers(count: number): void {
    for (const proxy of [this.#proxy, ...this.#proxies]) proxy.cutAnswers(count);
  }

  #open(): Promise<CuttingProxy> {
    return CuttingProxy.open(join(this.#server.folder, ".s.PGSQL.5432"));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const proxy of [this.#proxy, ...this.#proxies]) await proxy[Symbol.asyncDispose]();
    await this.#server[Symbol.asyncDispose]();
  }
}

export async function hitDatabase(stage: Stage, database: TorturedDatabase): Promise<void> {
  const random = stage.random.fork();
  while (!stage.signal.aborted) {
    await sleep(random.between(500, 2500));
    if (stage.signal.aborted) return;
    const kind = random.pick(["restart", "end sessions", "cut", "cut", "cut"] as const) ?? "cut";
    stage.history.blows.push({ at: now(), kind: `database ${kind}` });
    if (kind === "restart") await database.restart();
    else if (kind === "end sessions") await database.endSessions();
    else database.cutAnswers(random.between(1, 12));
  }
}
