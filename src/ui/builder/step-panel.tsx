import { useState } from "preact/hooks";
import { type Files, WORKFLOW_FILE, duplicateStep, moveStep, removeStep, renameStep, stepNames } from "../../domain/workflow/edit-steps.ts";
import { useMayChange } from "../app-context.ts";
import { Menu } from "../parts/dialogs/menu.tsx";
import { Problem } from "../parts/problem.tsx";
import { Described } from "../parts/text/described.tsx";
import type { Workflow, WorkflowStep } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { forgetDraftsIn, moveDraft, placeOf } from "./draft.ts";
import { RenameStep } from "./rename-step.tsx";
import { StepBlock } from "./step-block.tsx";
import { StepCode } from "./step-code.tsx";
import { StepProps } from "./step-props.tsx";
import { StepRuns } from "./step-runs.tsx";
import type { RunInView } from "./use-run-in-view.ts";
import type { Adding, StepPartProps } from "./step-part.ts";

interface StepPanelProps extends StepPartProps, Adding {
  readonly workflow: Workflow;
  readonly inView: RunInView;
  readonly onChosen: (namespace: string) => void;
}

export function StepPanel({ workflow, inView, onChosen, onAdd, ...part }: StepPanelProps) {
  const mayChange = useMayChange();
  const { step, folder, draft } = part;
  const place = placeOf(workflow.id, step);
  const { namespace, kind } = step;
  const { files } = folder;
  const text = files[WORKFLOW_FILE] ?? "";
  const [isRenaming, setRenaming] = useState(false);
  const [isFirst, isLast] = placeAmong(workflow.steps, namespace);
  const { isUnderWay: isActing, error, attempt } = useAttempt();
  const isUnderWay = isActing || folder.isStoring;
  const change = (next: () => Files): Promise<void> => attempt(async () => folder.change(next()));
  const move = (by: -1 | 1): Promise<void> => change(() => ({ ...files, [WORKFLOW_FILE]: moveStep(text, namespace, by) }));
  const duplicate = (): Promise<void> =>
    attempt(async () => {
      const copy = duplicateStep(files, namespace);
      await folder.change(copy.files);
      onChosen(copy.namespace);
    });
  const remove = (): Promise<void> =>
    attempt(async () => {
      await folder.change(removeStep(files, namespace));
      forgetDraftsIn(workflow.id, step);
      onChosen("");
    });
  return (
    <section class="stack" aria-label={`Step ${namespace}`}>
      <div class="row wrap">
        <h2 class="grow" style={{ flexBasis: "120px", overflowWrap: "anywhere" }}>
          {namespace}
        </h2>
        {mayChange && (
          <>
            <button type="button" class="button" disabled={isUnderWay} onClick={() => onAdd({ kind: "after", namespace })}>
              Add a step after it
            </button>
            <button type="button" class="button" disabled={isUnderWay || isFirst} aria-label="Move up" onClick={() => void move(-1)}>
              ↑
            </button>
            <button type="button" class="button" disabled={isUnderWay || isLast} aria-label="Move down" onClick={() => void move(1)}>
              ↓
            </button>
            <Menu label="Step">
              <button type="button" class="button plain" disabled={isUnderWay} onClick={() => setRenaming(true)}>
                Rename…
              </button>
              <button type="button" class="button plain" disabled={isUnderWay} onClick={() => void duplicate()}>
                Duplicate
              </button>
              <button type="button" class="button plain" disabled={isUnderWay} onClick={() => void remove()}>
                Delete
              </button>
            </Menu>
          </>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {isRenaming && (
        <RenameStep
          namespace={namespace}
          taken={stepNames(text)}
          onClose={() => setRenaming(false)}
          onName={async (name) => {
            await folder.change(renameStep(files, namespace, name));
            moveDraft(workflow.id, { from: namespace, to: name });
            onChosen(name);
          }}
        />
      )}
      {kind === "code" ? <Work key={folder.generation} {...part} place={place} /> : <StepBlock key={folder.generation} {...part} place={place} onAdd={onAdd} />}
      <StepRuns step={step} folder={folder} draft={draft.files} inView={inView} />
    </section>
  );
}

function Work(props: StepPartProps & { readonly place: string }) {
  const { step, folder } = props;
  const { component_path: path, component_key: key, savedComponent: saved, namespace } = step;
  if (path !== undefined && folder.files[path] !== undefined) return <StepCode key={`${namespace} ${path}`} {...props} path={path} />;
  if (key === undefined || saved === undefined) return <p class="muted">Its file is not in the folder.</p>;
  return (
    <Described code={{ component_id: saved.id }}>
      {({ configurable_props: declared }) => <StepProps key={`${namespace} ${saved.id}`} {...props} declared={declared} />}
    </Described>
  );
}

/** Whether the step is the first and the last of its list. */
function placeAmong(steps: readonly WorkflowStep[], namespace: string): readonly [boolean, boolean] {
  const index = steps.findIndex((step) => step.namespace === namespace);
  if (index >= 0) return [index === 0, index === steps.length - 1];
  const lists = steps.flatMap(({ branches = [] }) => branches.map((branch) => branch.steps));
  return lists.map((list) => placeAmong(list, namespace)).find(([isFirst, isLast]) => !isFirst || !isLast) ?? [true, true];
}
