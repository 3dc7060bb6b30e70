import { useState } from "preact/hooks";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import { useQuery } from "../address.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { PropForm } from "../form/prop-form.tsx";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { Description } from "../parts/description.tsx";
import { JsonTree } from "../parts/json-tree.tsx";
import { Letter } from "../parts/letter.tsx";
import { Empty, Problem } from "../parts/problem.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { LogLines } from "../source/log-lines.tsx";
import { duration } from "../text-of.ts";
import { useLoaded } from "../use-loaded.ts";

const FOUND = 50;
type ActionRun = Awaited<ReturnType<ReturnType<typeof useClient>["actions"]["run"]>>;

/** Actions: found, filled in, run once; what they export is shown. */
export function ActionsPage() {
  const mayChange = useMayChange();
  const [key, setKey] = useQuery("key");
  if (!mayChange) return <Empty title="This key may only read: it runs nothing" />;
  return <div class="content">{key === "" ? <Search onChoose={setKey} /> : <One actionKey={key} onBack={() => setKey("")} />}</div>;
}

function Search({ onChoose }: { onChoose: (key: string) => void }) {
  const client = useClient();
  const [query, setQuery] = useQuery("q");
  const { value, error, reload } = useLoaded(`actions ${query}`, () => client.registries.search({ query, component_type: "action", limit: FOUND }));
  return (
    <>
      <h1>Actions</h1>
      <input
        class="input"
        style={{ maxWidth: "360px" }}
        type="search"
        placeholder="What should it do?"
        aria-label="Search actions"
        value={query}
        onInput={({ currentTarget }) => setQuery(currentTarget.value)}
      />
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value?.data.length === 0 && <Empty title={query === "" ? "Search the registries for an action" : "Nothing fits the search"} />}
      <ul class="stack tight">
        {(value?.data ?? []).map(({ key, name, description }) => (
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
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

function One({ actionKey, onBack }: { actionKey: string; onBack: () => void }) {
  const client = useClient();
  const code: CodeParams = { key: actionKey };
  const { value, error, reload } = useLoaded(`action ${actionKey}`, () => client.components.describe(code));
  return (
    <>
      <div>
        <button type="button" class="button" onClick={onBack}>
          ← Actions
        </button>
      </div>
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && <RunForm code={code} described={value} />}
    </>
  );
}

function RunForm({ code, described }: { code: CodeParams; described: DescribedRecord }) {
  const client = useClient();
  const [kept] = useState({});
  const { props, values, set, ask, problems, takeRefusal, error } = usePropValues({ code, declared: described.configurable_props, kept });
  const [run, setRun] = useState<ActionRun>();
  const [refusal, setRefusal] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const start = async (): Promise<void> => {
    setRunning(true);
    setRefusal(undefined);
    try {
      setRun(await client.actions.run({ ...code, configured_props: given(named(props, values)) }));
    } catch (thrown) {
      if (!takeRefusal(thrown)) setRefusal(thrown);
    }
    setRunning(false);
  };
  return (
    <>
      <form
        class="panel padded stack loose"
        style={{ maxWidth: "760px" }}
        onSubmit={(event) => {
          event.preventDefault();
          void start();
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
        </div>
        <PropForm props={props} values={values} onChange={set} ask={ask} problems={problems} />
        {error !== undefined && <Problem error={error} />}
        {refusal !== undefined && <Problem error={refusal} />}
        <div>
          <button type="submit" class="button filled" disabled={isRunning}>
            {isRunning ? "Running…" : "Run"}
          </button>
        </div>
      </form>
      {run !== undefined && <Result run={run} />}
    </>
  );
}

function Result({ run }: { run: ActionRun }) {
  return (
    <section class="panel padded stack" aria-label="What it did">
      <div class="row wrap">
        <StateMark tone={run.outcome === "returned" ? "good" : "bad"}>{run.outcome === "returned" ? "done" : run.outcome}</StateMark>
        <span>{typeof run.exports["$summary"] === "string" ? run.exports["$summary"] : run.message}</span>
        <span class="muted">{duration(run.duration_ms)}</span>
      </div>
      {run.error !== undefined && (
        <div class="note bad">
          <pre>{run.error.stack}</pre>
        </div>
      )}
      <h3>What it exports</h3>
      <JsonTree value={run.exports} label="what it exports" />
      {run.ret !== undefined && (
        <>
          <h3>What it returned</h3>
          <JsonTree value={run.ret} label="what it returned" />
        </>
      )}
      <h3>Log</h3>
      <LogLines lines={run.os} none="It logged nothing" />
    </section>
  );
}
