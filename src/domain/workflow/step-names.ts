import type { FileProblem } from "../text/bounded-yaml.ts";
import { nearestTo } from "../text/did-you-mean.ts";
import { expressionsIn } from "./expressions.ts";
import type { CodeStep } from "./workflow.ts";

const READS = /\bsteps\s*(?:(?:\?\.|\.)\s*([A-Za-z_$][\w$]*)|(?:\?\.)?\[\s*["'`]([^"'`\]]+)["'`]\s*\])/g;

export function unknownSteps({ namespace, line, props, propLines }: CodeStep, names: ReadonlySet<string>): readonly FileProblem[] {
  return Object.entries(props).flatMap(([prop, value]) => {
    const read = expressionsIn(value ?? null).flatMap((expression) => [...expression.matchAll(READS)].map(([, plain, quoted]) => plain ?? quoted ?? ""));
    const unknown = [...new Set(read)].filter((name) => name !== "trigger" && !names.has(name));
    const nearest = nearestTo(unknown, names);
    return unknown.map((name, index) => ({
      line: propLines[prop] ?? line,
      problem: `prop ${prop} of ${namespace} reads steps.${name}, but no step has this name${nearest[index] ?? ""}`,
    }));
  });
}
