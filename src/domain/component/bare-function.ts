/** Reported by a component's process when the default export is a function. Such code is a workflow step. */
export const BARE_FUNCTION = "[function]";
