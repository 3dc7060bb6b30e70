import { useEffect } from "preact/hooks";

type Asker = (leave: () => void) => void;

const open = new Set<object>();
let here = location.href;
let hasAgreed = false;
let ask: Asker = (leave) => leave();

/** Back and Forward have changed the address already. It is restored until the user confirms. */
function onPop(event: PopStateEvent): void {
  const wanted = location.href;
  if (hasAgreed || !losesSomething(wanted)) {
    hasAgreed = false;
    here = wanted;
    return;
  }
  event.stopImmediatePropagation();
  history.pushState(undefined, "", here);
  ask(() => {
    hasAgreed = true;
    history.back();
  });
}

// Must be added before the router's listener.
addEventListener("popstate", onPop);

/** Another query of the same page loses nothing. */
function losesSomething(wanted: string): boolean {
  return open.size > 0 && new URL(wanted, here).pathname !== new URL(here).pathname;
}

export function leaveFor(to: string, go: () => void): void {
  const leave = (): void => {
    go();
    here = location.href;
  };
  if (losesSomething(to)) ask(leave);
  else leave();
}

export function useAsker(asker: Asker): void {
  useEffect(() => {
    ask = asker;
  }, [asker]);
}

export function useUnsaved(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return;
    const form = {};
    const stop = (event: BeforeUnloadEvent): void => event.preventDefault();
    open.add(form);
    addEventListener("beforeunload", stop);
    return () => {
      open.delete(form);
      removeEventListener("beforeunload", stop);
    };
  }, [isChanged]);
}
