import type { Source } from "../types.ts";

/** What every tab of a source is given. */
export interface TabProps {
  readonly source: Source;
  readonly reload: () => void;
}
