import { useState } from "preact/hooks";

interface InsertReferenceProps {
  /** Of the field. */
  readonly name: string;
  readonly references: readonly string[];
  readonly onInsert: (reference: string) => void;
  /** Further buttons. */
  readonly children?: preact.ComponentChildren;
}

/** What earlier steps left, as expressions to choose from. */
export function InsertReference({ name, references, onInsert, children }: InsertReferenceProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="stack tight">
      <div class="row">
        <button type="button" class="button plain" aria-expanded={isOpen} aria-label={`Insert into ${name}`} onClick={() => setOpen(!isOpen)}>
          Insert from an earlier step <span aria-hidden="true">▾</span>
        </button>
        {children}
      </div>
      {isOpen && (
        <ul class="panel inserted" aria-label={`What ${name} can take`}>
          {references.map((reference) => (
            <li key={reference}>
              <button
                type="button"
                class="button plain mono"
                onClick={() => {
                  onInsert(reference);
                  setOpen(false);
                }}
              >
                {reference}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
