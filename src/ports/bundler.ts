import type { BuildProblem } from "../domain/component/build-problem.ts";
import type { Bundle, ComponentCode } from "../domain/component/saved-component.ts";

/** `hash` is SHA-256 in hex. For a single file it covers only the text, so that anyone can verify it. */
export type BuildResult =
  /** `warnings` are about code that fails when it is reached. */
  | { readonly kind: "built"; readonly bundle: Bundle; readonly hash: string; readonly warnings?: readonly string[] }
  | { readonly kind: "failed"; readonly problems: readonly BuildProblem[] };

export interface BundleOptions {
  /** A step or an action. Without exports, a step from before `defineComponent`. */
  readonly isStep?: boolean | undefined;
}

export interface Bundler {
  /** Returns all problems of invalid code. */
  bundle(code: ComponentCode, options?: BundleOptions): Promise<BuildResult>;
  /** The hash of `bundle`, without building. */
  hashOf(code: ComponentCode): string;
}
