import { useEffect, useMemo, useState } from "preact/hooks";
import { useMayChange } from "../../app-context.ts";
import { useAttempt } from "../../use-attempt.ts";
import { Problem } from "../problem.tsx";
import { problemIn } from "./code-problem.ts";
import { LazyEditor } from "./lazy-editor.tsx";
import { NewFile } from "./new-file.tsx";
import { OlderText } from "./older-text.tsx";
import { type Files, useEdited } from "./use-edited.ts";

export interface EditedFiles {
  readonly version: number;
  readonly entry: string;
  readonly files: Files;
}

interface FilesEditorProps<Base extends EditedFiles> {
  /** Id of the source or workflow. */
  readonly owner: string;
  readonly base: Base;
  /** Newer files, deployed by someone else. */
  readonly newer: Base | undefined;
  readonly save: (files: Files) => Promise<Base>;
  /** `isLoaded` discards unsaved changes. */
  readonly onBase: (base: Base, isLoaded: boolean) => void;
  readonly onSaved: () => void;
  readonly children?: preact.ComponentChildren;
}

/** What is not saved survives a reload of the page. */
export function FilesEditor<Base extends EditedFiles>({ owner, base, newer, save, onBase, onSaved, children }: FilesEditorProps<Base>) {
  const mayChange = useMayChange();
  const [path, setPath] = useState(base.entry);
  const { setEdited, files, isChanged, isOlder, discard, resets } = useEdited(owner, base);
  const { isUnderWay: isSaving, error: refusal, attempt } = useAttempt();
  useEffect(() => {
    if (newer !== undefined && !isChanged && !isSaving) onBase(newer, true);
  }, [newer, isChanged, isSaving]);
  // The editor owns its text while it shows a file.
  const begins = useMemo(() => files[path] ?? "", [path, resets]);
  const problem = useMemo(() => problemIn(path, refusal), [path, refusal]);
  const edit = (name: string, text: string | null): void => setEdited((before) => ({ ...before, [name]: text }));
  const saveAll = async (): Promise<void> => {
    if (!mayChange || newer !== undefined) return;
    await attempt(async () => {
      // Must precede `onSaved`, because reloaded data is briefly older.
      onBase(await save(files), false);
      // What was typed meanwhile is unsaved.
      setEdited((before) => Object.fromEntries(Object.entries(before).filter(([name, text]) => (files[name] ?? null) !== text)));
    });
    // After a refusal too: newer files may be the cause.
    onSaved();
  };
  return (
    <div class="stack tight">
      <FileButtons
        path={path}
        base={base}
        files={files}
        isChanged={isChanged}
        isSaving={isSaving}
        mayNotSave={isSaving || newer !== undefined}
        onPath={setPath}
        onEdit={edit}
        onDiscard={discard}
        onSave={() => void saveAll()}
      />
      {newer !== undefined && isChanged && !isSaving && (
        <div class="note attention row wrap" role="alert">
          <span class="grow">The code was replaced while you edited it: version {newer.version} is running.</span>
          <button type="button" class="button" onClick={() => (discard(), onBase(newer, true))}>
            Load it and discard my changes
          </button>
          <button type="button" class="button" onClick={() => onBase({ ...newer, files: base.files }, false)}>
            Keep my changes
          </button>
        </div>
      )}
      {isOlder && <OlderText />}
      {refusal !== undefined && isChanged && <Problem error={refusal} />}
      <div class="panel" style={{ height: "calc(100vh - 300px)", minHeight: "280px", overflow: "hidden" }}>
        <LazyEditor
          key={`${path} ${resets}`}
          text={begins}
          path={path}
          isReadOnly={!mayChange}
          problem={problem}
          label={`Code of ${path}`}
          onChange={(text) => edit(path, text)}
          onSave={() => void saveAll()}
        />
      </div>
      <p class="muted">
        {mayChange ? "Ctrl S saves: later runs use the new code. Esc, then Tab leaves the editor." : "This key is read-only."} {children}
      </p>
    </div>
  );
}

interface FileButtonsProps {
  readonly path: string;
  readonly base: EditedFiles;
  readonly files: Files;
  readonly isChanged: boolean;
  readonly isSaving: boolean;
  readonly mayNotSave: boolean;
  readonly onPath: (path: string) => void;
  readonly onEdit: (path: string, text: string | null) => void;
  readonly onDiscard: () => void;
  readonly onSave: () => void;
}

function FileButtons({ path, base, files, isChanged, isSaving, mayNotSave, onPath, onEdit, onDiscard, onSave }: FileButtonsProps) {
  const mayChange = useMayChange();
  const [isNaming, setNaming] = useState(false);
  const deleted = Object.keys(base.files).filter((name) => files[name] === undefined);
  const remove = (): void => {
    onEdit(path, null);
    onPath(base.entry);
  };
  const discard = (): void => {
    onDiscard();
    if (base.files[path] === undefined) onPath(base.entry);
  };
  return (
    <>
      <div class="row wrap">
        {Object.keys(files).map((name) => (
          <button key={name} type="button" class={`button ${name === path ? "" : "plain"} mono`} aria-pressed={name === path} onClick={() => onPath(name)}>
            {name}
            {base.files[name] === files[name] ? "" : " ●"}
          </button>
        ))}
        <span class="grow" />
        {mayChange && (
          <>
            <button type="button" class="button" onClick={() => setNaming(true)}>
              New file…
            </button>
            {path !== base.entry && (
              <button type="button" class="button" onClick={remove}>
                Delete file
              </button>
            )}
            {isChanged && (
              <button type="button" class="button" onClick={discard}>
                Discard changes
              </button>
            )}
            <button type="button" class="button filled" disabled={!isChanged || mayNotSave} onClick={onSave}>
              {isSaving ? "Saving…" : "Save"}
            </button>
          </>
        )}
      </div>
      {deleted.length > 0 && (
        <p class="muted" role="status">
          Deleted when you save: {deleted.join(", ")}
        </p>
      )}
      {isNaming && (
        <NewFile
          taken={files}
          onClose={() => setNaming(false)}
          onName={(name) => {
            onEdit(name, "");
            onPath(name);
            setNaming(false);
          }}
        />
      )}
    </>
  );
}
