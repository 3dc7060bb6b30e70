import { useTitle } from "../browser/title.ts";
import { outcomeWord } from "../../domain/run/invocation.ts";
import { useState } from "preact/hooks";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import { useQuery } from "../browser/address.ts";
import { agreeTo } from "../agreed.ts";
import { useClient, useMayChange } from "../app-context.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { Agreement } from "../parts/dialogs/agreement.tsx";
import { Described, DescribedHead } from "../parts/text/described.tsx";
import { JsonTree } from "../parts/json/json-tree.tsx";
import { Empty } from "../parts/problem.tsx";
import { RegistrySearch } from "../parts/registry-search.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { LogLines } from "../source/log-lines.tsx";
import { duration } from "../text-of.ts";

type ActionRun = Awaited<ReturnType<ReturnType<typeof useClient>["actions"]["run"]>>;

export function ActionsPage() {
  useTitle("Actions");
  const mayChange = useMayChange();
  const [key, setKey] = useQuery("key");
  if (!mayChange) return <Empty title="This key is read-only: it cannot run actions" />;
  const code: CodeParams = { key };
  return (
    <div class="content">
      {key === "" ? (
        <>
          <h1>Actions</h1>
          <RegistrySearch
            type="action"
            placeholder="What should it do?"
            onChoose={(chosen) => {
              agreeTo(chosen);
              setKey(chosen);
            }}
          />
        </>
      ) : (
        <Agreement key={key} of={key} to="run it once" onRefuse={() => setKey("")}>
          <Described code={code} back="Actions" onBack={() => setKey("")}>
            {(described) => <RunForm code={code} described={described} />}
          </Described>
        </Agreement>
      )}
    </div>
  );
}

function RunForm({ code, described }: { code: CodeParams; described: DescribedRecord }) {
  const client = useClient();
  const [kept] = useState({});
  const form = usePropValues({ code, declared: described.configurable_props, kept });
  const [run, setRun] = useState<ActionRun>();
  const start = async (): Promise<void> => setRun(await client.actions.run({ ...code, configured_props: given(named(form.props, form.values)) }));
  return (
    <>
      <ComponentForm form={form} act={start} head={<DescribedHead described={described} />}>
        {(isRunning) => (
          <div>
            <button type="submit" class="button filled" disabled={isRunning}>
              {isRunning ? "Running…" : "Run"}
            </button>
          </div>
        )}
      </ComponentForm>
      {run !== undefined && <Result run={run} />}
    </>
  );
}

function Result({ run }: { run: ActionRun }) {
  return (
    <section class="panel padded stack" aria-label="Result">
      <div class="row wrap">
        <StateMark tone={run.outcome === "returned" ? "good" : "bad"}>{outcomeWord(run.outcome)}</StateMark>
        <span>{typeof run.exports["$summary"] === "string" ? run.exports["$summary"] : run.message}</span>
        <span class="muted">{duration(run.duration_ms)}</span>
      </div>
      {run.error !== undefined && (
        <div class="note bad">
          <pre>{run.error.stack}</pre>
        </div>
      )}
      <h3>Exports</h3>
      <JsonTree value={run.exports} label="exports" />
      {run.ret !== undefined && (
        <>
          <h3>Return value</h3>
          <JsonTree value={run.ret} label="return value" />
        </>
      )}
      <h3>Log</h3>
      <LogLines lines={run.os} none="No log lines" />
    </section>
  );
}
