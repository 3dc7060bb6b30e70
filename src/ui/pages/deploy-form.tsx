import { useEffect, useState } from "preact/hooks";
import type { CodeParams, DescribedRecord } from "../../api/components.ts";
import type { JsonObject } from "../../domain/text/json.ts";
import { useGo } from "../browser/address.ts";
import { useClient } from "../app-context.ts";
import { ComponentForm } from "../form/component-form.tsx";
import { dropDraft, keepDraft, readDraft } from "../form/draft.ts";
import { given, named, usePropValues } from "../form/use-prop-values.ts";
import { SettingFields } from "../form/setting-fields.tsx";
import { settingsIn } from "../../domain/source-settings/read-settings.ts";
import { DescribedHead } from "../parts/text/described.tsx";
import { tell } from "../parts/dialogs/toast.tsx";

export function DeployForm({ code, described }: { code: CodeParams; described: DescribedRecord }) {
  const client = useClient();
  const go = useGo();
  const [kept] = useState(() => valuesOf(code));
  const form = usePropValues({ code, declared: described.configurable_props, kept });
  const { props, values, changed } = form;
  const [name, setName] = useState("");
  const [settings, setSettings] = useState<JsonObject>({});
  const isSource = described.component_type === "source";
  useEffect(() => keepDraft(code, props, values), [changed, props]);
  const deploy = async (): Promise<void> => {
    const source = await client.sources.deploy({
      ...code,
      ...settingsIn(settings),
      configured_props: given(named(props, values)),
      ...(name === "" ? {} : { name }),
    });
    dropDraft();
    tell(`Deployed ${source.name_slug}`);
    go(`/sources/${source.id}`);
  };
  const head = (
    <>
      <DescribedHead described={described} />
      {!isSource && <p class="note attention">This is an {described.component_type}. Run it on the page Actions; it cannot be deployed.</p>}
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
        <div class="stack loose">
          {isSource && (
            <details>
              <summary>Settings</summary>
              <SettingFields values={settings} onChange={(setting, value) => setSettings((before) => ({ ...before, [setting]: value }))} />
            </details>
          )}
          <button type="submit" class="button filled" disabled={isDeploying || !isSource}>
            {isDeploying ? "Deploying…" : "Deploy"}
          </button>
        </div>
      )}
    </ComponentForm>
  );
}

function valuesOf(code: CodeParams): JsonObject {
  const draft = readDraft();
  return draft !== undefined && JSON.stringify(draft.code) === JSON.stringify(code) ? draft.values : {};
}
