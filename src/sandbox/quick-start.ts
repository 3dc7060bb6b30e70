import { join } from "node:path";
import { messageOf } from "../domain/errors.ts";
import { type ChildProcess, type ChildRights, type ChildSettings, EndedAtStart, commonFlags, inheritedEnv } from "./child-process.ts";

interface Making {
  /** How long after now it is made. */
  readonly afterMs: number;
  /** Nobody wants it any more. */
  readonly signal: AbortSignal;
  readonly startChild: (rights: ChildRights) => Promise<ChildProcess>;
  /** Processes start from it from now on. */
  readonly onMade: () => Promise<void>;
}

/**
 * Half of a start is spent on loading the same code: a snapshot of it is made once the server has started, and tried
 * before it is used.
 */
export class QuickStart {
  readonly #settings: ChildSettings;
  readonly #startChild: Making["startChild"];
  /** Path of what processes start from, once it is there. */
  #snapshot: string | undefined;
  /** Resolves when it is there and used, or cannot be had. */
  readonly whenTried: Promise<void>;

  constructor(settings: ChildSettings, making: Making) {
    this.#settings = settings;
    this.#startChild = making.startChild;
    this.whenTried = this.#make(making);
  }

  /** One that may do no more than others. */
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
      // A start does without both.
      const [{ makeSnapshot }, { tryOut }] = await Promise.all([import("./startup-snapshot.ts"), import("./try-out.ts")]);
      await makeSnapshot({ entry, flags: commonFlags(this.#settings), env: inheritedEnv(), path, signal });
      await tryOut(await this.#startChild({ snapshot: path }), this.#settings);
      this.#snapshot = path;
      await onMade();
    } catch (error) {
      if (!signal.aborted) this.#goWithout(error);
    }
  }

  /** A snapshot that is gone costs one start. */
  #goWithout(error: unknown): void {
    this.#snapshot = undefined;
    this.#settings.log.warn("processes of components take twice as long to start: there is no snapshot", { reason: messageOf(error) });
  }
}
