import { useMemo, useState } from "preact/hooks";
import { useQuery } from "../browser/address.ts";
import { LazyEditor } from "../parts/editor/lazy-editor.tsx";
import { RegistrySearch } from "../parts/registry-search.tsx";
import { AddressField } from "../parts/fields.tsx";

const EXAMPLE = `export default {
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
  readonly onCode: (code: string) => void;
}

export function ChooseCode({ onKey, onUrl, onCode }: ChooseProps) {
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
        <PasteForm isShown={way === "code"} onCode={onCode} />
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

/** Keeps the pasted text while hidden. */
function PasteForm({ isShown, onCode }: { isShown: boolean; onCode: (code: string) => void }) {
  const [text, setText] = useState(EXAMPLE);
  // The editor owns its text once created.
  const begins = useMemo(() => text, [isShown]);
  if (!isShown) return null;
  return (
    <div class="stack">
      <div class="panel" style={{ height: "min(420px, 60vh)", overflow: "hidden" }}>
        <LazyEditor
          text={begins}
          path="component.mjs"
          isReadOnly={false}
          problem={undefined}
          label="Code of the component"
          onChange={setText}
          onSave={() => onCode(text)}
        />
      </div>
      <div>
        <button type="button" class="button filled" onClick={() => onCode(text)}>
          Continue
        </button>
      </div>
    </div>
  );
}
