/** Headers of an answer that are the connection's business: a component's would contradict what is sent. */
export const CONNECTION_HEADERS: ReadonlySet<string> = new Set(["connection", "content-length", "keep-alive", "trailer", "transfer-encoding", "upgrade"]);
