/** An export, also in a comment. Takes linear time. */
export const EXPORTS = /(?:^|[;}])[ \t]*export\b|\bmodule\.exports\b|^[ \t]*exports\./m;
