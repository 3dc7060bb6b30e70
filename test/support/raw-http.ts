import { connect } from "node:net";

/** Returns all until the server closes the connection. `halfCloses` ends the client's side after the text. */
export function sayRaw(url: string, text: string, { halfCloses = false } = {}): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let said = "";
    const socket = connect(Number(port), hostname, () => (halfCloses ? socket.end(text) : socket.write(text)));
    socket.setEncoding("latin1").on("data", (part: string) => (said += part));
    socket.once("error", reject).once("close", () => resolve(said));
  });
}
