import { createHash } from "node:crypto";
import { join } from "node:path";
import { PdError } from "../../domain/errors.ts";
import { holdLock } from "../../system/home/file-lock.ts";

/** Only one session on this machine saves a source or workflow. Others watch, and take over when it ends. */
export class SaveLock {
  readonly #home: string;
  readonly #server: string;
  #lock: { release(): void } | undefined;

  /** `home` must exist when `hold` is called. `server` is the address of a remote server, which may have the same ids, or empty. */
  constructor(home: string, server: string) {
    this.#home = home;
    this.#server = server === "" ? "" : `-${createHash("sha256").update(server).digest("hex").slice(0, 12)}`;
  }

  get isHeld(): boolean {
    return this.#lock !== undefined;
  }

  /** Returns whether this session saves. Throws PD_BAD_INPUT for an id that cannot name a file. */
  hold(id: string): boolean {
    if (!/^[\w-]+$/.test(id)) throw new PdError("PD_BAD_INPUT", `Cannot develop ${JSON.stringify(id)}: its id is not a valid file name`);
    this.#lock ??= holdLock(join(this.#home, `dev-${id}${this.#server}.lock`));
    return this.isHeld;
  }

  release(): void {
    this.#lock?.release();
    this.#lock = undefined;
  }
}
