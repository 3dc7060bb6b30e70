import { useEffect, useState } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { type EditedFiles, FilesEditor } from "../parts/editor/files-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";
import type { WorkflowTabProps } from "./tab-props.ts";

interface Base extends EditedFiles {
  /** A new key recreates the editor. */
  readonly key: string;
}

export function FilesTab({ workflow, reload }: WorkflowTabProps) {
  const client = useClient();
  const { id, version } = workflow;
  const { value, error } = useLoaded(`files ${id} ${version}`, () => client.workflows.files(id));
  const [base, setBase] = useState<Base>();
  const loaded: Base | undefined =
    value === undefined ? undefined : { key: String(value.version), version: value.version, entry: "workflow.yaml", files: value.files };
  useEffect(() => {
    if (base === undefined && loaded !== undefined) setBase(loaded);
  }, [base, loaded]);
  if (error !== undefined && base === undefined) return <Problem error={error} />;
  if (base === undefined) return <Waiting />;
  const save = async (files: Base["files"]): Promise<Base> => {
    const after = await client.workflows.update(id, { files: { ...files }, if_version: base.version });
    tell(`Saved: version ${after.version} is running`, () => void client.workflows.rollback(id, {}).then(reload));
    return { ...base, version: after.version, files };
  };
  return (
    <FilesEditor
      key={base.key}
      owner={id}
      base={base}
      newer={loaded !== undefined && loaded.version > base.version ? loaded : undefined}
      save={save}
      onBase={(next, isLoaded) => setBase(isLoaded ? next : { ...next, key: base.key })}
      onSaved={reload}
    >
      Version {version}. Running and waiting runs stay on the version that they started with.
    </FilesEditor>
  );
}
