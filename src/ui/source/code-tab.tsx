import { useEffect, useMemo, useState } from "preact/hooks";
import { PdError } from "../../domain/errors.ts";
import { useClient, useMayChange } from "../app-context.ts";
import type { CodeProblem } from "../parts/editor-props.ts";
import { LazyEditor } from "../parts/lazy-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import type { Source } from "../types.ts";
import { useUnsaved } from "../unsaved.ts";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";

/** What is edited: the code as it was when the editor was opened, or saved from it. */
interface Base {
  /** The editor is made anew for another one. */
  readonly key: string;
  readonly componentId: string;
  /** Of the source, when it ran this code. */
  readonly version: number;
  readonly entry: string;
  readonly files: Readonly<Record<string, string>>;
}

/** The code that runs. */
export function CodeTab({ source, reload }: TabProps) {
  const client = useClient();
  const { value: code, error } = useLoaded(`code ${source.component_id}`, () => client.components.get(source.component_id));
  const [base, setBase] = useState<Base>();
  const loaded: Base | undefined =
    code === undefined
      ? undefined
      : {
          key: `${code.id} ${source.version}`,
          componentId: code.id,
          version: source.version,
          entry: code.component_path,
          files: { [code.component_path]: code.code, ...code.component_files },
        };
  useEffect(() => {
    if (base === undefined && loaded !== undefined) setBase(loaded);
  }, [base, loaded]);
  if (error !== undefined && base === undefined) return <Problem error={error} />;
  if (base === undefined) return <Waiting />;
  return (
    <Editing
      key={base.key}
      source={source}
      base={base}
      newer={loaded !== undefined && loaded.version > base.version && loaded.componentId !== base.componentId ? loaded : undefined}
      onBase={setBase}
      onSaved={reload}
    />
  );
}

interface EditingProps {
  readonly source: Source;
  readonly base: Base;
  /** Somebody else has put other code in its place. */
  readonly newer: Base | undefined;
  readonly onBase: (base: Base) => void;
  readonly onSaved: () => void;
}

/** What is saved is an update, and errors are shown at their line. */
function Editing({ source, base, newer, onBase, onSaved }: EditingProps) {
  const client = useClient();
  const mayChange = useMayChange();
  const [path, setPath] = useState(base.entry);
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const isChanged = Object.entries(edited).some(([name, text]) => base.files[name] !== text);
  useUnsaved(isChanged);
  useEffect(() => {
    if (newer !== undefined && !isChanged && !isSaving) onBase(newer);
  }, [newer, isChanged, isSaving]);
  // The editor keeps its text itself: what it begins with is looked up when another file is shown.
  const begins = useMemo(() => edited[path] ?? base.files[path] ?? "", [path]);
  const problem = useMemo(() => problemIn(path, refusal), [path, refusal]);
  const save = async (): Promise<void> => {
    if (!mayChange || isSaving || newer !== undefined) return;
    setSaving(true);
    setRefusal(undefined);
    const files = { ...base.files, ...edited };
    const { [base.entry]: entry = "", ...others } = files;
    try {
      const after = await client.sources.update(source.id, {
        component_code: entry,
        component_path: base.entry,
        component_files: others,
        if_version: base.version,
      });
      // What is looked up about the source is older for a moment.
      onBase({ ...base, componentId: after.component_id, version: after.version, files });
      // What was typed meanwhile is not saved yet.
      setEdited((before) => Object.fromEntries(Object.entries(before).filter(([name, text]) => files[name] !== text)));
      onSaved();
      tell(`Saved: version ${after.version} runs`, () => void client.sources.rollback(source.id, {}).then(onSaved));
    } catch (thrown) {
      setRefusal(thrown);
      // Somebody else may have put other code in its place: then that is shown.
      onSaved();
    }
    setSaving(false);
  };
  return (
    <div class="stack tight">
      <div class="row wrap">
        {Object.keys(base.files).map((name) => (
          <button key={name} type="button" class={`button ${name === path ? "" : "plain"} mono`} aria-pressed={name === path} onClick={() => setPath(name)}>
            {name}
            {edited[name] !== undefined && edited[name] !== base.files[name] ? " ●" : ""}
          </button>
        ))}
        <span class="grow" />
        {mayChange && (
          <button type="button" class="button filled" disabled={!isChanged || isSaving || newer !== undefined} onClick={() => void save()}>
            {isSaving ? "Saving…" : "Save"}
          </button>
        )}
      </div>
      {newer !== undefined && isChanged && !isSaving && (
        <div class="note attention row wrap" role="alert">
          <span class="grow">Other code was put in its place meanwhile: version {source.version} runs.</span>
          <button type="button" class="button" onClick={() => onBase(newer)}>
            Load it, without my changes
          </button>
          <button type="button" class="button" onClick={() => onBase({ ...base, componentId: newer.componentId, version: newer.version })}>
            Go on with mine
          </button>
        </div>
      )}
      {refusal !== undefined && <Problem error={refusal} />}
      <div class="panel" style={{ height: "calc(100vh - 300px)", minHeight: "280px", overflow: "hidden" }}>
        <LazyEditor
          key={path}
          text={begins}
          path={path}
          isReadOnly={!mayChange}
          problem={problem}
          label={`Code of ${path}`}
          onChange={(text) => setEdited((before) => ({ ...before, [path]: text }))}
          onSave={() => void save()}
        />
      </div>
      <p class="muted">
        {mayChange ? "Ctrl S saves: the running source is the new code. Esc, then Tab leaves the editor." : "This key may only read."} Version {source.version},
        component version {source.component_version}.
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
