// Prints its address. GET returns the figures since the last GET: { count, seconds, ages }. Ages are the ms from `at` in the body to its arrival.
import { createServer } from "node:http";

let [count, first, last, ages] = [0, 0, 0, []];
const server = createServer((request, response) => {
  if (request.method === "GET") {
    response.end(JSON.stringify({ count, seconds: (last - first) / 1000, ages }));
    [count, first, last, ages] = [0, 0, 0, []];
    return;
  }
  let body = "";
  request.setEncoding("utf8").on("data", (chunk) => (body += chunk));
  request.on("end", () => {
    response.end();
    const now = Date.now();
    const { at } = JSON.parse(body);
    if (at !== undefined) ages.push(now - at);
    if (count++ === 0) first = now;
    last = now;
  });
}).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
