import { useState } from "preact/hooks";
import { type JsonValue, parseJson } from "../../domain/text/json.ts";
import { useGo } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { Dialog } from "../parts/dialogs/dialog.tsx";
import { Problem } from "../parts/problem.tsx";
import type { Source } from "../types.ts";

export function RunDialog({ source, onClose }: { source: Source; onClose: () => void }) {
  const client = useClient();
  const go = useGo();
  const [text, setText] = useState("");
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const event = text.trim() === "" ? undefined : parseJson(text);
  const isWrong = text.trim() !== "" && event === undefined;
  const run = async (): Promise<void> => {
    setRunning(true);
    setError(undefined);
    try {
      const { id } = await client.sources.run(source.id, eventParams(event));
      onClose();
      go(`/sources/${source.id}/runs?run=${id}`);
    } catch (thrown) {
      setError(thrown);
    }
    setRunning(false);
  };
  return (
    <Dialog title={`Run ${source.name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          void run();
        }}
      >
        <div class="field">
          <label for="run-event">Event, as JSON</label>
          <textarea
            id="run-event"
            class="input"
            spellcheck={false}
            aria-invalid={isWrong}
            aria-describedby="run-help"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <span id="run-help" class={isWrong ? "problem" : "muted"}>
            {isWrong ? "Not a JSON value" : "Default: an event of its trigger, such as a GET without parameters"}
          </span>
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isRunning || isWrong}>
            {isRunning ? "Running…" : "Run"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function eventParams(event: JsonValue | undefined): { event?: JsonValue } {
  return event === undefined ? {} : { event };
}
