import type { CodeParams, DescribedRecord } from "../../../api/components.ts";
import { useClient } from "../../app-context.ts";
import { useLoaded } from "../../use-loaded.ts";
import { Description } from "./description.tsx";
import { Letter } from "./letter.tsx";
import { Problem } from "../problem.tsx";
import { Waiting } from "../waiting.tsx";

interface DescribedProps {
  readonly code: CodeParams;
  /** Text of a button that leads back. */
  readonly back?: string;
  readonly onBack?: () => void;
  readonly children: (described: DescribedRecord) => preact.ComponentChildren;
}

export function Described({ code, back, onBack, children }: DescribedProps) {
  const client = useClient();
  const { value, error, reload } = useLoaded(JSON.stringify(code), () => client.components.describe(code));
  return (
    <>
      {back !== undefined && (
        <div>
          <button type="button" class="button" onClick={onBack}>
            ← {back}
          </button>
        </div>
      )}
      {error !== undefined && <Problem error={error} onRetry={reload} />}
      {value === undefined && error === undefined && <Waiting />}
      {value !== undefined && children(value)}
    </>
  );
}

export function DescribedHead({ described: { name, version, description } }: { described: DescribedRecord }) {
  return (
    <div class="stack tight">
      <div class="row">
        <Letter of={name} />
        <h1>
          <bdi>{name}</bdi>
        </h1>
        <span class="muted">{version}</span>
      </div>
      {description !== undefined && <Description text={description} />}
    </div>
  );
}
