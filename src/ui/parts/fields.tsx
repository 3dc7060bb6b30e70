import { useId } from "preact/hooks";

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** In px. */
  readonly width?: number;
}

/** `/` focuses the first one. */
export function SearchField({ label, placeholder, value, onInput, width = 240 }: SearchProps) {
  return (
    <input
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

export function FilterField({ label, value, onChange, width = 160 }: Pick<SearchProps, "label" | "value" | "width"> & { onChange: (text: string) => void }) {
  return (
    <input
      class="input"
      style={{ maxWidth: `${width}px` }}
      type="text"
      placeholder={label}
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value.trim())}
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
      style={{ width: "auto" }}
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
