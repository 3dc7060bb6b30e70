import { useEffect, useState } from "preact/hooks";
import type { Files } from "../../domain/workflow/edit-steps.ts";
import { useClient } from "../app-context.ts";
import { tell } from "../parts/dialogs/toast.tsx";
import type { Workflow } from "../types.ts";
import { useLoaded } from "../use-loaded.ts";

export interface Folder {
  readonly files: Files;
  readonly version: number;
  /** Changes when the files are others than those that were typed. Used as a key, resets editors. */
  readonly generation: number;
  /** Stores a new version. Throws the refusal of the server, and PD_CONFLICT when somebody else was faster. */
  readonly change: (files: Files) => Promise<void>;
  /** A change is under way, on which the next one must be based. */
  readonly isStoring: boolean;
  readonly undo: (() => Promise<void>) | undefined;
  readonly redo: (() => Promise<void>) | undefined;
}

interface Base {
  readonly version: number;
  readonly files: Files;
  readonly generation: number;
}

interface Opened {
  readonly folder: Folder | undefined;
  readonly error: unknown;
  /** Loads the version of somebody else, which is newer. What was typed here is lost. */
  readonly loadNewer: (() => void) | undefined;
}

/** The files of a workflow. Each change is a version, and undoing one is a version too. `isTyping` keeps the version that is edited. */
export function useFolder(workflow: Workflow, { isTyping, onChanged }: { isTyping: () => boolean; onChanged: () => void }): Opened {
  const client = useClient();
  const { id, version } = workflow;
  const { value, error } = useLoaded(`files ${id} ${version}`, () => client.workflows.files(id));
  const [base, setBase] = useState<Base>();
  const [past, setPast] = useState<readonly Files[]>([]);
  const [future, setFuture] = useState<readonly Files[]>([]);
  const [isStoring, setStoring] = useState(false);
  const newer = value !== undefined && (base === undefined || value.version > base.version) ? value : undefined;
  const load = ({ version: loaded, files }: Pick<Base, "version" | "files">): void => {
    setBase({ version: loaded, files, generation: (base?.generation ?? 0) + 1 });
    setPast([]);
    setFuture([]);
  };
  useEffect(() => {
    if (newer !== undefined && (base === undefined || !isTyping())) load(newer);
  }, [newer]);
  if (base === undefined) return { folder: undefined, error, loadNewer: undefined };
  const store = async (files: Files, isTyped: boolean): Promise<void> => {
    setStoring(true);
    try {
      const after = await client.workflows.update(id, { files: { ...files }, if_version: base.version });
      tell(`Saved: version ${after.version} is running`);
      setBase({ version: after.version, files, generation: base.generation + (isTyped ? 0 : 1) });
    } finally {
      setStoring(false);
      // After a refusal too: newer files may be the cause.
      onChanged();
    }
  };
  /** Stores the last of `from`, and remembers the present one in `to`. */
  const step = (from: readonly Files[], setFrom: typeof setPast, setTo: typeof setPast): (() => Promise<void>) | undefined => {
    const files = from.at(-1);
    if (files === undefined) return undefined;
    return async () => {
      await store(files, false);
      setFrom(from.slice(0, -1));
      setTo((known) => [...known, base.files]);
    };
  };
  return {
    error,
    loadNewer: newer === undefined ? undefined : () => load(newer),
    folder: {
      files: base.files,
      version: base.version,
      generation: base.generation,
      isStoring,
      async change(files) {
        await store(files, true);
        setPast((known) => [...known, base.files]);
        setFuture([]);
      },
      undo: step(past, setPast, setFuture),
      redo: step(future, setFuture, setPast),
    },
  };
}
