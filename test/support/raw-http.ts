import { connect } from "node:net";

/** What a server says to these bytes on a connection of their own, until it closes. `halfCloses`: nothing follows, as a client says that is done. */
export function sayRaw(url: string, text: string, { halfCloses = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(Number(port), hostname, () => (halfCloses ? socket.end(text) : socket.write(text)));
    socket.setEncoding("latin1").on("data", (part: string) => (said += part));
    socket.once("error", reject).once("close", () => resolve(said));
  });
}
