import { PdError, messageOf } from "../../domain/errors.ts";
import { CopyButton } from "./copy-button.tsx";

export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const known = error instanceof PdError ? error : undefined;
  const report = [
    messageOf(error),
    known === undefined ? "" : `code: ${known.code}`,
    known?.details === undefined ? "" : JSON.stringify(known.details, null, 2),
  ];
  return (
    <div class="note bad" role="alert">
      <strong class="cut-never">{messageOf(error)}</strong>
      {known !== undefined && <p>{known.fix}</p>}
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

export function Empty({ title, children }: { title: string; children?: preact.ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  );
}
