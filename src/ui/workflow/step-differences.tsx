import { type StepDifference, differenceLines } from "../../client/run-difference.ts";

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
