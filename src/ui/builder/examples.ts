import { type Files, WORKFLOW_FILE } from "../../domain/workflow/edit-steps.ts";

interface WorkflowExample {
  readonly title: string;
  readonly about: string;
  readonly files: (name: string) => Files;
}

const head = (name: string): string => `schema: workflow/2022.04
name: ${JSON.stringify(name)}
triggers:
- http: {}
`;

/** Code of a new step. */
export const STEP_CODE = `export default defineComponent({
  async run({ steps, $ }) {
    // The event: steps.trigger.event. Results of earlier steps: steps.<name>.$return_value
    return steps.trigger.event.body;
  },
});
`;

/** Code of the first step in a loop. */
export function loopCode(loop: string): string {
  return `export default defineComponent({
  async run({ steps, $ }) {
    // The item and its place in the list: steps.${loop}.item, steps.${loop}.index
    return steps.${loop}.item;
  },
});
`;
}

export const WORKFLOW_EXAMPLES: readonly WorkflowExample[] = [
  {
    title: "Empty",
    about: "An HTTP trigger and one step with code.",
    files: (name) => ({
      [WORKFLOW_FILE]: `${head(name)}steps:\n- namespace: code\n  uses: ./code/entry.mjs\n`,
      "code/entry.mjs": STEP_CODE,
    }),
  },
  {
    title: "Branch and loop",
    about: "Takes an order by HTTP, warns of large ones, and handles each line.",
    files: (name) => ({
      [WORKFLOW_FILE]: `${head(name)}steps:
- namespace: order
  uses: ./order/entry.mjs
- namespace: large
  if: "{{steps.order.$return_value.total > 100}}"
  then:
  - namespace: warn
    uses: ./warn/entry.mjs
- namespace: each
  for_each: "{{steps.order.$return_value.lines}}"
  steps:
  - namespace: line
    uses: ./line/entry.mjs
`,
      "order/entry.mjs": `export default defineComponent({
  async run({ steps }) {
    const { lines = [] } = steps.trigger.event.body ?? {};
    return { lines, total: lines.reduce((sum, { price = 0 }) => sum + price, 0) };
  },
});
`,
      "warn/entry.mjs": `export default defineComponent({
  async run({ steps }) {
    console.log("A large order:", steps.order.$return_value.total);
    return "warned";
  },
});
`,
      "line/entry.mjs": `export default defineComponent({
  async run({ steps }) {
    return \`\${steps.each.index + 1}: \${steps.each.item.sku}\`;
  },
});
`,
    }),
  },
];
