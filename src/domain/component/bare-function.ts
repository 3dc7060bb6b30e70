/** Reported when the default export is a function, as in workflow steps. */
export const BARE_FUNCTION = "[function]";
