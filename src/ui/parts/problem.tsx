import { Link } from "wouter-preact";
import { PdError, messageOf } from "../../domain/errors.ts";
import { pageFix } from "./page-fix.ts";
import { CopyButton } from "./copy-button.tsx";

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = error instanceof PdError ? error : undefined;
  const report = [
    messageOf(error),
    known === undefined ? "" : `code: ${known.code}`,
    known?.details === undefined ? "" : JSON.stringify(known.details, null, 2),
  ];
  const [first = "", ...rest] = messageOf(error).trimEnd().split("\n");
  const fix = known === undefined ? undefined : pageFix(known);
  return (
    <div class="note bad" role="alert">
      <strong class="cut-never">{first}</strong>
      {rest.length > 0 && <pre class="problem-lines">{rest.join("\n")}</pre>}
      {fix !== undefined && <p>{fix}</p>}
      <p class="row wrap">
        {known !== undefined && <code>{known.code}</code>}
        <CopyButton text={report.filter((part) => part !== "").join("\n")} label="Copy for a report" />
        {onRetry !== undefined && (
          <button type="button" class="button" onClick={onRetry}>
            Retry
          </button>
        )}
      </p>
    </div>
  );
}

/** Of a thing that was deleted, or never was. */
export function Missing({ error, what, list, onRetry }: { error: unknown; what: string; list: string; onRetry: () => void }) {
  if (!(error instanceof PdError && error.status === 404)) return <Problem error={error} onRetry={onRetry} />;
  return (
    <Empty title={`There is no such ${what}`}>
      <p>It was deleted, or the link is of another server.</p>
      <Link class="button" href={`/${list}`}>
        All {list}
      </Link>
    </Empty>
  );
}

export function Empty({ title, children }: { title: string; children?: preact.ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
