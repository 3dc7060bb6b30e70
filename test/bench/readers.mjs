// Prints "open" once all are connected, then { count, seconds, ages }. Ages are the ms from `at` in the event to its arrival.
import { request } from "node:http";

const [url, key, readers, events] = [process.argv[2], process.argv[3], Number(process.argv[4]), Number(process.argv[5])];
const ages = [];
let [open, first, last] = [0, 0, 0];
for (let n = 0; n < readers; n++) {
  request(url, { headers: { authorization: `Bearer ${key}` } }, (response) => {
    let text = "";
    response.setEncoding("utf8").on("data", (chunk) => {
      if (text === "" && chunk.startsWith(":sse-handshake") && ++open === readers) console.log("open");
      text += chunk;
      const lines = text.split("\n");
      text = lines.pop();
      for (const line of lines) {
        if (!line.startsWith("data: ")) continue;
        const now = Date.now();
        ages.push(now - JSON.parse(line.slice(6)).event.at);
        if (ages.length === 1) first = now;
        last = now;
        if (ages.length === readers * events) console.log(JSON.stringify({ count: ages.length, seconds: (last - first) / 1000, ages }));
      }
    });
  }).end();
}
