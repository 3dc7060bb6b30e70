/** What a caller waits for. `subject`: the packages, the hook or the key that it is about. */
export interface Step {
  readonly step: "fetching" | "bundling" | "installing" | "loading" | "hook";
  readonly subject?: string;
}

/** Is told each step as it begins. */
export type Progress = (step: Step) => void;

/** Whoever asks for something that takes its time may want to be told how far it is. */
export interface Tracked {
  readonly progress?: Progress | undefined;
}
