import { type StepDifference, differenceLines } from "../../client/run-difference.ts";

/** Steps of a run beside those of another: signs and tints say which came out differently. */
export function StepDifferences({ differences }: { differences: readonly StepDifference[] }) {
  return (
    <div class="difference">
      {differences.flatMap((difference) =>
        differenceLines(difference).map((line) => (
          <div key={`${difference.path} ${line}`} class={line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : ""}>
            {line}
          </div>
        )),
      )}
    </div>
  );
}
