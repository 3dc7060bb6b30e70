import { useCallback } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

/** The address is the state: a part of its query, and how to change it. `""` takes it away. */
export function useQuery(name: string): [string, (value: string) => void] {
  const search = useSearch();
  const [path, navigate] = useLocation();
  const set = useCallback(
    (value: string) => {
      const query = new URLSearchParams(location.search);
      if (value === "") query.delete(name);
      else query.set(name, value);
      navigate(query.size === 0 ? path : `${path}?${query.toString()}`, { replace: true });
    },
    [name, navigate, path],
  );
  return [new URLSearchParams(search).get(name) ?? "", set];
}

/** Goes elsewhere in the page. */
export function useGo(): (to: string) => void {
  const [, navigate] = useLocation();
  return navigate;
}
