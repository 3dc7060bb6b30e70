import { useId } from "preact/hooks";

interface SearchProps {
  readonly label: string;
  readonly placeholder: string;
  readonly value: string;
  readonly onInput: (text: string) => void;
  /** Widest, in px. */
  readonly width?: number;
}

/** Looks for something as one types; the key `/` leads to the first of a page. */
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

/** A short text that counts once it is typed to its end. */
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
  /** Value → what is shown, in their order. */
  readonly choices: Readonly<Record<string, string>>;
  readonly onChange: (value: string) => void;
  readonly isDisabled?: boolean;
}

/** One of a few. */
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

/** An address that something is fetched from or sent to. */
export function AddressField({ label, value, onInput }: Pick<SearchProps, "label" | "value" | "onInput">) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input id={id} class="input" type="url" required placeholder="https://" value={value} onInput={({ currentTarget }) => onInput(currentTarget.value)} />
    </div>
  );
}
