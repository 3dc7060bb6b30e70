import { useEffect } from "preact/hooks";

type Asker = (leave: () => void) => void;

/** Forms in which something was typed that is not saved. */
const open = new Set<object>();
let here = location.href;
let hasAgreed = false;
let ask: Asker = (leave) => leave();

/** Back and Forward have happened already: the address is put back until it is agreed. */
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

// Listeners of a window are called in their order: this one is there before the router's.
addEventListener("popstate", onPop);

/** Another tab, filter or row of the same place loses nothing. */
function losesSomething(wanted: string): boolean {
  return open.size > 0 && new URL(wanted, here).pathname !== new URL(here).pathname;
}

/** Goes elsewhere in the page, once it is agreed that what was typed may be lost. */
export function leaveFor(to: string, go: () => void): void {
  const leave = (): void => {
    go();
    here = location.href;
  };
  if (losesSomething(to)) ask(leave);
  else leave();
}

/** Who asks, with what to do once it is agreed. */
export function useAsker(asker: Asker): void {
  useEffect(() => {
    ask = asker;
  }, [asker]);
}

/** While `isChanged`, whoever leaves is asked: by the browser when they leave the page, by the page when they go elsewhere in it. */
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
