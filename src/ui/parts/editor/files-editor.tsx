import { useEffect, useMemo, useState } from "preact/hooks";
import { useMayChange } from "../../app-context.ts";
import { useUnsaved } from "../../browser/unsaved.ts";
import { problemIn } from "./code-problem.ts";
import { LazyEditor } from "./lazy-editor.tsx";
import { Problem } from "../problem.tsx";

export interface EditedFiles {
  readonly version: number;
  readonly entry: string;
  readonly files: Readonly<Record<string, string>>;
}

interface FilesEditorProps<Base extends EditedFiles> {
  readonly base: Base;
  /** Newer files, deployed by someone else. */
  readonly newer: Base | undefined;
  readonly save: (files: Readonly<Record<string, string>>) => Promise<Base>;
  /** `isLoaded` discards unsaved changes. */
  readonly onBase: (base: Base, isLoaded: boolean) => void;
  readonly onSaved: () => void;
  readonly children?: preact.ComponentChildren;
}

export function FilesEditor<Base extends EditedFiles>({ base, newer, save, onBase, onSaved, children }: FilesEditorProps<Base>) {
  const mayChange = useMayChange();
  const [path, setPath] = useState(base.entry);
  const [edited, setEdited] = useState<Readonly<Record<string, string>>>({});
  const [refusal, setRefusal] = useState<unknown>();
  const [isSaving, setSaving] = useState(false);
  const isChanged = Object.entries(edited).some(([name, text]) => base.files[name] !== text);
  useUnsaved(isChanged);
  useEffect(() => {
    if (newer !== undefined && !isChanged && !isSaving) onBase(newer, true);
  }, [newer, isChanged, isSaving]);
  // The editor owns its text while it shows a file.
  const begins = useMemo(() => edited[path] ?? base.files[path] ?? "", [path]);
  const problem = useMemo(() => problemIn(path, refusal), [path, refusal]);
  const saveAll = async (): Promise<void> => {
    if (!mayChange || isSaving || newer !== undefined) return;
    setSaving(true);
    setRefusal(undefined);
    const files = { ...base.files, ...edited };
    try {
      // Must precede `onSaved`, because reloaded data is briefly older.
      onBase(await save(files), false);
      // Text typed meanwhile is unsaved.
      setEdited((before) => Object.fromEntries(Object.entries(before).filter(([name, text]) => files[name] !== text)));
      onSaved();
    } catch (thrown) {
      setRefusal(thrown);
      // Shows newer files, which may be the cause.
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
          <button type="button" class="button filled" disabled={!isChanged || isSaving || newer !== undefined} onClick={() => void saveAll()}>
            {isSaving ? "Saving…" : "Save"}
          </button>
        )}
      </div>
      {newer !== undefined && isChanged && !isSaving && (
        <div class="note attention row wrap" role="alert">
          <span class="grow">The code was replaced while you edited it: version {newer.version} is running.</span>
          <button type="button" class="button" onClick={() => onBase(newer, true)}>
            Load it and discard my changes
          </button>
          <button type="button" class="button" onClick={() => onBase({ ...newer, files: base.files }, false)}>
            Keep my changes
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
          onSave={() => void saveAll()}
        />
      </div>
      <p class="muted">
        {mayChange ? "Ctrl S saves: later runs use the new code. Esc, then Tab leaves the editor." : "This key is read-only."} {children}
      </p>
    </div>
  );
}
