import type { ComponentChild } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Problem } from "../problem.tsx";
import { Waiting } from "../waiting.tsx";

export type Part<Props> = (props: Props) => ComponentChild;

/** A server update may remove the file. Then the page must be reloaded. */
export function lazy<Props extends object>(load: () => Promise<Part<Props>>): Part<Props> {
  let known: Part<Props> | undefined;
  return function Lazy(props: Props) {
    const [, setLoaded] = useState(known !== undefined);
    const [error, setError] = useState<unknown>();
    useEffect(() => {
      if (known !== undefined) return;
      load().then((part) => {
        known = part;
        setLoaded(true);
      }, setError);
    }, []);
    if (error !== undefined) return <Problem error={error} onRetry={() => location.reload()} />;
    const Loaded = known;
    return Loaded === undefined ? <Waiting /> : <Loaded {...props} />;
  };
}
