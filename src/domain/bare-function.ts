/** What a component's process says in place of a module whose default export is a function (workflows.md, code steps): a step. */
export const BARE_FUNCTION = "[function]";
