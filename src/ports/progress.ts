/** Packages, hook or key. */
export interface Step {
  readonly step: "fetching" | "bundling" | "installing" | "loading" | "hook";
  readonly subject?: string;
}

/** Called when a step starts. */
export type Progress = (step: Step) => void;

export interface Tracked {
  readonly progress?: Progress | undefined;
}
