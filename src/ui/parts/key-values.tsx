import { useState } from "preact/hooks";
import { type JsonValue, parseJson } from "../../domain/text/json.ts";
import { Dialog } from "./dialogs/dialog.tsx";
import { Empty, Problem } from "./problem.tsx";
import { tell, telling } from "./dialogs/toast.tsx";
import { SearchField } from "./fields.tsx";
import { type Column, Table } from "./table.tsx";

const COLUMNS: readonly Column[] = [{ title: "Key" }, { title: "Value" }, { title: "" }];

interface KeyValuesProps {
  readonly values: Readonly<Record<string, JsonValue>>;
  readonly notes?: Readonly<Record<string, string>>;
  readonly none: string;
  readonly isReadOnly: boolean;
  readonly set: (key: string, value: JsonValue) => Promise<void>;
  readonly remove: (key: string) => Promise<void>;
}

export function KeyValues({ values, notes = {}, none, isReadOnly, set, remove }: KeyValuesProps) {
  const [query, setQuery] = useState("");
  const [editing, setEditing] = useState<{ key: string; isNew: boolean }>();
  const entries = Object.entries(values).filter(([key]) => key.toLowerCase().includes(query.toLowerCase()));
  const clear = (key: string, before: JsonValue): Promise<void> =>
    telling(async () => {
      await remove(key);
      tell(`Deleted ${key}`, () => void set(key, before));
    });
  return (
    <div class="stack">
      <div class="row wrap">
        <SearchField label="Search keys" placeholder="Search keys" width={240} value={query} onInput={setQuery} />
        <span class="grow" />
        {!isReadOnly && (
          <button type="button" class="button" onClick={() => setEditing({ key: "", isNew: true })}>
            New key
          </button>
        )}
      </div>
      {entries.length === 0 ? (
        <Empty title={query === "" ? none : "No keys match"} />
      ) : (
        <Table columns={COLUMNS}>
          {entries.map(([key, value]) => (
            <tr key={key}>
              <td class="mono" style={{ overflowWrap: "anywhere", minWidth: "96px" }}>
                <bdi>{key}</bdi>
                {notes[key] !== undefined && <div class="muted">{notes[key]}</div>}
              </td>
              <td class="mono" style={{ width: "60%", maxWidth: "0" }}>
                <div class="cut">{JSON.stringify(value).slice(0, 300)}</div>
              </td>
              <td>
                <span class="row" style={{ justifyContent: "flex-end" }}>
                  <button type="button" class="button" aria-label={`${isReadOnly ? "Show" : "Edit"} ${key}`} onClick={() => setEditing({ key, isNew: false })}>
                    {isReadOnly ? "Show" : "Edit"}
                  </button>
                  {!isReadOnly && (
                    <button type="button" class="button" aria-label={`Delete ${key}`} onClick={() => void clear(key, value)}>
                      Delete
                    </button>
                  )}
                </span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {editing !== undefined && (
        <Editor
          given={editing}
          value={Object.hasOwn(values, editing.key) ? values[editing.key] : undefined}
          isReadOnly={isReadOnly}
          set={set}
          onClose={() => setEditing(undefined)}
        />
      )}
    </div>
  );
}

interface EditorProps {
  readonly given: { readonly key: string; readonly isNew: boolean };
  readonly value: JsonValue | undefined;
  readonly isReadOnly: boolean;
  readonly set: (key: string, value: JsonValue) => Promise<void>;
  readonly onClose: () => void;
}

function Editor({ given, value, isReadOnly, set, onClose }: EditorProps) {
  const [key, setKey] = useState(given.key);
  const [text, setText] = useState(value === undefined ? "" : JSON.stringify(value, null, 2));
  const [error, setError] = useState<unknown>();
  const parsed = parseJson(text);
  return (
    <Dialog title={given.isNew ? "New key" : given.key} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (parsed !== undefined) set(key, parsed).then(onClose, setError);
        }}
      >
        {given.isNew && (
          <div class="field">
            <label for="key-name">Key</label>
            <input id="key-name" class="input mono" required value={key} onInput={({ currentTarget }) => setKey(currentTarget.value)} />
          </div>
        )}
        <div class="field">
          <label for="key-value">Value, as JSON</label>
          <textarea
            id="key-value"
            class="input"
            style={{ minHeight: "200px" }}
            spellcheck={false}
            readOnly={isReadOnly}
            aria-invalid={parsed === undefined}
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          {parsed === undefined && text !== "" && <p class="problem">Not a JSON value: put text in quotes</p>}
        </div>
        {error !== undefined && <Problem error={error} />}
        <div class="row end">
          <button type="button" class="button" onClick={onClose}>
            Close
          </button>
          {!isReadOnly && (
            <button type="submit" class="button filled" disabled={parsed === undefined || key === ""}>
              Save
            </button>
          )}
        </div>
      </form>
    </Dialog>
  );
}
