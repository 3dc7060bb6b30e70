import { join } from "node:path";
import { messageOf } from "../domain/errors.ts";
import { type ChildProcess, type ChildRights, type ChildSettings, EndedAtStart, commonFlags, inheritedEnv } from "./child-process.ts";

interface Making {
  /** Delay before the snapshot is made. */
  readonly afterMs: number;
  readonly signal: AbortSignal;
  readonly startChild: (rights: ChildRights) => Promise<ChildProcess>;
  /** Called when new processes start from the snapshot. */
  readonly onMade: () => Promise<void>;
}

/**
 * Starts processes from a start-up snapshot, which halves their start time. Makes the snapshot after the server has started
 * and tests it before use. Until then, and after a failure, processes start without one.
 */
export class QuickStart {
  readonly #settings: ChildSettings;
  readonly #startChild: Making["startChild"];
  /** Path of the snapshot. Undefined while none is usable. */
  #snapshot: string | undefined;
  /** Resolves when the snapshot is in use or has failed. */
  readonly whenTried: Promise<void>;

  constructor(settings: ChildSettings, making: Making) {
    this.#settings = settings;
    this.#startChild = making.startChild;
    this.whenTried = this.#make(making);
  }

  /** Starts a process without special rights. Stops using the snapshot if the process fails to start from it. */
  start(): Promise<ChildProcess> {
    const snapshot = this.#snapshot;
    const child = this.#startChild({ snapshot });
    if (snapshot === undefined) return child;
    return child.then((started) => {
      started.ready.catch((error: unknown) => {
        if (error instanceof EndedAtStart && error.isOwnDoing && this.#snapshot === snapshot) this.#goWithout(error);
      });
      return started;
    });
  }

  async #make({ afterMs, signal, onMade }: Making): Promise<void> {
    const { clock, entry, runFolder } = this.#settings;
    await clock.sleepUntil(clock.now() + afterMs, signal);
    const path = join(runFolder, clock.randomText(10), "child.blob");
    try {
      signal.throwIfAborted();
      // Imported late to keep the server's start short.
      const [{ makeSnapshot }, { tryOut }] = await Promise.all([import("./startup-snapshot.ts"), import("./try-out.ts")]);
      await makeSnapshot({ entry, flags: commonFlags(this.#settings), env: inheritedEnv(), path, signal });
      await tryOut(await this.#startChild({ snapshot: path }), this.#settings);
      this.#snapshot = path;
      await onMade();
    } catch (error) {
      if (!signal.aborted) this.#goWithout(error);
    }
  }

  #goWithout(error: unknown): void {
    this.#snapshot = undefined;
    this.#settings.log.warn("component processes take twice as long to start without a snapshot", { reason: messageOf(error) });
  }
}
