import { useMemo, useRef, useState } from "preact/hooks";
import type { CodeParams } from "../../api/components.ts";
import { useClient } from "../app-context.ts";
import { useQuery } from "../browser/address.ts";
import { problemIn } from "../parts/editor/code-problem.ts";
import { LazyEditor } from "../parts/editor/lazy-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { RegistrySearch } from "../parts/registry-search.tsx";
import { AddressField } from "../parts/fields.tsx";

export const EXAMPLE = `export default {
  name: "Hello",
  version: "0.0.1",
  props: {
    http: "$.interface.http",
    db: "$.service.db",
  },
  async run(event) {
    this.$emit(event.body, { summary: "A request came" });
  },
};
`;

const WAYS = [
  { by: "", label: "From the registries" },
  { by: "code", label: "Paste code" },
  { by: "url", label: "From an address" },
] as const;

interface ChooseProps {
  readonly onKey: (key: string) => void;
  readonly onUrl: (url: string) => void;
  /** What was typed before. */
  readonly pasted: string;
  readonly onInput: (text: string) => void;
  readonly onCode: (code: string) => void;
}

export function ChooseCode({ onKey, onUrl, pasted, onInput, onCode }: ChooseProps) {
  const [by, setWay] = useQuery("by");
  const [named] = useQuery("url");
  const way = by === "" && named !== "" ? "url" : by;
  return (
    <>
      <h1>New source</h1>
      <div class="tabs" role="group" aria-label="Origin of the code">
        {WAYS.map(({ by: name, label }) => (
          <button key={name} type="button" class={`button ${way === name ? "" : "plain"}`} aria-pressed={way === name} onClick={() => setWay(name)}>
            {label}
          </button>
        ))}
      </div>
      {way === "" && <RegistrySearch type="source" placeholder="What should it watch for?" onChoose={onKey} />}
      {way === "url" && <AddressForm named={named} onUrl={onUrl} />}
      <div hidden={way !== "code"}>
        <PasteForm isShown={way === "code"} begins={pasted} onInput={onInput} onCode={onCode} />
      </div>
    </>
  );
}

function AddressForm({ named, onUrl }: { named: string; onUrl: (url: string) => void }) {
  const [url, setUrl] = useState(named);
  return (
    <form
      class="stack form"
      onSubmit={(event) => {
        event.preventDefault();
        onUrl(url);
      }}
    >
      <AddressField label="Address of the code" value={url} onInput={setUrl} />
      <div>
        <button type="submit" class="button filled">
          Continue
        </button>
      </div>
    </form>
  );
}

/** Keeps the pasted text while hidden, and what the server refuses. */
function PasteForm({ isShown, begins, onInput, onCode }: PasteProps) {
  const client = useClient();
  const [error, setError] = useState<unknown>();
  const [isLooking, setLooking] = useState(false);
  const text = useRef(begins);
  // The editor owns its text once created.
  const shown = useMemo(() => text.current, [isShown]);
  const problem = useMemo(() => problemIn(PASTED_PATH, error), [error]);
  const look = async (): Promise<void> => {
    setLooking(true);
    setError(undefined);
    try {
      await client.components.describe(pastedCode(text.current));
      onCode(text.current);
    } catch (thrown) {
      setError(thrown);
    }
    setLooking(false);
  };
  if (!isShown) return null;
  return (
    <div class="stack">
      <div class="panel" style={{ height: "min(420px, 60vh)", overflow: "hidden" }}>
        <LazyEditor
          text={shown}
          path={PASTED_PATH}
          isReadOnly={false}
          problem={problem}
          label="Code of the component"
          onChange={(typed) => {
            text.current = typed;
            onInput(typed);
          }}
          onSave={() => void look()}
        />
      </div>
      {error !== undefined && <Problem error={error} />}
      <div>
        <button type="button" class="button filled" disabled={isLooking} onClick={() => void look()}>
          {isLooking ? "Reading…" : error === undefined ? "Continue" : "Retry"}
        </button>
      </div>
    </div>
  );
}

interface PasteProps {
  readonly isShown: boolean;
  readonly begins: string;
  readonly onInput: (text: string) => void;
  readonly onCode: (code: string) => void;
}

const PASTED_PATH = "component.mjs";

export function pastedCode(text: string): CodeParams {
  return { component_code: text, component_path: PASTED_PATH };
}
