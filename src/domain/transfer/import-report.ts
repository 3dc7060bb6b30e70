export interface ImportedWorkflow {
  readonly place: string;
  readonly name: string;
  readonly result: ImportResult;
  readonly id?: string;
  readonly slug?: string;
  readonly active?: boolean;
  /** Addresses before and after the import. */
  readonly endpoints: readonly { readonly before: string; readonly here: string }[];
  readonly todo: readonly string[];
  readonly notes: readonly string[];
}

/** `left` has nothing to deploy, `waits` lacks a requirement. */
export type ImportResult = "deployed" | "updated" | "unchanged" | "waits" | "left" | "failed";

const RESULTS: readonly ImportResult[] = ["deployed", "updated", "unchanged", "waits", "left", "failed"];
const WORDS: Readonly<Record<ImportResult, string>> = {
  deployed: "deployed",
  updated: "updated",
  unchanged: "unchanged",
  waits: "not deployed yet",
  left: "skipped",
  failed: "cannot be deployed",
};

export function resultWords({ result, active }: Pick<ImportedWorkflow, "result" | "active">): string {
  return active === false ? `${WORDS[result]}, inactive` : WORDS[result];
}

export function isComplete(workflows: readonly ImportedWorkflow[]): boolean {
  return workflows.every(({ result }) => result === "deployed" || result === "updated" || result === "unchanged");
}

export function reportLines(workflows: readonly ImportedWorkflow[]): readonly string[] {
  const lines = workflows.flatMap((workflow) => [
    `${workflow.slug ?? workflow.name}: ${resultWords(workflow)}${workflow.slug === undefined ? ` (${workflow.place})` : ""}`,
    ...workflow.endpoints.map(({ before, here }) => `  address ${before} is now ${here}`),
    ...workflow.todo.map((one) => `  to do: ${one.split("\n").slice(0, 3).join("\n    ")}`),
    ...workflow.notes.map((one) => `  note: ${one}`),
  ]);
  return [...lines, "", countLine(workflows)];
}

function countLine(workflows: readonly ImportedWorkflow[]): string {
  const counts = RESULTS.flatMap((result) => {
    const count = workflows.filter((workflow) => workflow.result === result).length;
    return count === 0 ? [] : [`${count} ${WORDS[result]}`];
  });
  return `${workflows.length} ${workflows.length === 1 ? "workflow" : "workflows"}: ${counts.join(", ")}`;
}

export function reportPage(workflows: readonly ImportedWorkflow[]): string {
  const list = (title: string, items: readonly string[]): string =>
    items.length === 0 ? "" : `<h3>${title}</h3><ul>${items.map((item) => `<li>${escaped(item)}</li>`).join("")}</ul>`;
  const sections = workflows.map(
    (workflow) =>
      `<section><h2>${escaped(workflow.name)}</h2><p class="${workflow.result}">${escaped(resultWords(workflow))}</p><p>${escaped(workflow.place)}</p>` +
      list(
        "Addresses",
        workflow.endpoints.map(({ before, here }) => `${before} → ${here}`),
      ) +
      list("To do", workflow.todo) +
      list("Notes", workflow.notes) +
      "</section>",
  );
  const style =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}section{border-top:1px solid #bbb;padding:.5rem 0}.waits,.failed,.left{font-weight:bold}li{overflow-wrap:anywhere;white-space:pre-wrap}";
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Imported workflows</title><style>${style}</style></head><body><h1>Imported workflows</h1><p>${escaped(countLine(workflows))}</p>${sections.join("")}</body></html>\n`;
}

function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
