import { useState } from "preact/hooks";

export interface Attempt {
  readonly isUnderWay: boolean;
  /** Of the newest attempt. */
  readonly error: unknown;
  /** Does nothing while another attempt is under way. `seen` takes an error that is shown elsewhere. */
  readonly attempt: (work: () => Promise<void>, seen?: (error: unknown) => boolean) => Promise<void>;
}

/** Work that a form or a button starts, whose error is shown beside it. */
export function useAttempt(): Attempt {
  const [isUnderWay, setUnderWay] = useState(false);
  const [error, setError] = useState<unknown>();
  const attempt: Attempt["attempt"] = async (work, seen = () => false) => {
    if (isUnderWay) return;
    setUnderWay(true);
    setError(undefined);
    try {
      await work();
    } catch (thrown) {
      if (!seen(thrown)) setError(thrown);
    }
    setUnderWay(false);
  };
  return { isUnderWay, error, attempt };
}
