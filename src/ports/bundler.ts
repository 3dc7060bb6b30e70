import type { BuildProblem } from "../domain/build-problem.ts";
import type { Bundle, ComponentCode } from "../domain/saved-component.ts";

/** `hash`: SHA-256, hex, of the code; for a single file of its text alone, so that anyone can check it. */
export type BuildResult =
  /** `warnings`: what will fail when it is reached. */
  | { readonly kind: "built"; readonly bundle: Bundle; readonly hash: string; readonly warnings?: readonly string[] }
  | { readonly kind: "failed"; readonly problems: readonly BuildProblem[] };

export interface BundleOptions {
  /** It is run as a step or an action: a file that exports nothing is a step of before `defineComponent`. */
  readonly isStep?: boolean | undefined;
}

/** Makes one module of a component's code; packages stay outside. */
export interface Bundler {
  /** Never rejects for what the code contains: that is a `failed` result with every problem. */
  bundle(code: ComponentCode, options?: BundleOptions): Promise<BuildResult>;
  /** The hash that code has or would have once it is built. */
  hashOf(code: ComponentCode): string;
}
