import { type JsonValue, isJsonObject } from "../text/json.ts";

/**
 * The hosted platform's built-in Filter, exported as rules in the prop `_filter`, without code. The format is taken
 * from public exports: `{ t: and | or, r: [...] }` or `{ a, op, b }`. `continue: 'false'` is taken to end the run when
 * the rules match. Other values end it when they do not match.
 */
export const FILTER_PROP = "_filter";

const OPERATORS: ReadonlySet<string> = new Set(["exist", "!exist"]);

export function filterProblem(given: JsonValue | undefined): string | undefined {
  if (!isJsonObject(given) || given["rules"] === undefined) return `${FILTER_PROP} has no rules`;
  return ruleProblem(given["rules"]);
}

function ruleProblem(rule: JsonValue): string | undefined {
  if (!isJsonObject(rule)) return `a rule of ${FILTER_PROP} is ${JSON.stringify(rule)}; expected t and r, or a and op`;
  const { t, r, op } = rule;
  if (Array.isArray(r)) {
    if (t !== "and" && t !== "or") return `rules of ${FILTER_PROP} are joined by ${JSON.stringify(t ?? null)}; only and and or are supported`;
    return r.map(ruleProblem).find((problem) => problem !== undefined);
  }
  if (typeof op === "string" && OPERATORS.has(op)) return undefined;
  return `the operator ${JSON.stringify(op ?? null)} of ${FILTER_PROP} is not supported (only ${[...OPERATORS].join(", ")}): write the step as if: "{{…}}" with then:, or as code that calls $.flow.exit`;
}

export const FILTER_CODE = `export default defineComponent({
  name: "Filter",
  props: { ${FILTER_PROP}: { type: "any" } },
  async run({ $ }) {
    const isThere = (value) => value !== undefined && value !== null;
    const matches = ({ t, r, a, op }) => {
      if (Array.isArray(r)) return t === "and" ? r.every(matches) : r.some(matches);
      return op === "exist" ? isThere(a) : !isThere(a);
    };
    const { continue: goesOn, rules } = this.${FILTER_PROP};
    const isMatch = matches(rules);
    if (isMatch === (String(goesOn) === "false")) return $.flow.exit(isMatch ? "the rules of the filter match" : "the rules of the filter do not match");
    return isMatch;
  },
});
`;
