import { Graph, layout } from "@dagrejs/dagre";
import type { WorkflowStep } from "../types.ts";

export const NODE_WIDTH = 216;
export const NODE_HEIGHT = 60;
const BETWEEN = 28;
const BELOW = 36;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface PlacedNode extends Point {
  readonly step: WorkflowStep;
}

interface PlacedEdge {
  readonly points: readonly Point[];
  /** Middle of the label. */
  readonly at: Point;
  /** Name of a branch. Empty between steps of one list. */
  readonly label: string;
}

export interface Layout {
  readonly width: number;
  readonly height: number;
  /** In the order of the file. `x` and `y` are of the upper left corner. */
  readonly nodes: readonly PlacedNode[];
  readonly edges: readonly PlacedEdge[];
}

interface Exit {
  readonly from: string;
  readonly label: string;
}

/** Steps from top to bottom, branches beside each other. */
export function layoutOf(steps: readonly WorkflowStep[]): Layout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: BETWEEN, ranksep: BELOW, marginx: 4, marginy: 4 });
  const placed: WorkflowStep[] = [];
  const edges: { readonly from: string; readonly to: string; readonly label: string }[] = [];
  const connect = (exits: readonly Exit[], to: string): void => {
    for (const { from, label } of exits) edges.push({ from, to, label });
  };
  const place = (list: readonly WorkflowStep[], entries: readonly Exit[]): readonly Exit[] => {
    let exits = entries;
    for (const step of list) {
      placed.push(step);
      graph.setNode(step.namespace, { width: NODE_WIDTH, height: NODE_HEIGHT });
      connect(exits, step.namespace);
      exits = exitsOf(step);
    }
    return exits;
  };
  const exitsOf = (step: WorkflowStep): readonly Exit[] => {
    const { namespace, kind, branches = [] } = step;
    const filled = branches.filter((branch) => branch.steps.length > 0);
    const inside = filled.flatMap(({ name, steps: own }) => place(own, [{ from: namespace, label: name === "[]" ? "each item" : name }]));
    // A branch may be skipped, and a list may be empty.
    const maySkip =
      filled.length === 0 ||
      kind === "for_each" ||
      (kind === "if" && filled.length < 2) ||
      (kind === "switch" && !filled.some(({ name }) => name === "default"));
    return maySkip ? [...inside, { from: namespace, label: filled.length === 0 ? "" : "otherwise" }] : inside;
  };
  place(steps, []);
  edges.forEach(({ from, to, label }, index) =>
    graph.setEdge(from, to, { label, labelpos: "c", width: label.length * 7 + 8, height: label === "" ? 0 : 16 }, String(index)),
  );
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    width,
    height,
    nodes: placed.map((step) => {
      const { x, y } = graph.node(step.namespace);
      return { step, x: x - NODE_WIDTH / 2, y: y - NODE_HEIGHT / 2 };
    }),
    edges: edges.map(({ from, to, label }, index) => {
      const { points, x = 0, y = 0 } = graph.edge(from, to, String(index));
      return { label, points, at: { x, y } };
    }),
  };
}
