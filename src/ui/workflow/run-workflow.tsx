import { useState } from "preact/hooks";
import { parseJson } from "../../domain/text/json.ts";
import { useClient } from "../app-context.ts";
import { useGo } from "../browser/address.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import { Select } from "../parts/fields.tsx";
import type { Workflow } from "../types.ts";
import { useAttempt } from "../use-attempt.ts";
import { useLoaded } from "../use-loaded.ts";

const EARLIER = 20;
const SAMPLE = { method: "POST", path: "/", query: {}, headers: { "content-type": "application/json" }, body: { hello: "world" } };

/** With an empty event, a sample, or the event of an earlier run. */
export function RunWorkflow({ workflow, onClose }: { workflow: Workflow; onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const [text, setText] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  const { value: runs = [] } = useLoaded(`runs of ${workflow.id}`, () => client.workflows.runs(workflow.id, { limit: EARLIER }));
  const event = text.trim() === "" ? undefined : parseJson(text);
  const isWrong = text.trim() !== "" && event === undefined;
  const run = (): Promise<void> =>
    attempt(async () => {
      const { id } = await client.workflows.start(workflow.id, event === undefined ? {} : { event });
      onClose();
      go(`/workflows/${workflow.id}/runs?run=${id}`);
    });
  const take = (chosen: string): Promise<void> =>
    attempt(async () => {
      const taken = chosen === "sample" ? SAMPLE : (await client.workflows.run(chosen)).trigger.event;
      setText(JSON.stringify(taken ?? {}, null, 2));
    });
  return (
    <Dialog title={`Run ${workflow.name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          if (!isWrong) void run();
        }}
      >
        <Select
          label="Take an event from"
          choices={{
            "": "Take an event from…",
            sample: "A sample request",
            ...Object.fromEntries(runs.map(({ id, state, arrived = "" }) => [id, `${state}: ${arrived === "" ? id : arrived.slice(0, 60)}`])),
          }}
          value=""
          onChange={(chosen) => chosen !== "" && void take(chosen)}
        />
        <div class="field">
          <label for="workflow-event">Event, as JSON</label>
          <textarea
            id="workflow-event"
            class="input mono"
            rows={8}
            spellcheck={false}
            aria-invalid={isWrong}
            aria-describedby="workflow-event-help"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <span id="workflow-event-help" class={isWrong ? "problem" : "muted"}>
            {isWrong ? "Not a JSON value" : "Empty: an event of its trigger without data"}
          </span>
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay || isWrong}>
            {isUnderWay ? "Starting…" : "Run"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
