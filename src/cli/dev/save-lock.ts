import { join } from "node:path";
import { holdLock } from "../../system/file-lock.ts";

/** Whoever saves a source or a workflow is the only one on this machine who does; others watch, and take over when it has ended. */
export class SaveLock {
  readonly #home: string;
  #lock: { release(): void } | undefined;

  /** `home`: a folder that exists. */
  constructor(home: string) {
    this.#home = home;
  }

  /** False: another session saves it. */
  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /** Tries to be the one that saves it. Whether it is. */
  hold(id: string): boolean {
    this.#lock ??= holdLock(join(this.#home, `dev-${id}.lock`));
    return this.isHeld;
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }
}
