import type { SavedComponent } from "../../../domain/component/saved-component.ts";
import type { DeployedComponent } from "../../../domain/source/deployed-component.ts";
import type { PdError } from "../../../domain/errors.ts";
import type { Access } from "../../accounts/credentials.ts";
import type { Owned } from "./state-ownership.ts";
import type { Unit } from "../../../ports/runner.ts";

/**
 * The process of a version.
 * - `absent`: it has not been started, or it has ended. A call starts it.
 * - `starting`: calls wait for it. It becomes `serving`, or `absent` when the start fails.
 * - `serving`: calls go to it, until it retires or ends.
 */
type Process = { readonly kind: "absent" } | { readonly kind: "starting"; readonly unit: Promise<Unit> } | { readonly kind: "serving"; readonly unit: Unit };

const ABSENT: Process = { kind: "absent" };

/** The code of one version of a source, and the process that serves it. */
export class Version {
  readonly component: SavedComponent;
  #process: Process;

  constructor(component: SavedComponent, unit?: Unit) {
    this.component = component;
    this.#process = unit === undefined ? ABSENT : { kind: "serving", unit };
  }

  /** Undefined when a call would have to start the process. */
  get unit(): Unit | undefined {
    return this.#process.kind === "serving" && this.#process.unit.isUsable ? this.#process.unit : undefined;
  }

  /** Waits for the process, and starts it if needed. It may have ended again when this resolves. Throws what `start` throws. */
  async serve(start: () => Promise<Unit>): Promise<void> {
    if (this.unit !== undefined) return;
    if (this.#process.kind !== "starting") this.#process = { kind: "starting", unit: this.#start(start) };
    await this.#process.unit;
  }

  async #start(start: () => Promise<Unit>): Promise<Unit> {
    try {
      const unit = await start();
      this.#process = { kind: "serving", unit };
      return unit;
    } catch (error) {
      this.#process = ABSENT;
      throw error;
    }
  }

  /** Call when `unit` has ended, or without it when its memory is no longer valid. */
  dropUnit(unit?: Unit): void {
    if (this.#process.kind === "serving" && (unit === undefined || unit === this.#process.unit)) this.#process = ABSENT;
  }

  /** Ends the process after its calls. */
  retire(): void {
    if (this.#process.kind === "serving") void this.#process.unit.retire({ isUnhurried: true });
    if (this.#process.kind !== "starting") return;
    this.#process.unit.then(
      (late) => void late.retire(),
      () => {},
    );
  }
}

/** What a call needs, beside the credentials. */
export interface Warm {
  readonly version: Version;
  readonly unit: Unit;
  readonly owned: Owned;
}

export interface Ready {
  readonly source: DeployedComponent;
  readonly access: Access | PdError;
  readonly warm: Warm;
}
