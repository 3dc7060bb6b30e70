import { useEffect } from "preact/hooks";

/** Of the browser's tab: the most special part first. */
export function useTitle(...parts: readonly (string | undefined)[]): void {
  const title = [...parts.filter((part) => part !== undefined && part !== ""), "Headwater"].join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
}
