import { useCallback } from "preact/hooks";
import { useLocation, useSearch } from "wouter-preact";

/** `""` removes the parameter. */
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

export function useGo(): (to: string) => void {
  const [, navigate] = useLocation();
  return navigate;
}
