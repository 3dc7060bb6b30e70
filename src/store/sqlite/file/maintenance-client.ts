import { readFileSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { PdError } from "../../../domain/errors.ts";
import type { KindUsage } from "../../../domain/health/usage.ts";
import { Turns } from "../../../domain/source/turns.ts";
import type { MaintenanceReply, MaintenanceTask } from "./maintenance.ts";

/**
 * A new thread for each task, because a thread keeps what it has read of a large database. The program is read at the
 * start: an update may replace the file.
 */
export class MaintenanceClient {
  readonly #path: string;
  readonly #program: string;
  readonly #turns = new Turns();
  #worker: Worker | undefined;
  #isClosed = false;

  constructor({ entry, path }: { entry: string; path: string }) {
    this.#path = path;
    // The program resolves `require` from this file name.
    this.#program = `(function (__filename) {${readFileSync(entry, "utf8")}\n})(${JSON.stringify(entry)})`;
  }

  /** Resolves to the damage found. Throws PD_FAILED when the check failed. */
  async check(): Promise<string | undefined> {
    const { damage, error } = await this.#ask({ task: "check" });
    if (error !== undefined) throw cannotLookAfter(error);
    return damage;
  }

  /** Copies a consistent snapshot to a new file. Throws PD_FAILED. */
  async copy(target: string): Promise<void> {
    const { damage, error = damage } = await this.#ask({ task: "copy", target });
    if (error !== undefined) throw new PdError("PD_FAILED", `Cannot copy the database to ${target}: ${error}`);
  }

  /** Throws PD_FAILED. */
  async usage(): Promise<readonly KindUsage[]> {
    const { usage, damage, error = damage } = await this.#ask({ task: "usage" });
    if (usage === undefined) throw new PdError("PD_FAILED", `Cannot measure the database: ${error ?? "its thread returned no answer"}`);
    return usage;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#worker?.terminate();
  }

  #ask(task: MaintenanceTask): Promise<MaintenanceReply> {
    return this.#turns.take(async () => {
      if (this.#isClosed) throw cannotLookAfter("the server is stopping");
      const worker = new Worker(this.#program, { eval: true, workerData: { path: this.#path } });
      worker.unref();
      this.#worker = worker;
      return replyOf(worker, task).finally(() => (this.#worker = undefined));
    });
  }
}

function replyOf(worker: Worker, task: MaintenanceTask): Promise<MaintenanceReply> {
  let reply: MaintenanceReply | undefined;
  return new Promise((resolve, reject) => {
    worker.once("message", (message: MaintenanceReply) => {
      reply = message;
      // The thread has closed its database already.
      void worker.terminate();
    });
    worker.on("error", (error: Error & { readonly fix?: unknown }) => reject(cannotLookAfter(error.message, error.fix)));
    worker.once("exit", () => (reply === undefined ? reject(cannotLookAfter("its thread has ended")) : resolve(reply)));
    worker.postMessage(task);
  });
}

function cannotLookAfter(reason: string, fix?: unknown): PdError {
  return new PdError("PD_FAILED", `Cannot maintain the database: ${reason}`, typeof fix === "string" ? { fix } : {});
}
