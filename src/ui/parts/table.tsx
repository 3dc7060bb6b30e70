export interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** Hidden below this width. Its cells need the same class. */
  readonly hide?: "narrow" | "medium";
}

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
