import { useState } from "preact/hooks";
import { parseJson, textAsJson } from "../../domain/text/json.ts";
import type { FieldProps } from "./field-props.ts";

export function TextField({ id, prop, value, set, isDisabled, describedBy, isWrong, isKept }: FieldProps) {
  const isSecret = prop.secret === true;
  return (
    <span class="row">
      <input
        id={id}
        class="input"
        type={isSecret ? "password" : "text"}
        autocomplete="off"
        spellcheck={false}
        disabled={isDisabled}
        aria-invalid={isWrong}
        aria-describedby={describedBy}
        placeholder={isKept ? (value === null ? "removed when you save" : "set; type to replace it") : prop.default === undefined ? "" : String(prop.default)}
        value={typeof value === "string" ? value : ""}
        onInput={({ currentTarget }) => set(currentTarget.value === "" ? undefined : currentTarget.value)}
      />
      {isKept && prop.optional === true && value !== null && !isDisabled && (
        <button type="button" class="button" onClick={() => set(null)}>
          Remove
        </button>
      )}
    </span>
  );
}

export function NumberField({ id, prop, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
  return (
    <input
      id={id}
      class="input"
      type="number"
      step={prop.type === "integer" ? 1 : "any"}
      min={prop.min}
      max={prop.max}
      disabled={isDisabled}
      aria-invalid={isWrong}
      aria-describedby={describedBy}
      placeholder={prop.default === undefined ? "" : String(prop.default)}
      value={typeof value === "number" ? value : ""}
      onInput={({ currentTarget }) => set(currentTarget.value === "" ? undefined : Number(currentTarget.value))}
    />
  );
}

export function BooleanField({ id, prop, value, set, isDisabled, describedBy }: FieldProps) {
  const isOn = typeof value === "boolean" ? value : prop.default === true;
  return (
    <span class="checks">
      <input
        id={id}
        type="checkbox"
        disabled={isDisabled}
        aria-describedby={describedBy}
        checked={isOn}
        onChange={({ currentTarget }) => set(currentTarget.checked)}
      />
      <span class="muted">{isOn ? "yes" : "no"}</span>
    </span>
  );
}

export function ListField({ id, prop, value, set, isDisabled, describedBy, isWrong }: FieldProps) {
  const lines = Array.isArray(value) ? value.map((entry) => (typeof entry === "string" ? entry : JSON.stringify(entry))) : [];
  const isNumbers = prop.type.startsWith("integer");
  const [text, setText] = useState(lines.join("\n"));
  return (
    <textarea
      id={id}
      class="input"
      spellcheck={false}
      disabled={isDisabled}
      aria-invalid={isWrong}
      aria-describedby={describedBy}
      placeholder="One entry per line"
      value={text}
      onInput={({ currentTarget }) => {
        setText(currentTarget.value);
        const entries = currentTarget.value.split("\n").filter((line) => line !== "");
        set(entries.length === 0 ? undefined : isNumbers ? entries.map(Number) : entries);
      }}
    />
  );
}

/** Text that is not JSON becomes a string. */
export function JsonField({ id, value, set, isDisabled, describedBy, isWrong, isKept }: FieldProps) {
  const [text, setText] = useState(value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2));
  const isJson = text.trim() === "" || parseJson(text) !== undefined;
  return (
    <>
      <textarea
        id={id}
        class="input"
        spellcheck={false}
        disabled={isDisabled}
        aria-invalid={isWrong || !isJson}
        aria-describedby={describedBy}
        placeholder={isKept ? "set; JSON replaces it" : "JSON"}
        value={text}
        onInput={({ currentTarget }) => {
          setText(currentTarget.value);
          set(currentTarget.value.trim() === "" ? undefined : textAsJson(currentTarget.value));
        }}
      />
      {!isJson && <p class="muted">Not JSON: used as text</p>}
    </>
  );
}
