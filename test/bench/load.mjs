// node load.mjs <url> <connections> <seconds> [bytes]. Raw sockets are cheap.
// Prints { requests, seconds, p50, p99, statuses }, in ms.
import { connect } from "node:net";

const [url, connections, seconds] = [new URL(process.argv[2]), Number(process.argv[3]), Number(process.argv[4])];
const body = JSON.stringify({ text: "x".repeat(Number(process.argv[5] ?? 1000)) });
const request = `POST ${url.pathname} HTTP/1.1\r\nhost: ${url.host}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
const latencies = [];
const statuses = {};
const end = performance.now() + seconds * 1000;

function drive() {
  return new Promise((resolve) => {
    const socket = connect(Number(url.port), url.hostname);
    let started = 0;
    let text = "";
    const send = () => {
      started = performance.now();
      socket.write(request);
    };
    socket.setEncoding("latin1");
    socket.on("connect", send);
    socket.on("data", (chunk) => {
      text += chunk;
      const head = text.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (text.length < head + 4 + length) return;
      const status = text.slice(9, 12);
      statuses[status] = (statuses[status] ?? 0) + 1;
      latencies.push(performance.now() - started);
      text = "";
      if (performance.now() < end) send();
      else socket.end(() => resolve());
    });
    socket.on("error", () => resolve());
  });
}

const began = performance.now();
await Promise.all(Array.from({ length: connections }, drive));
const took = (performance.now() - began) / 1000;
latencies.sort((a, b) => a - b);
const at = (share) => latencies[Math.min(latencies.length - 1, Math.floor(latencies.length * share))];
console.log(JSON.stringify({ requests: latencies.length, seconds: took, p50: at(0.5), p99: at(0.99), statuses }));
