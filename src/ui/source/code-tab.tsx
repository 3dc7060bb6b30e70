import { useState } from "preact/hooks";
import { PdError } from "../../domain/errors.ts";
import { useClient, useMayChange } from "../app-context.ts";
import type { CodeProblem } from "../parts/editor-props.ts";
import { LazyEditor } from "../parts/lazy-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";

/** The code that runs: what is saved here is an update, and errors are shown at their line. */
export function CodeTab({ source, reload }: TabProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const { value: code, error } = useLoaded(`code ${source.component_id}`, () => client.components.get(source.component_id));
  const [path, setPath] = useState<string>();
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  if (error !== undefined) return <Problem error={error} />;
  if (code === undefined) return <Waiting />;
  const files: Record<string, string> = { [code.component_path]: code.code, ...code.component_files };
  const shown = path !== undefined && path in files ? path : code.component_path;
  const isChanged = Object.entries(edited).some(([name, text]) => files[name] !== text);
  const save = async (): Promise<void> => {
    if (!mayChange || isSaving) return;
    setSaving(true);
    setRefusal(undefined);
    const { [code.component_path]: entry = code.code, ...others } = { ...files, ...edited };
    try {
      const { version } = await client.sources.update(source.id, { component_code: entry, component_path: code.component_path, component_files: others });
      setEdited({});
      reload();
      tell(`Saved: version ${version} runs`, () => void client.sources.rollback(source.id, {}).then(reload));
    } catch (thrown) {
      setRefusal(thrown);
    }
    setSaving(false);
  };
  return (
    <div class="stack tight">
      <div class="row wrap">
        {Object.keys(files).map((name) => (
          <button key={name} type="button" class={`button ${name === shown ? "" : "plain"} mono`} aria-pressed={name === shown} onClick={() => setPath(name)}>
            {name}
            {edited[name] !== undefined && edited[name] !== files[name] ? " ●" : ""}
          </button>
        ))}
        <span class="grow" />
        {mayChange && (
          <button type="button" class="button filled" disabled={!isChanged || isSaving} onClick={() => void save()}>
            {isSaving ? "Saving…" : "Save"}
          </button>
        )}
      </div>
      {refusal !== undefined && <Problem error={refusal} />}
      <div class="panel" style={{ height: "calc(100vh - 300px)", minHeight: "280px", overflow: "hidden" }}>
        <LazyEditor
          key={`${code.id} ${shown}`}
          text={files[shown] ?? ""}
          path={shown}
          isReadOnly={!mayChange}
          problem={problemIn(shown, refusal)}
          label={`Code of ${shown}`}
          onChange={(text) => setEdited((before) => ({ ...before, [shown]: text }))}
          onSave={() => void save()}
        />
      </div>
      <p class="muted">
        {mayChange ? "Ctrl S saves: the running source is the new code." : "This key may only read."} Version {source.version}, component version {code.version}
        .
      </p>
    </div>
  );
}

/** `path:line:column` in what the server says. */
function problemIn(path: string, error: unknown): CodeProblem | undefined {
  if (!(error instanceof PdError)) return undefined;
  const stack = typeof error.details?.["stack"] === "string" ? error.details["stack"] : "";
  const place = [...`${error.message}\n${stack}`.matchAll(/([\w./-]+):(\d+)(?::(\d+))?/g)].find(
    ([, file = ""]) => file === path || file.endsWith(`/${path}`) || path.endsWith(file),
  );
  if (place === undefined) return undefined;
  const [, , line, column] = place;
  return { line: Number(line), column: Number(column ?? 0), message: error.message };
}
