/** The server sets these. */
const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade"]);

/** RFC 9110 §5.1 and §5.5, and the bytes above ASCII that Node sends. */
const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
// oxlint-disable-next-line no-control-regex -- a tab is allowed, and no other of them
const VALUE = /^[\t\u0020-\u007e\u0080-\u00ff]*$/;

export function whyNotSent(name: string, value: string | readonly string[]): string | undefined {
  if (CONNECTION_HEADERS.has(name.toLowerCase())) return "the server sets it for the connection";
  if (!NAME.test(name)) return "HTTP does not allow this name";
  const isAllowed = typeof value === "string" ? VALUE.test(value) : value.every((one) => VALUE.test(one));
  return isAllowed ? undefined : "HTTP does not allow this value: it has control characters, such as line breaks, or characters beyond Latin-1";
}
