import type { Source } from "../types.ts";

export interface TabProps {
  readonly source: Source;
  readonly reload: () => void;
}
