import { useEffect, useId, useRef, useState } from "preact/hooks";

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** In px. */
  readonly width?: number;
  readonly isFocused?: boolean;
}

/** `/` focuses the first one. */
export function SearchField({ label, placeholder, value, onInput, width = 240, isFocused = false }: SearchProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isFocused) field.current?.focus();
  }, []);
  return (
    <input
      ref={field}
      class="input"
      style={{ maxWidth: `${width}px` }}
      type="search"
      placeholder={placeholder}
      aria-label={label}
      value={value}
      onInput={({ currentTarget }) => onInput(currentTarget.value)}
    />
  );
}

/** Takes effect with Enter or when it is left. */
export function FilterField({ label, value, onChange, width = 160 }: Pick<SearchProps, "label" | "value" | "width"> & { onChange: (text: string) => void }) {
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  return (
    <input
      class="input"
      style={{ maxWidth: `${width}px` }}
      type="text"
      placeholder={label}
      aria-label={label}
      value={typed}
      onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      onChange={() => onChange(typed.trim())}
    />
  );
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly choices: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
  readonly isDisabled?: boolean;
}

export function Select({ label, value, choices, onChange, isDisabled = false }: SelectProps) {
  return (
    <select
      class="input"
      style={{ width: "auto", maxWidth: "100%" }}
      aria-label={label}
      disabled={isDisabled}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      {Object.entries(choices).map(([name, text]) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
}

export function AddressField({ label, value, onInput }: Pick<SearchProps, "label" | "value" | "onInput">) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} class="input" type="url" required placeholder="https://" value={value} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    </div>
  );
}
