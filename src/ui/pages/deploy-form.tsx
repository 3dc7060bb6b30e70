import { useEffect, useState } from "preact/hooks";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import { useGo } from "../address.ts";
import { useClient } from "../app-context.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { isSecretProp } from "../form/secret-props.ts";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { DescribedHead } from "../parts/described.tsx";
import { tell } from "../parts/toast.tsx";

/** The props of a component that becomes a source. */
export function DeployForm({ code, described }: { code: CodeParams; described: DescribedRecord }) {
  const client = useClient();
  const go = useGo();
  const draft = `headwater-draft ${JSON.stringify(code)}`;
  const [kept] = useState(() => readDraft(draft));
  const form = usePropValues({ code, declared: described.configurable_props, kept });
  const { props, values, changed } = form;
  const [name, setName] = useState("");
  const isSource = described.component_type === "source";
  // A sign-in at a provider leads out of the page and back: what was filled in, but for secrets, is found again.
  useEffect(() => {
    const secret = new Set(props.filter(isSecretProp).map((prop) => prop.name));
    sessionStorage.setItem(draft, JSON.stringify(Object.fromEntries(Object.entries(values).filter(([prop]) => !secret.has(prop)))));
  }, [changed]);
  const deploy = async (): Promise<void> => {
    const source = await client.sources.deploy({ ...code, configured_props: given(named(props, values)), ...(name === "" ? {} : { name }) });
    sessionStorage.removeItem(draft);
    tell(`Deployed ${source.name_slug}`);
    go(`/sources/${source.id}`);
  };
  const head = (
    <>
      <DescribedHead described={described} />
      {!isSource && <p class="note attention">This is an {described.component_type}: it is run on the page Actions, and not deployed.</p>}
      <div class="field">
        <label for="source-name">
          Name <span class="muted">(optional)</span>
        </label>
        <input id="source-name" class="input" placeholder={described.name} value={name} onInput={({ currentTarget }) => setName(currentTarget.value)} />
      </div>
    </>
  );
  return (
    <ComponentForm form={form} act={deploy} head={head}>
      {(isDeploying) => (
        <div>
          <button type="submit" class="button filled" disabled={isDeploying || !isSource}>
            {isDeploying ? "Deploying…" : "Deploy"}
          </button>
        </div>
      )}
    </ComponentForm>
  );
}

function readDraft(name: string) {
  const text = sessionStorage.getItem(name);
  return text === null ? {} : JSON.parse(text);
}
