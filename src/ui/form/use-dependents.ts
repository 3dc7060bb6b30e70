import { useRef } from "preact/hooks";
import type { JsonObject, JsonValue } from "../../domain/text/json.ts";
import type { Prop } from "../types.ts";
import type { ChoiceAsker } from "./choice-field.tsx";
import { dependentsOf } from "./dependents.ts";

interface Form {
  readonly props: readonly Prop[];
  readonly values: JsonObject;
  readonly ask: ChoiceAsker;
  /** Clears the prop, unless it has another value by now. */
  readonly clear: (name: string, chosen: JsonValue) => void;
}

/** Learns which props the choices of others were made of. The second function clears what was chosen for another value of a prop. */
export function useDependents({ props, values, ask, clear }: Form): [ask: ChoiceAsker, clearDependents: (name: string) => void] {
  const reads = useRef(new Map<string, readonly string[]>());
  const asked = useRef(new Set<string>());
  const learn: ChoiceAsker = async (asked) => {
    const page = await ask(asked);
    reads.current.set(asked.prop, page.reads);
    return page;
  };
  const clearDependents = (name: string): void => {
    for (const { name: other, remoteOptions } of props) {
      const chosen = values[other] ?? null;
      if (other === name || remoteOptions !== true || chosen === null) continue;
      const clearIfDependent = (): void => void (dependentsOf(name, reads.current).has(other) && clear(other, chosen));
      if (reads.current.has(other)) clearIfDependent();
      // Its choices were not listed yet. When they cannot be listed, the value stays.
      else if (!asked.current.has(other)) {
        asked.current.add(other);
        learn({ prop: other, page: 0, context: {} }).then(clearIfDependent, () => undefined);
      }
    }
  };
  return [learn, clearDependents];
}
