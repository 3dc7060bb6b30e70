/** Matches a file that exports something. A file that only mentions the words in a comment may match as well. Takes linear time. */
export const EXPORTS = /(?:^|[;}])[ \t]*export\b|\bmodule\.exports\b|^[ \t]*exports\./m;
