export interface Column {
  readonly title: string;
  /** Digits stand under each other at the right. */
  readonly isNumber?: boolean;
  /** Below which width it is left out; its cells say so too. */
  readonly hide?: "narrow" | "medium";
}

/** Rows under the titles of their columns. */
export function Table({ columns, children }: { columns: readonly Column[]; children: preact.ComponentChildren }) {
  return (
    <div class="panel scrolls">
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ title, isNumber = false, hide }) => (
              <th key={title} scope="col" class={`${isNumber ? "number" : ""} ${hide === undefined ? "" : `hide-${hide}`}`}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
