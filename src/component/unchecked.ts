/** Data from outside, whose type is not known. With `unknown`, authors would have to cast every value. */
// oxlint-disable-next-line typescript/no-explicit-any
export type Unchecked = any;

export type IsUnchecked<Type> = 0 extends 1 & Type ? true : false;
