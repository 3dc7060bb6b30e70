import { useEffect, useId, useState } from "preact/hooks";
import { type JsonValue, parseJson } from "../../../domain/text/json.ts";
import { useAttempt } from "../../use-attempt.ts";
import { useLoaded } from "../../use-loaded.ts";
import { Select } from "../fields.tsx";
import { Problem } from "../problem.tsx";
import { Dialog } from "./dialog.tsx";

interface RunNowProps {
  readonly name: string;
  /** Events to begin with: id → text. */
  readonly offered: Readonly<Record<string, string>>;
  readonly eventOf: (id: string) => Promise<JsonValue | undefined>;
  /** Undefined for the trigger's own event. */
  readonly run: (event: JsonValue | undefined) => Promise<void>;
  readonly onClose: () => void;
}

export function RunNow({ name, offered, eventOf, run, onClose }: RunNowProps) {
  const [text, setText] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  const [chosen, setChosen] = useState("");
  const { value: taken, error: notTaken } = useLoaded(`event of ${chosen}`, async () => (chosen === "" ? undefined : ((await eventOf(chosen)) ?? {})));
  useEffect(() => {
    if (taken !== undefined) setText(JSON.stringify(taken, null, 2));
  }, [taken]);
  const isTaking = chosen !== "" && taken === undefined && notTaken === undefined;
  const id = useId();
  const isEmpty = text.trim() === "";
  const event = isEmpty ? undefined : parseJson(text);
  const isWrong = !isEmpty && event === undefined;
  return (
    <Dialog title={`Run ${name}`} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(submitted) => {
          submitted.preventDefault();
          if (!isWrong) void attempt(() => run(event));
        }}
      >
        {Object.keys(offered).length > 0 && (
          <Select label="Take an event from" choices={{ "": "Take an event from…", ...offered }} value={chosen} onChange={setChosen} />
        )}
        <div class="field">
          <label for={id}>Event, as JSON</label>
          <textarea
            id={id}
            class="input mono"
            rows={8}
            spellcheck={false}
            readOnly={isTaking}
            aria-invalid={isWrong}
            aria-describedby={`${id}-help`}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <span id={`${id}-help`} class={isWrong ? "problem" : "muted"}>
            {isWrong ? "Not a JSON value" : "Empty: an event of its trigger, such as a GET without parameters. The data of a request is in its body."}
          </span>
        </div>
        {(error ?? notTaken) !== undefined && <Problem error={error ?? notTaken} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="button filled" disabled={isUnderWay || isWrong || isTaking}>
            {isUnderWay ? "Running…" : "Run"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
