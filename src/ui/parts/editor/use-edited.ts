import { useEffect, useState } from "preact/hooks";
import { isJsonObject, parseJson } from "../../../domain/text/json.ts";
import { keepText, keptText } from "../../browser/kept-text.ts";
import { useUnsaved } from "../../browser/unsaved.ts";

export type Files = Readonly<Record<string, string>>;

/** Path → text, or null when it is deleted. */
export type Edited = Readonly<Record<string, string | null>>;

interface Editing {
  readonly edited: Edited;
  readonly setEdited: (change: (before: Edited) => Edited) => void;
  readonly files: Files;
  readonly isChanged: boolean;
  /** It was typed before a reload, and another version has been stored since. */
  readonly isOlder: boolean;
  readonly discard: () => void;
  /** Used as a key, resets an editor that owns its text. */
  readonly resets: number;
}

/** What is edited and not saved survives a reload of the page. */
export function useEdited(owner: string, base: { readonly version: number; readonly files: Files }): Editing {
  const place = `files ${owner}`;
  const [kept] = useState(() => keptText(place));
  const [edited, setEdited] = useState<Edited>(() => editedIn(kept?.text));
  const [isOlder, setOlder] = useState(kept !== undefined && kept.before !== String(base.version));
  const [resets, setResets] = useState(0);
  const isChanged = differs(edited, base.files);
  useUnsaved(isChanged);
  useEffect(() => {
    const before = isOlder && kept !== undefined ? kept.before : String(base.version);
    keepText(place, isChanged ? { before, text: JSON.stringify(edited) } : undefined);
    if (!isChanged) setOlder(false);
  }, [edited, isChanged, base.version]);
  const discard = (): void => {
    // At once, because the editor may be replaced.
    keepText(place, undefined);
    setEdited({});
    setResets((before) => before + 1);
  };
  return { edited, setEdited, files: editedFiles(base.files, edited), isChanged, isOlder: isOlder && isChanged, discard, resets };
}

function differs(edited: Edited, files: Files): boolean {
  return Object.entries(edited).some(([name, text]) => (files[name] ?? null) !== text);
}

function editedIn(text = "null"): Edited {
  const parsed = parseJson(text);
  if (!isJsonObject(parsed)) return {};
  return Object.fromEntries(Object.entries(parsed).flatMap(([name, value]) => (value === null || typeof value === "string" ? [[name, value] as const] : [])));
}

function editedFiles(files: Files, edited: Edited): Files {
  return Object.fromEntries(Object.entries({ ...files, ...edited }).flatMap(([name, text]) => (text === null ? [] : [[name, text] as const])));
}
