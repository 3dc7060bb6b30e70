import { useState } from "preact/hooks";
import { useClient, useMayChange } from "../app-context.ts";
import { useUnsaved } from "../browser/unsaved.ts";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { useAttempt } from "../use-attempt.ts";
import type { TabProps } from "./tab-props.ts";

/** Environment variables of the component's process. The server never shows their values. */
export function VariablesForm({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [name, setName] = useState("");
  const [value, setValue] = useState("");
  const { isUnderWay, error, attempt } = useAttempt();
  useUnsaved(value !== "");
  const change = (env: Record<string, string | null>, told: string): Promise<void> =>
    attempt(async () => {
      await client.sources.update(source.id, { env });
      reload();
      tell(told);
      setName("");
      setValue("");
    });
  const isKnown = source.env.includes(name);
  return (
    <form
      class="panel padded stack form"
      aria-label="Variables"
      onSubmit={(event) => {
        event.preventDefault();
        void change({ [name]: value }, `Saved ${name}: the source restarts with it`);
      }}
    >
      <h2>Variables</h2>
      <p class="muted">
        The component reads them as <code>process.env.NAME</code>. Their values are encrypted and not shown.
      </p>
      {source.env.length > 0 && (
        <ul class="stack tight">
          {source.env.map((known) => (
            <li class="row" key={known}>
              <code class="cut grow">{known}</code>
              {mayChange && (
                <>
                  <button type="button" class="button" aria-label={`Replace ${known}`} onClick={() => setName(known)}>
                    Replace
                  </button>
                  <button
                    type="button"
                    class="button"
                    aria-label={`Remove ${known}`}
                    disabled={isUnderWay}
                    onClick={() => void change({ [known]: null }, `Removed ${known}`)}
                  >
                    Remove
                  </button>
                </>
              )}
            </li>
          ))}
        </ul>
      )}
      {mayChange && (
        <div class="row wrap">
          <input
            class="input mono"
            style={{ maxWidth: "220px" }}
            aria-label="Name of the variable"
            placeholder="NAME"
            autocomplete="off"
            required
            pattern="[A-Za-z_][A-Za-z0-9_]*"
            title="Letters, digits and underscores"
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
          <input
            class="input mono"
            style={{ maxWidth: "280px" }}
            type="password"
            autocomplete="new-password"
            aria-label="Value of the variable"
            placeholder="value"
            value={value}
            onInput={({ currentTarget }) => setValue(currentTarget.value)}
          />
          <button type="submit" class="button" disabled={isUnderWay}>
            {isKnown ? "Replace" : "Add"}
          </button>
        </div>
      )}
      {error !== undefined && <Problem error={error} />}
    </form>
  );
}
