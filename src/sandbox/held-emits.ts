import { type Emit, sizeOfEmit } from "../domain/event.ts";
import type { InvocationId } from "../domain/ids.ts";
import { LIMITS } from "../domain/limits.ts";

/**
 * What calls that go on have told of their emits: none of it counts before its call is done. It is no more than their
 * process allows itself, so one that says more is ended.
 */
export class HeldEmits {
  readonly #byCall = new Map<InvocationId, { readonly emits: Emit[]; size: number }>();
  #size = 0;

  /** Throws RangeError when no process would have the server hold so much. */
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
    if (this.#size > LIMITS.held) throw new RangeError(`what its calls emit has more than ${LIMITS.held} characters`);
  }

  /** All that a call has emitted; `last`: what it tells at its end. Throws as `add` does. */
  with(id: InvocationId, last: readonly Emit[]): readonly Emit[] {
    const held = this.#byCall.get(id);
    if (held === undefined) return last;
    this.add(id, last);
    return held.emits;
  }

  /** The call is settled. */
  forget(id: InvocationId): void {
    this.#size -= this.#byCall.get(id)?.size ?? 0;
    this.#byCall.delete(id);
  }
}
