import { useId, useState } from "preact/hooks";
import { Dialog } from "../dialogs/dialog.tsx";

interface NewFileProps {
  readonly taken: Readonly<Record<string, string>>;
  readonly onName: (path: string) => void;
  readonly onClose: () => void;
}

export function NewFile({ taken, onName, onClose }: NewFileProps) {
  const [path, setPath] = useState("");
  const id = useId();
  const problem = path === "" ? undefined : problemOf(path, taken);
  return (
    <Dialog title="New file" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (problem === undefined) onName(path);
        }}
      >
        <div class="field">
          <label for={id}>Path in the folder</label>
          <input
            id={id}
            class="input mono"
            required
            spellcheck={false}
            placeholder="lib/prices.mjs"
            aria-invalid={problem !== undefined}
            aria-describedby={`${id}-help`}
            value={path}
            onInput={({ currentTarget }) => setPath(currentTarget.value)}
          />
          <span id={`${id}-help`} class="problem">
            {problem}
          </span>
        </div>
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={path === "" || problem !== undefined}>
            Add
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function problemOf(path: string, taken: NewFileProps["taken"]): string | undefined {
  if (taken[path] !== undefined) return "There is a file with this path";
  if (path.startsWith("/") || path.includes("\\") || path.split("/").some((name) => name === "" || name === "." || name === ".."))
    return "Expected a path inside the folder, such as lib/prices.mjs";
  return undefined;
}
