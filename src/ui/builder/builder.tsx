import { useEffect, useRef, useState } from "preact/hooks";
import { type Files, type Place, WORKFLOW_FILE, stepNames } from "../../domain/workflow/edit-steps.ts";
import { useMayChange } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { Problem } from "../parts/problem.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Workflow, WorkflowStep } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { useRunInView } from "./use-run-in-view.ts";
import { Graph } from "../workflow/graph.tsx";
import type { WorkflowTabProps } from "../workflow/tab-props.ts";
import { AddStep } from "./add-step.tsx";
import { forgetDrafts, unsavedSteps } from "./draft.ts";
import { referencesOf, referencesTo } from "./references.ts";
import { StepPanel } from "./step-panel.tsx";
import { Triggers } from "./triggers.tsx";
import { type Folder, useFolder } from "./use-folder.ts";

/** The steps of a workflow, and the chosen one beside them. Each change is a new version of its files. */
export function Builder({ workflow, reload }: WorkflowTabProps) {
  const mayChange = useMayChange();
  const [chosen, setChosen] = useQuery("step");
  const [typed, setTyped] = useState<Files>();
  const panel = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState<Place>();
  const { folder, error, loadNewer } = useFolder(workflow, { isTyping: () => typed !== undefined, onChanged: reload });
  const inView = useRunInView(workflow.id);
  const unsaved = unsavedSteps(workflow.id);
  useUnsaved(unsaved.size > 0);
  const shown = stepNamed(workflow.steps, chosen)?.namespace;
  useEffect(() => {
    // The button that was pressed belonged to another step.
    if (shown !== undefined && document.activeElement === document.body) panel.current?.focus({ preventScroll: true });
  }, [shown]);
  if (folder === undefined) return error === undefined ? <Waiting /> : <Problem error={error} />;
  const isInFolder = stepNames(folder.files[WORKFLOW_FILE] ?? "").has(chosen);
  const step = isInFolder ? stepNamed(workflow.steps, chosen) : undefined;
  const references = referencesOf(workflow.steps, chosen, inView);
  return (
    <div class="stack">
      {mayChange && <Changes folder={folder} onAdd={() => setPlace({ kind: "first" })} />}
      <Triggers workflow={workflow} folder={folder} />
      {loadNewer !== undefined && <NewerVersion workflow={workflow} onLoad={loadNewer} />}
      <div class={`panel split ${step === undefined ? "" : "has-chosen"}`}>
        <div class="list" style={{ padding: "12px" }}>
          <Graph steps={workflow.steps} records={inView.records} chosen={chosen} onChoose={setChosen} by="namespace" unsaved={unsaved} />
        </div>
        <div class="chosen" tabIndex={-1} ref={panel}>
          <button type="button" class="button back" onClick={() => setChosen("")}>
            ← Steps
          </button>
          {step === undefined ? (
            <p class="muted">
              {chosen === "" || isInFolder ? "Choose a step to see its code, its props and its last result." : "This step is not in the files that you edit."}
            </p>
          ) : (
            <StepPanel
              key={step.namespace}
              step={step}
              folder={folder}
              workflow={workflow}
              draft={{ files: typed, set: setTyped }}
              inView={inView}
              references={references}
              onChosen={setChosen}
              onAdd={setPlace}
            />
          )}
        </div>
      </div>
      {place !== undefined && (
        <AddStep
          files={folder.files}
          place={place}
          references={place.kind === "first" ? referencesOf(workflow.steps, "", undefined) : [...references, ...referencesTo(chosen, inView.records)]}
          onClose={() => setPlace(undefined)}
          onAdd={async (files, namespace) => {
            await folder.change(files);
            setPlace(undefined);
            setChosen(namespace);
          }}
        />
      )}
    </div>
  );
}

function Changes({ folder: { undo, redo, isStoring }, onAdd }: { readonly folder: Folder; readonly onAdd: () => void }) {
  const { isUnderWay, error, attempt } = useAttempt();
  return (
    <>
      <div class="row wrap">
        <button type="button" class="button" onClick={onAdd}>
          Add a first step
        </button>
        <span class="grow" />
        <button type="button" class="button" disabled={undo === undefined || isUnderWay || isStoring} onClick={() => void attempt(async () => undo?.())}>
          Undo
        </button>
        <button type="button" class="button" disabled={redo === undefined || isUnderWay || isStoring} onClick={() => void attempt(async () => redo?.())}>
          Redo
        </button>
      </div>
      {error !== undefined && <Problem error={error} />}
    </>
  );
}

function NewerVersion({ workflow, onLoad }: { readonly workflow: Workflow; readonly onLoad: () => void }) {
  return (
    <div class="note attention row wrap" role="alert">
      <span class="grow">Somebody else changed this workflow: version {workflow.version} is running.</span>
      <button type="button" class="button" onClick={onLoad}>
        Load it and keep what I typed
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          forgetDrafts(workflow.id);
          onLoad();
        }}
      >
        Load it and discard my changes
      </button>
    </div>
  );
}

function stepNamed(steps: readonly WorkflowStep[], namespace: string): WorkflowStep | undefined {
  for (const step of steps) {
    const found =
      step.namespace === namespace ? step : (step.branches ?? []).map((branch) => stepNamed(branch.steps, namespace)).find((inside) => inside !== undefined);
    if (found !== undefined) return found;
  }
  return undefined;
}
