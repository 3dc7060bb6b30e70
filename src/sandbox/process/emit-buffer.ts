import { type Emit, sizeOfEmit } from "../../domain/event/event.ts";
import type { InvocationId } from "../../domain/ids.ts";
import { LIMITS } from "../../domain/limits.ts";

/** Emits of calls in flight, which count only when the call is done. A process limits itself to the same amounts, so one that exceeds them is ended. */
export class EmitBuffer {
  readonly #byCall = new Map<InvocationId, { readonly emits: Emit[]; size: number }>();
  #size = 0;

  add(id: InvocationId, emits: readonly Emit[]): void {
    const held = this.#byCall.get(id) ?? { emits: [], size: 0 };
    this.#byCall.set(id, held);
    for (const emit of emits) {
      const size = sizeOfEmit(emit);
      held.emits.push(emit);
      held.size += size;
      this.#size += size;
    }
    if (held.emits.length > LIMITS.emits) throw new RangeError(`a call emits more than ${LIMITS.emits} times`);
    if (this.#size > LIMITS.held) throw new RangeError(`the emits of its calls have more than ${LIMITS.held} characters`);
  }

  /** `last` came with the end of the call. Throws like `add`. */
  with(id: InvocationId, last: readonly Emit[]): readonly Emit[] {
    const held = this.#byCall.get(id);
    if (held === undefined) return last;
    this.add(id, last);
    return held.emits;
  }

  forget(id: InvocationId): void {
    this.#size -= this.#byCall.get(id)?.size ?? 0;
    this.#byCall.delete(id);
  }
}
