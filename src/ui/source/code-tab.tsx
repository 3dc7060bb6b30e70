import { useEffect, useState } from "preact/hooks";
import { useClient } from "../app-context.ts";
import { type EditedFiles, FilesEditor } from "../parts/editor/files-editor.tsx";
import { Problem } from "../parts/problem.tsx";
import { tell } from "../parts/dialogs/toast.tsx";
import { Waiting } from "../parts/waiting.tsx";
import { useLoaded } from "../use-loaded.ts";
import type { TabProps } from "./tab-props.ts";

interface Base extends EditedFiles {
  /** A new key recreates the editor. */
  readonly key: string;
  readonly componentId: string;
}

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
  const save = async (files: Base["files"]): Promise<Base> => {
    const { [base.entry]: entry = "", ...others } = files;
    const after = await client.sources.update(source.id, {
      component_code: entry,
      component_path: base.entry,
      component_files: others,
      if_version: base.version,
    });
    tell(`Saved: version ${after.version} is running`, () => void client.sources.rollback(source.id, {}).then(reload));
    return { ...base, componentId: after.component_id, version: after.version, files };
  };
  return (
    <FilesEditor
      key={base.key}
      owner={source.id}
      base={base}
      newer={loaded !== undefined && loaded.version > base.version && loaded.componentId !== base.componentId ? loaded : undefined}
      save={save}
      // Otherwise the editor keeps its unsaved text.
      onBase={(next, isLoaded) => setBase(isLoaded ? next : { ...next, key: base.key })}
      onSaved={reload}
    >
      Version {source.version}, component version {source.component_version}.
    </FilesEditor>
  );
}
