import type { VersionFileChange } from "../../types.ts";

export function FileDifference({ changes }: { changes: readonly VersionFileChange[] }) {
  if (changes.length === 0) return <p class="muted">The code is the same.</p>;
  return (
    <div class="stack">
      {changes.map(({ path, kind, lines }) => (
        <section class="panel" key={path}>
          <h3 class="row" style={{ padding: "6px 8px" }}>
            <code>{path}</code> <span class="muted">{kind}</span>
          </h3>
          <div class="difference">
            {lines.map((line, index) => (
              <div key={index} class={line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""}>
                {line === "" ? " " : line}
              </div>
            ))}
          </div>
        </section>
      ))}
    </div>
  );
}
