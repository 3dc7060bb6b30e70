import { useRef, useState } from "preact/hooks";
import type { Files } from "../../domain/workflow/edit-steps.ts";
import { useClient } from "../app-context.ts";
import type { Workflow } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

export interface Folder {
  readonly files: Files;
  /** Stores a new version. Throws the refusal of the server, and PD_CONFLICT when somebody else was faster. */
  readonly change: (files: Files) => Promise<void>;
  readonly undo: (() => Promise<void>) | undefined;
  readonly redo: (() => Promise<void>) | undefined;
}

/** The files of a workflow. Each change is a version, and undoing one is a version too. */
export function useFolder(workflow: Workflow, onChanged: () => void): { folder: Folder | undefined; error: unknown } {
  const client = useClient();
  const { id, version } = workflow;
  const { value, error } = useLoaded(`files ${id} ${version}`, () => client.workflows.files(id));
  // What this page stored may be newer than what it has read again.
  const [own, setOwn] = useState<{ readonly version: number; readonly files: Files }>();
  const [past, setPast] = useState<readonly Files[]>([]);
  const [future, setFuture] = useState<readonly Files[]>([]);
  const isNewer = own !== undefined && (value === undefined || own.version >= value.version);
  const current = isNewer ? own : value;
  const latest = useRef(current);
  latest.current = current;
  if (current === undefined) return { folder: undefined, error };
  const store = async (files: Files): Promise<Files> => {
    const before = latest.current ?? current;
    try {
      const after = await client.workflows.update(id, { files: { ...files }, if_version: before.version });
      setOwn({ version: after.version, files });
      return before.files;
    } finally {
      // After a refusal too: newer files may be the cause.
      onChanged();
    }
  };
  const [last, ...older] = past.toReversed();
  const [next, ...later] = future.toReversed();
  return {
    error,
    folder: {
      files: current.files,
      async change(files) {
        const before = await store(files);
        setPast((known) => [...known, before]);
        setFuture([]);
      },
      undo:
        last === undefined
          ? undefined
          : async () => {
              const before = await store(last);
              setPast(older.toReversed());
              setFuture((known) => [...known, before]);
            },
      redo:
        next === undefined
          ? undefined
          : async () => {
              const before = await store(next);
              setFuture(later.toReversed());
              setPast((known) => [...known, before]);
            },
    },
  };
}
