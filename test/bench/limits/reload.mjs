// fs.watch → compile → a spare process imports the module → requests go to it. No versions, hooks, store or sandbox.
//   node reload.mjs <file> [packages to preload, comma-separated [ms until the next spare starts]]
import { fork } from "node:child_process";
import { watch, readFileSync, writeFileSync, mkdtempSync } from "node:fs";
import { createServer } from "node:http";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { context } from "esbuild";

const [file, packages = "", pauseMs = "40"] = process.argv.slice(2);
const folder = mkdtempSync(join(dirname(file), "limit-"));
let text = "";
const compiler = await context({
  stdin: undefined,
  entryPoints: ["entry"],
  bundle: true,
  write: false,
  format: "esm",
  platform: "node",
  packages: "external",
  logLevel: "silent",
  plugins: [
    {
      name: "text",
      setup(build) {
        build.onResolve({ filter: /^entry$/ }, () => ({ path: file, namespace: "text" }));
        build.onLoad({ filter: /.*/, namespace: "text" }, () => ({ contents: text, loader: "js" }));
      },
    },
  ],
});

let spare = start();
let current;
let count = 0;
const waiting = new Map();

function start() {
  const unit = fork(new URL("reload-unit.mjs", import.meta.url), packages === "" ? [] : packages.split(","), { cwd: dirname(file) });
  const ready = new Promise((resolve) => unit.once("message", resolve));
  return { unit, ready };
}

async function load() {
  const found = readFileSync(file, "utf8");
  if (found === text || found.trim() === "") return;
  text = found;
  const { outputFiles } = await compiler.rebuild();
  const module = join(folder, `${++count}.mjs`);
  writeFileSync(module, outputFiles[0].text);
  const { unit, ready } = spare;
  await ready;
  await new Promise((resolve) => {
    unit.once("message", resolve);
    unit.send({ load: pathToFileURL(module).href });
  });
  unit.on("message", ({ id, body }) => {
    waiting.get(id)?.end(body);
    waiting.delete(id);
  });
  const old = current;
  current = unit;
  setTimeout(() => old?.kill(), 1000);
  setTimeout(() => (spare = start()), Number(pauseMs));
}

await load();
watch(dirname(file), (_event, name) => {
  if (name === basename(file)) void load();
});

const server = createServer((request, response) => {
  request.resume();
  const id = ++count;
  waiting.set(id, response);
  current.send({ run: id });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/`));
