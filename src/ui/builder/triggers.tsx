import { useState } from "preact/hooks";
import { everyPage } from "../../client/client.ts";
import { addTrigger, removeTrigger } from "../../domain/workflow/edit-triggers.ts";
import { WORKFLOW_FILE } from "../../domain/workflow/edit-steps.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { TimerField } from "../form/timer-field.tsx";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Select } from "../parts/fields.tsx";
import { Problem } from "../parts/problem.tsx";
import type { Workflow } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { useLoaded } from "../use-loaded.ts";
import { triggerText } from "../workflow/step-texts.ts";
import type { Folder } from "./use-folder.ts";

interface TriggersProps {
  readonly workflow: Workflow;
  readonly folder: Folder;
}

/** What starts the workflow. */
export function Triggers({ workflow, folder }: TriggersProps) {
  const mayChange = useMayChange();
  const [isAdding, setAdding] = useState(false);
  const { isUnderWay, error, attempt } = useAttempt();
  const text = folder.files[WORKFLOW_FILE] ?? "";
  // The list is that of the stored version.
  const isBehind = isUnderWay || folder.isStoring || folder.version !== workflow.version;
  const remove = (index: number): void => {
    const trigger = workflow.triggers[index];
    if (
      trigger?.endpoint_url !== undefined &&
      !confirm(`Remove this trigger? Requests to ${trigger.endpoint_url} then fail, and the address does not come back.`)
    )
      return;
    const ids = workflow.triggers.map(({ id }) => id);
    void attempt(() => store(removeTrigger(text, index, ids)));
  };
  const store = (changed: string): Promise<void> => folder.change({ ...folder.files, [WORKFLOW_FILE]: changed });
  return (
    <section class="stack tight" aria-label="Triggers">
      <div class="row wrap">
        <strong>Starts with</strong>
        {workflow.triggers.length === 0 && <span class="muted">Run now, and nothing else</span>}
        {workflow.triggers.map((trigger, index) => (
          <span class="row chip" key={`${index} ${trigger.id ?? ""}`}>
            {triggerText(trigger)}{" "}
            {workflow.triggers.length > 1 && trigger.endpoint_url !== undefined && <code class="cut">…{trigger.endpoint_url.slice(-6)}</code>}
            {mayChange && (
              <button
                type="button"
                class="button plain icon"
                aria-label={`Remove the trigger ${triggerText(trigger)}${workflow.triggers.length > 1 ? ` ${index + 1}` : ""}`}
                disabled={isBehind}
                onClick={() => remove(index)}
              >
                ×
              </button>
            )}
          </span>
        ))}
        {mayChange && (
          <button type="button" class="button plain" onClick={() => setAdding(true)}>
            Add a trigger…
          </button>
        )}
      </div>
      {error !== undefined && <Problem error={error} />}
      {isAdding && (
        <AddTrigger
          own={workflow.id}
          onClose={() => setAdding(false)}
          onAdd={async (trigger) => {
            await store(addTrigger(text, trigger));
            setAdding(false);
          }}
        />
      )}
    </section>
  );
}

const KINDS = { http: "An HTTP request", schedule: "A schedule", events: "Events of a source or workflow" } as const;

interface AddTriggerProps {
  /** Id of the workflow. */
  readonly own: string;
  readonly onAdd: (trigger: JsonObject) => Promise<void>;
  readonly onClose: () => void;
}

function AddTrigger({ own, onAdd, onClose }: AddTriggerProps) {
  const client = useClient();
  const [kind, setKind] = useState<string>("http");
  const [schedule, setSchedule] = useState<JsonObject>({ intervalSeconds: 900 });
  const [emitter, setEmitter] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  const { value: emitters = [] } = useLoaded("emitters", async () => [
    ...(await everyPage(client.sources.list)).map(({ name_slug: slug, name }) => ({ member: "source", slug, name })),
    ...(await everyPage(client.workflows.list)).filter(({ id }) => id !== own).map(({ name_slug: slug, name }) => ({ member: "workflow", slug, name })),
  ]);
  const from = emitters.find(({ slug }) => slug === emitter);
  const trigger = (): JsonObject => {
    if (kind === "schedule") return { schedule };
    return kind === "events" && from !== undefined ? { [from.member]: from.slug } : { http: {} };
  };
  return (
    <Dialog title="Add a trigger" onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void attempt(() => onAdd(trigger()));
        }}
      >
        <Select label="Kind of trigger" choices={KINDS} value={kind} onChange={setKind} />
        {kind === "http" && <p class="muted">It gets an endpoint of its own. The request's data is in steps.trigger.event.body.</p>}
        {kind === "schedule" && (
          <div class="field">
            <label for="trigger-schedule">Schedule</label>
            <TimerField
              id="trigger-schedule"
              prop={{ name: "schedule", type: "$.interface.timer" }}
              value={schedule}
              set={(value) => typeof value === "object" && value !== null && !Array.isArray(value) && setSchedule(value)}
              isDisabled={false}
              describedBy="trigger-schedule-help"
              isWrong={false}
              isKept={false}
            />
            <span id="trigger-schedule-help" class="muted">
              Each instant starts a run.
            </span>
          </div>
        )}
        {kind === "events" && (
          <Select
            label="Whose events"
            choices={{ "": "Choose a source or workflow…", ...Object.fromEntries(emitters.map(({ slug, name }) => [slug, `${name} (${slug})`])) }}
            value={emitter}
            onChange={setEmitter}
          />
        )}
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay || (kind === "events" && from === undefined)}>
            {isUnderWay ? "Adding…" : "Add"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
