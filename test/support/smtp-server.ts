import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

export interface ReceivedMail {
  readonly from: string;
  readonly to: string;
  readonly data: string;
  /** Name and password. Absent without a login. */
  readonly login?: string;
}

export class SmtpServer {
  readonly port: number;
  readonly received: ReceivedMail[];

  static async start({ refusal }: { refusal?: string } = {}): Promise<SmtpServer> {
    const received: ReceivedMail[] = [];
    const server = createServer((socket) => serve(socket, (mail) => (refusal === undefined ? received.push(mail) : undefined), refusal));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    return new SmtpServer(typeof address === "object" && address !== null ? address.port : 0, received);
  }

  private constructor(port: number, received: ReceivedMail[]) {
    this.port = port;
    this.received = received;
  }
}

function serve(socket: Socket, take: (mail: ReceivedMail) => void, refusal: string | undefined): void {
  const say = (line: string): void => void socket.write(`${line}\r\n`);
  let [text, from, to, login, isData] = ["", "", "", "", false];
  const hear = (line: string): void => {
    const word = line.slice(0, 4).toUpperCase();
    if (word === "EHLO") say("250-test\r\n250 AUTH PLAIN");
    else if (word === "AUTH") {
      login = Buffer.from(line.split(" ")[2] ?? "", "base64")
        .toString()
        .split("\0")
        .filter(Boolean)
        .join(" ");
      say("235 welcome");
    } else if (word === "MAIL") {
      from = /<(.*?)>/.exec(line)?.[1] ?? "";
      say("250 ok");
    } else if (word === "RCPT") {
      to = /<(.*?)>/.exec(line)?.[1] ?? "";
      say("250 ok");
    } else if (word === "DATA") {
      isData = true;
      say("354 go on");
    } else if (word === "QUIT") {
      say("221 bye");
      socket.end();
    } else say("250 ok");
  };
  socket.on("error", () => socket.destroy());
  socket.setEncoding("utf8").on("data", (chunk: string) => {
    text += chunk;
    for (let end = text.indexOf(isData ? "\r\n.\r\n" : "\r\n"); end >= 0; end = text.indexOf(isData ? "\r\n.\r\n" : "\r\n")) {
      const line = text.slice(0, end);
      text = text.slice(end + (isData ? 5 : 2));
      if (!isData) hear(line);
      else {
        isData = false;
        take({ from, to, data: line, ...(login === "" ? {} : { login }) });
        say(refusal ?? "250 taken");
      }
    }
  });
  say("220 test");
}
