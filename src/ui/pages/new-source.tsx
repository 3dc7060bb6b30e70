import { useEffect, useMemo, useState } from "preact/hooks";
import { Link } from "wouter-preact";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import { useGo, useQuery } from "../address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { PropForm } from "../form/prop-form.tsx";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { Description } from "../parts/description.tsx";
import { LazyEditor } from "../parts/lazy-editor.tsx";
import { Letter } from "../parts/letter.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { tell } from "../parts/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";

const FOUND = 50;
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

/** `/sources/new`, `/sources?action=create&key=…` and `…&url=…`. */
export function NewSourcePage() {
  const mayChange = useMayChange();
  const [key, setKey] = useQuery("key");
  const [url, setUrl] = useQuery("url");
  const [code, setCode] = useState<string>();
  // An address that somebody was led to fetches nothing and runs nothing before they have agreed.
  const [agreed, setAgreed] = useState<string>();
  if (!mayChange) return <Empty title="This key may only read: it deploys nothing" />;
  const named: CodeParams | undefined =
    code !== undefined
      ? { component_code: code, component_path: "component.mjs" }
      : key !== ""
        ? { key }
        : url !== "" && url === agreed
          ? { component_url: url }
          : undefined;
  return (
    <div class="content">
      <p>
        <Link href="/sources">← Sources</Link>
      </p>
      {named === undefined ? (
        <Choose
          onKey={setKey}
          onUrl={(given) => {
            setAgreed(given);
            setUrl(given);
          }}
          onCode={setCode}
        />
      ) : (
        <Deploy
          code={named}
          onBack={() => {
            setCode(undefined);
            if (key !== "") setKey("");
            if (url !== "") setUrl("");
          }}
        />
      )}
    </div>
  );
}

interface ChooseProps {
  readonly onKey: (key: string) => void;
  readonly onUrl: (url: string) => void;
  readonly onCode: (code: string) => void;
}

function Choose({ onKey, onUrl, onCode }: ChooseProps) {
  const [by, setWay] = useQuery("by");
  const [named] = useQuery("url");
  const way = by === "" && named !== "" ? "url" : by;
  const [url, setUrl] = useState(named);
  const [text, setText] = useState(EXAMPLE);
  // The editor keeps its text itself; it is made anew when one comes back to it.
  const begins = useMemo(() => text, [way]);
  return (
    <>
      <h1>New source</h1>
      <div class="tabs" role="group" aria-label="Where its code comes from">
        {[
          ["", "From the registries"],
          ["code", "Paste code"],
          ["url", "From an address"],
        ].map(([name = "", label]) => (
          <button key={name} type="button" class={`button ${way === name ? "" : "plain"}`} aria-pressed={way === name} onClick={() => setWay(name)}>
            {label}
          </button>
        ))}
      </div>
      {way === "" && <Search onChoose={onKey} />}
      {way === "url" && (
        <form
          class="stack"
          style={{ maxWidth: "640px" }}
          onSubmit={(event) => {
            event.preventDefault();
            onUrl(url);
          }}
        >
          <div class="field">
            <label for="code-url">Address of raw code</label>
            <input
              id="code-url"
              class="input"
              type="url"
              required
              placeholder="https://"
              value={url}
              onInput={({ currentTarget }) => setUrl(currentTarget.value)}
            />
          </div>
          <div>
            <button type="submit" class="button filled">
              Go on
            </button>
          </div>
        </form>
      )}
      {way === "code" && (
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
              Go on
            </button>
          </div>
        </div>
      )}
    </>
  );
}

function Search({ onChoose }: { onChoose: (key: string) => void }) {
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const [app, setApp] = useQuery("app");
  const words = `${app} ${query}`.trim();
  const { value, error, reload } = useLoaded(`search ${words}`, () => client.registries.search({ query: words, component_type: "source", limit: FOUND }));
  return (
    <div class="stack">
      <div class="row wrap">
        <input
          class="input"
          style={{ maxWidth: "360px" }}
          type="search"
          placeholder="What should it watch for?"
          aria-label="Search components"
          value={query}
          onInput={({ currentTarget }) => setQuery(currentTarget.value)}
        />
        <input
          class="input"
          style={{ maxWidth: "180px" }}
          type="text"
          placeholder="App"
          aria-label="App"
          value={app}
          onChange={({ currentTarget }) => setApp(currentTarget.value.trim())}
        />
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value?.data.length === 0 && (
        <Empty title={words === "" ? "Search the registries" : "Nothing fits the search"}>
          <p>
            Components are found by words of their name, key or description. <code>pd registry list</code> shows where they are looked for.
          </p>
        </Empty>
      )}
      <ul class="stack tight">
        {(value?.data ?? []).map(({ key, name, description, version }) => (
          <li key={key}>
            <button
              type="button"
              class="button"
              style={{ width: "100%", justifyContent: "flex-start", padding: "8px 12px", textAlign: "left", whiteSpace: "normal" }}
              onClick={() => onChoose(key)}
            >
              <Letter of={name} />
              <span class="stack tight grow">
                <span>
                  <bdi>{name}</bdi> <span class="muted mono">{key}</span>
                </span>
                <span class="muted cut">{description.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")}</span>
              </span>
              <span class="muted">{version}</span>
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Deploy({ code, onBack }: { code: CodeParams; onBack: () => void }) {
  const client = useClient();
  const { value, error, reload } = useLoaded(JSON.stringify(code), () => client.components.describe(code));
  return (
    <>
      <div>
        <button type="button" class="button" onClick={onBack}>
          ← Choose another
        </button>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && <DeployForm code={code} described={value} />}
    </>
  );
}

function DeployForm({ code, described }: { code: CodeParams; described: DescribedRecord }) {
  const client = useClient();
  const go = useGo();
  const draft = `headwater-draft ${JSON.stringify(code)}`;
  const [kept] = useState(() => readDraft(draft));
  const { props, values, changed, set, ask, problems, takeRefusal, error } = usePropValues({ code, declared: described.configurable_props, kept });
  const [name, setName] = useState("");
  const [refusal, setRefusal] = useState<unknown>();
  const [isDeploying, setDeploying] = useState(false);
  // A sign-in at a provider leads out of the page and back: what was filled in, but for secrets, is found again.
  useEffect(() => {
    const secret = new Set(props.filter((prop) => prop.secret === true).map((prop) => prop.name));
    sessionStorage.setItem(draft, JSON.stringify(Object.fromEntries(Object.entries(values).filter(([prop]) => !secret.has(prop)))));
  }, [changed]);
  const deploy = async (): Promise<void> => {
    setDeploying(true);
    setRefusal(undefined);
    try {
      const source = await client.sources.deploy({ ...code, configured_props: given(named(props, values)), ...(name === "" ? {} : { name }) });
      sessionStorage.removeItem(draft);
      tell(`Deployed ${source.name_slug}`);
      go(`/sources/${source.id}`);
    } catch (thrown) {
      if (!takeRefusal(thrown)) setRefusal(thrown);
      setDeploying(false);
    }
  };
  return (
    <form
      class="panel padded stack loose"
      style={{ maxWidth: "760px" }}
      onSubmit={(event) => {
        event.preventDefault();
        void deploy();
      }}
    >
      <div class="stack tight">
        <div class="row">
          <Letter of={described.name} />
          <h1>
            <bdi>{described.name}</bdi>
          </h1>
          <span class="muted">{described.version}</span>
        </div>
        {described.description !== undefined && <Description text={described.description} />}
        {described.component_type !== "source" && (
          <p class="note attention">This is an {described.component_type}: it is run on the page Actions, and not deployed.</p>
        )}
      </div>
      <div class="field">
        <label for="source-name">
          Name <span class="muted">(optional)</span>
        </label>
        <input id="source-name" class="input" placeholder={described.name} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </div>
      <PropForm props={props} values={values} onChange={set} ask={ask} problems={problems} />
      {error !== undefined && <Problem error={error} />}
      {Object.keys(problems).length > 0 && (
        <p class="note bad" role="alert">
          Something is missing or not taken: the fields above say what.
        </p>
      )}
      {refusal !== undefined && <Problem error={refusal} />}
      <div>
        <button type="submit" class="button filled" disabled={isDeploying || described.component_type !== "source"}>
          {isDeploying ? "Deploying…" : "Deploy"}
        </button>
      </div>
    </form>
  );
}

function readDraft(name: string) {
  const text = sessionStorage.getItem(name);
  return text === null ? {} : JSON.parse(text);
}
