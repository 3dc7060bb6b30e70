import { useState } from "preact/hooks";
import { WORKFLOW_FILE } from "../../domain/workflow/edit-steps.ts";
import { useClient } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";
import { WORKFLOW_EXAMPLES } from "./examples.ts";

const FOLDER = "folder";
/** More is not a workflow's folder. */
const MOST_FILES = 1000;

/** From an example, or from a folder of this machine. */
export function NewWorkflow({ onClose }: { onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const [name, setName] = useState("");
  const [origin, setOrigin] = useState(WORKFLOW_EXAMPLES[0]?.title ?? "");
  const [folder, setFolder] = useState<readonly File[]>([]);
  const { isUnderWay, error, attempt } = useAttempt();
  const create = (): Promise<void> =>
    attempt(async () => {
      const files = origin === FOLDER ? await filesOf(folder) : WORKFLOW_EXAMPLES.find(({ title }) => title === origin)?.files(name);
      const made = await client.workflows.deploy({ files: { ...files }, ...(origin === FOLDER && name === "" ? {} : { name }) });
      tell(`Created ${made.name_slug}`);
      go(`/workflows/${made.id}/steps`);
    });
  return (
    <Dialog title="New workflow" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <div class="field">
          <label for="workflow-name">Name {origin === FOLDER && <span class="muted">(optional)</span>}</label>
          <input id="workflow-name" class="input" required={origin !== FOLDER} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
        </div>
        <fieldset class="stack tight">
          <legend>Begin with</legend>
          {[...WORKFLOW_EXAMPLES, { title: FOLDER, about: "A folder of this machine with a workflow.yaml, such as an export." }].map(({ title, about }) => (
            <label class="row" key={title}>
              <input type="radio" name="origin" checked={origin === title} onChange={() => setOrigin(title)} />
              <span>
                <strong>{title === FOLDER ? "Folder" : title}</strong> <span class="muted">{about}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {origin === FOLDER && (
          <input
            type="file"
            aria-label="Folder"
            required
            multiple
            // Not in the types: it lets one choose a folder.
            {...{ webkitdirectory: true }}
            onChange={({ currentTarget }) => setFolder([...(currentTarget.files ?? [])])}
          />
        )}
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay}>
            {isUnderWay ? "Creating…" : "Create"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** Paths inside the folder that has workflow.yaml. */
async function filesOf(folder: readonly File[]): Promise<Record<string, string>> {
  const kept = folder.filter(({ webkitRelativePath: path }) => !/(^|\/)(node_modules|\.git)\//.test(path));
  if (kept.length > MOST_FILES) throw new Error(`The folder has ${kept.length} files, and a workflow may have ${MOST_FILES}`);
  const root = kept.map(({ webkitRelativePath: path }) => path).find((path) => path.endsWith(`/${WORKFLOW_FILE}`));
  if (root === undefined) throw new Error(`The folder has no ${WORKFLOW_FILE}`);
  const prefix = root.slice(0, -WORKFLOW_FILE.length);
  const inside = kept.filter(({ webkitRelativePath: path }) => path.startsWith(prefix));
  return Object.fromEntries(await Promise.all(inside.map(async (file) => [file.webkitRelativePath.slice(prefix.length), await file.text()] as const)));
}
