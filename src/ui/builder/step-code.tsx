import { useMemo } from "preact/hooks";
import { useMayChange } from "../app-context.ts";
import { problemIn } from "../parts/editor/code-problem.ts";
import { LazyEditor } from "../parts/editor/lazy-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { useAttempt } from "../use-attempt.ts";
import { useTypedText } from "../use-typed-text.ts";
import { useDraft } from "./draft.ts";
import type { StepPartProps } from "./step-part.ts";
import { OlderText } from "../parts/editor/older-text.tsx";

export function StepCode({ path, place, folder, draft }: { readonly path: string; readonly place: string } & Pick<StepPartProps, "folder" | "draft">) {
  const mayChange = useMayChange();
  const typed = useTypedText(place, folder.files[path] ?? "");
  const { isChanged, text, resets } = typed;
  useDraft(
    draft,
    useMemo(() => (isChanged ? { ...folder.files, [path]: text } : undefined), [isChanged, text, folder.files, path]),
  );
  const { isUnderWay, error, attempt } = useAttempt();
  // The editor owns its text once created.
  const begins = useMemo(() => text, [path, resets]);
  const problem = useMemo(() => problemIn(path, error), [path, error]);
  const save = (): Promise<void> =>
    attempt(async () => {
      if (isChanged) await folder.change({ ...folder.files, [path]: text });
    });
  return (
    <div class="stack tight">
      <div class="row wrap">
        <code class="grow cut">{path}</code>
        {mayChange && isChanged && (
          <button type="button" class="button" onClick={typed.discard}>
            Discard
          </button>
        )}
        {mayChange && (
          <button type="button" class="button filled" disabled={!isChanged || isUnderWay} onClick={() => void save()}>
            {isUnderWay ? "Saving…" : "Save code"}
          </button>
        )}
      </div>
      {typed.isOlder && <OlderText />}
      {error !== undefined && <Problem error={error} />}
      <div class="panel" style={{ height: "min(320px, 42vh)", overflow: "hidden" }}>
        <LazyEditor
          key={resets}
          text={begins}
          path={path}
          isReadOnly={!mayChange}
          problem={problem}
          label={`Code of ${path}`}
          onChange={typed.type}
          onSave={() => void save()}
        />
      </div>
    </div>
  );
}
