import { useId, useState } from "preact/hooks";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";

interface RenameStepProps {
  readonly namespace: string;
  readonly taken: ReadonlySet<string>;
  readonly onName: (name: string) => Promise<void>;
  readonly onClose: () => void;
}

export function RenameStep({ namespace, taken, onName, onClose }: RenameStepProps) {
  const [name, setName] = useState(namespace);
  const { isUnderWay, error, attempt } = useAttempt();
  const id = useId();
  const problem = name === namespace ? undefined : problemOf(name, taken);
  return (
    <Dialog title={`Rename ${namespace}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined) void attempt(() => onName(name));
        }}
      >
        <div class="field">
          <label for={id}>Name</label>
          <input
            id={id}
            class="input mono"
            spellcheck={false}
            aria-invalid={problem !== undefined}
            aria-describedby={`${id}-help`}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value.trim())}
          />
          <span id={`${id}-help`} class={problem === undefined ? "muted" : "problem"}>
            {problem ?? `Other steps that read steps.${namespace} are changed too. Earlier runs keep the old name, so a rerun of one runs this step again.`}
          </span>
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay || name === namespace || problem !== undefined}>
            {isUnderWay ? "Renaming…" : "Rename"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function problemOf(name: string, taken: ReadonlySet<string>): string | undefined {
  if (!/^[A-Za-z_]\w*$/.test(name)) return "Expected letters, digits and _, and no digit at the beginning";
  return taken.has(name) ? "A step has this name" : undefined;
}
