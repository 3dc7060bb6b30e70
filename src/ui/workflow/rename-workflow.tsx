import { useId, useState } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";
import type { WorkflowTabProps } from "./tab-props.ts";

/** The slug and the endpoint stay. */
export function RenameWorkflow({ workflow, reload, onClose }: WorkflowTabProps & { onClose: () => void }) {
  const client = useClient();
  const [name, setName] = useState(workflow.name);
  const { isUnderWay, error, attempt } = useAttempt();
  const id = useId();
  const rename = (): Promise<void> =>
    attempt(async () => {
      await client.workflows.update(workflow.id, { name, keep_slug: true });
      reload();
      tell("Renamed");
      onClose();
    });
  return (
    <Dialog title="Rename the workflow" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void rename();
        }}
      >
        <div class="field">
          <label for={id}>Name</label>
          <input id={id} class="input" required value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay || name === workflow.name}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
