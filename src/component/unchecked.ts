/**
 * What a request, another step or a third party holds: no compiler can know it. It is the one loose type of this
 * library: `unknown` would make every author cast every value.
 */
// oxlint-disable-next-line typescript/no-explicit-any
export type Unchecked = any;

/** Whether a type is that. */
export type IsUnchecked<Type> = 0 extends 1 & Type ? true : false;
