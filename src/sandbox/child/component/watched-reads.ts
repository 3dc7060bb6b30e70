/** `copy` behaves as `instance`. `read` has the props that code read through `copy`. */
export function watchedReads(instance: Record<string, unknown>, props: Record<string, unknown>): { copy: Record<string, unknown>; read: Set<string> } {
  const read = new Set<string>();
  const note = (name: string | symbol): void => void (typeof name === "string" && Object.hasOwn(props, name) && read.add(name));
  const copy = new Proxy(instance, {
    get: (target, name) => (note(name), Reflect.get(target, name)),
    getOwnPropertyDescriptor: (target, name) => (note(name), Reflect.getOwnPropertyDescriptor(target, name)),
  });
  return { copy, read };
}
