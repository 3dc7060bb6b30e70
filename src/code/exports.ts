/** Matches text with an export, also inside a comment. Takes linear time. */
export const EXPORTS = /(?:^|[;}])[ \t]*export\b|\bmodule\.exports\b|^[ \t]*exports\./m;
