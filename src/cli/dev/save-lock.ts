import { createHash } from "node:crypto";
import { join } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { holdLock } from "../../system/file-lock.ts";

/** Whoever saves a source or a workflow is the only one on this machine who does; others watch, and take over when it has ended. */
export class SaveLock {
  readonly #home: string;
  readonly #server: string;
  #lock: { release(): void } | undefined;

  /** `home`: a folder that exists by the time that it is held. `server`: the address of one elsewhere, which may have the same ids; empty: that of the home. */
  constructor(home: string, server: string) {
    this.#home = home;
    this.#server = server === "" ? "" : `-${createHash("sha256").update(server).digest("hex").slice(0, 12)}`;
  }

  /** False: another session saves it. */
  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /** Tries to be the one that saves it. Whether it is. */
  hold(id: string): boolean {
    if (!/^[\w-]+$/.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot develop ${JSON.stringify(id)}: its id cannot name a file`);
    this.#lock ??= holdLock(join(this.#home, `dev-${id}${this.#server}.lock`));
    return this.isHeld;
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }
}
