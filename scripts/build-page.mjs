import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { build } from "esbuild";

/** The API client then uses the browser's fetch. */
const browserHttp = {
  name: "browser-http",
  setup({ onResolve }) {
    onResolve({ filter: /\/system\/http\/http-client\.ts$/ }, () => ({ path: join(import.meta.dirname, "..", "src", "ui", "browser", "browser-http.ts") }));
  },
};

function pack(path, bytes) {
  writeFileSync(path, bytes);
  if (bytes.length < 1000) return;
  writeFileSync(`${path}.br`, brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }));
  writeFileSync(`${path}.gz`, gzipSync(bytes, { level: 9 }));
}

export async function buildPage(folder) {
  const { outputFiles, metafile } = await build({
    entryPoints: { main: "src/ui/main.tsx" },
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    jsx: "automatic",
    jsxImportSource: "preact",
    minify: true,
    legalComments: "none",
    outdir: "assets",
    entryNames: "[name]-[hash]",
    chunkNames: "[name]-[hash]",
    write: false,
    metafile: true,
    logLevel: "warning",
    plugins: [browserHttp],
  });
  mkdirSync(join(folder, "assets"), { recursive: true });
  for (const { path, contents } of outputFiles) pack(join(folder, "assets", basename(path)), Buffer.from(contents));
  const icon = readFileSync("src/ui/icon.svg");
  const iconName = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8)}.svg`;
  pack(join(folder, "assets", iconName), icon);
  const entries = Object.keys(metafile.outputs).filter((path) => basename(path).startsWith("main-"));
  const named = (type) => basename(entries.find((path) => extname(path) === type) ?? "");
  // Preloads fetch the entry's imports in parallel with it.
  const entry = entries.find((path) => extname(path) === ".js") ?? "";
  const beside = metafile.outputs[entry].imports.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path));
  const preloads = beside.map((name) => `<link rel="modulepreload" href="/assets/${name}" />\n    `).join("");
  const html = readFileSync("src/ui/index.html", "utf8")
    .replace("main.css", named(".css"))
    .replace("main.js", named(".js"))
    .replace("icon.svg", iconName)
    .replace("<script", `${preloads}<script`);
  pack(join(folder, "index.html"), Buffer.from(html));
  return { metafile };
}
