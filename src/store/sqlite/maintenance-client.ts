import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { PdError } from "../../domain/errors.ts";
import type { KindUsage } from "../../domain/usage.ts";
import type { MaintenanceReply, MaintenanceRequest } from "./maintenance.ts";

type Task = { readonly task: "check" | "usage" } | { readonly task: "copy"; readonly target: string };

/**
 * Asks the maintenance thread, which is started when it is first needed. Its program is read before: the file may be
 * another one by then, of another version.
 */
export class MaintenanceClient {
  readonly #path: string;
  readonly #program: string;
  readonly #waiting = new Map<number, { resolve(reply: MaintenanceReply): void; reject(error: Error): void }>();
  #worker: Worker | undefined;
  #lastId = 0;

  /** `entry`: the built program of the thread; `path`: the database. */
  constructor({ entry, path }: { entry: string; path: string }) {
    this.#path = path;
    // It finds what it requires from where its file is.
    this.#program = `(function (__filename) {${readFileSync(entry, "utf8")}\n})(${JSON.stringify(entry)})`;
  }

  /** What is wrong with the database; `undefined`: nothing. */
  async check(): Promise<string | undefined> {
    const { damage, error } = await this.#ask({ task: "check" });
    return damage ?? error;
  }

  /** Copies the database into a new file, as it is at one moment. Throws PD_FAILED. */
  async copy(target: string): Promise<void> {
    const { error } = await this.#ask({ task: "copy", target });
    if (error !== undefined) throw new PdError("PD_FAILED", `Cannot copy the database to ${target}: ${error}`);
  }

  /** Throws PD_FAILED. */
  async usage(): Promise<readonly KindUsage[]> {
    const { usage, error } = await this.#ask({ task: "usage" });
    if (usage === undefined) throw new PdError("PD_FAILED", `Cannot tell what the database takes up: ${error ?? "its thread said nothing"}`);
    return usage;
  }

  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  #ask(task: Task): Promise<MaintenanceReply> {
    const id = ++this.#lastId;
    const request: MaintenanceRequest = { id, ...task };
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#thread().postMessage(request);
    });
  }

  #thread(): Worker {
    if (this.#worker !== undefined) return this.#worker;
    const worker = new Worker(this.#program, { eval: true, workerData: { path: this.#path } });
    worker.unref();
    worker.on("message", (reply: MaintenanceReply) => {
      this.#waiting.get(reply.id)?.resolve(reply);
      this.#waiting.delete(reply.id);
    });
    const fail = (reason: string): void => {
      this.#worker = undefined;
      for (const waiting of this.#waiting.values()) waiting.reject(new PdError("PD_FAILED", `Cannot look after the database: ${reason}`));
      this.#waiting.clear();
    };
    worker.on("error", (error) => fail(error.message));
    worker.on("exit", () => fail("its thread has ended"));
    this.#worker = worker;
    return worker;
  }
}
