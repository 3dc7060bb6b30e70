export interface Column {
  readonly title: string;
  /** Digits stand under each other at the right. */
  readonly isNumber?: boolean;
  /** Left out where there is little room; its cells say so too. */
  readonly isExtra?: boolean;
}

/** Rows under the titles of their columns. */
export function Table({ columns, children }: { columns: readonly Column[]; children: preact.ComponentChildren }) {
  return (
    <div class="panel scrolls">
      <table class="table">
        <thead>
          <tr>
            {columns.map(({ title, isNumber = false, isExtra = false }) => (
              <th key={title} scope="col" class={`${isNumber ? "number" : ""} ${isExtra ? "hide-narrow" : ""}`}>
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
