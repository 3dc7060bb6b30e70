import type { BuildProblem } from "../domain/component/build-problem.ts";
import type { Bundle, ComponentCode } from "../domain/component/saved-component.ts";

/** `hash` is the code's SHA-256 in hex. For a single file it covers only the text, so that anyone can verify it. */
export type BuildResult =
  /** `warnings` are about code that fails when it is reached. */
  | { readonly kind: "built"; readonly bundle: Bundle; readonly hash: string; readonly warnings?: readonly string[] }
  | { readonly kind: "failed"; readonly problems: readonly BuildProblem[] };

export interface BundleOptions {
  /** The code is a step or an action. Without exports, it is a step from before `defineComponent`. */
  readonly isStep?: boolean | undefined;
}

export interface Bundler {
  /** Does not reject for invalid code, but returns all its problems. */
  bundle(code: ComponentCode, options?: BundleOptions): Promise<BuildResult>;
  /** Returns the same hash as `bundle`, without building. */
  hashOf(code: ComponentCode): string;
}
