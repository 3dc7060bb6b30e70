import type { StateChanges } from "../../src/domain/run/invocation.ts";
import type { Unit } from "../../src/ports/runner.ts";

export class RecordingUnit implements Unit {
  readonly definition = {};
  readonly told: StateChanges[] = [];
  killedFor: string | undefined;
  readonly #ended: () => void;

  constructor(ended: () => void) {
    this.#ended = ended;
  }

  get isUsable(): boolean {
    return this.killedFor === undefined;
  }

  call(): never {
    throw new Error("not called in these tests");
  }

  patchState(changes: StateChanges): void {
    this.told.push(changes);
  }

  async memoryBytes(): Promise<number> {
    return 1;
  }

  async retire(): Promise<void> {
    this.#ended();
  }

  kill(reason: string): void {
    this.killedFor = reason;
    this.#ended();
  }
}
