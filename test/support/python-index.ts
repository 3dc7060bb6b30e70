import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "./home.ts";
import { startHttpServer } from "./http-server.ts";

export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** Path → text, as in `mine/__init__.py`. */
  readonly files: Readonly<Record<string, string>>;
  /** Requirements, as in `other>=1`. */
  readonly requires?: readonly string[];
  readonly metadata?: string;
}

/** File names are relative, as in a wheel. */
const ZIP =
  "import sys, zipfile, os\nwith zipfile.ZipFile(sys.argv[1], 'w') as out:\n    for root, _, names in os.walk('.'):\n        for name in names: out.write(os.path.join(root, name))";

export class PythonIndex {
  readonly url: string;
  readonly #folder: string;
  readonly asked: string[] = [];
  isSilent = false;

  static async start(): Promise<PythonIndex> {
    const folder = await temporaryFolder();
    const index: { made?: PythonIndex } = {};
    const url = await startHttpServer((request, response) => index.made?.answer(request.url ?? "/", response));
    index.made = new PythonIndex(folder, url);
    const before = { PIP_INDEX_URL: process.env["PIP_INDEX_URL"], PIP_CONFIG_FILE: process.env["PIP_CONFIG_FILE"] };
    Object.assign(process.env, { PIP_INDEX_URL: `${url}/simple`, PIP_CONFIG_FILE: "/dev/null" });
    onTestFinished(() => {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    });
    return index.made;
  }

  private constructor(folder: string, url: string) {
    this.#folder = folder;
    this.url = url;
  }

  publish({ name, version, files, requires = [], metadata: said }: PythonPackage): void {
    const stem = `${name.replaceAll("-", "_")}-${version}`;
    const source = join(this.#folder, `source-${stem}`);
    const info = `${stem}.dist-info`;
    const metadata =
      said ?? ["Metadata-Version: 2.1", `Name: ${name}`, `Version: ${version}`, ...requires.map((one) => `Requires-Dist: ${one}`), ""].join("\n");
    const all = {
      ...files,
      [`${info}/METADATA`]: metadata,
      [`${info}/WHEEL`]: "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
      [`${info}/RECORD`]: "",
    };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(join(source, path, ".."), { recursive: true });
      writeFileSync(join(source, path), text);
    }
    const folder = join(this.#folder, "simple", name);
    mkdirSync(folder, { recursive: true });
    execFileSync("python3", ["-c", ZIP, join(folder, `${stem}-py3-none-any.whl`)], { cwd: source });
  }

  answer(url: string, response: import("node:http").ServerResponse): void {
    this.asked.push(url);
    if (this.isSilent) return void response.socket?.destroy();
    const path = join(this.#folder, url);
    try {
      if (!url.endsWith("/")) return void response.end(readFileSync(path));
      const links = readdirSync(path).map((name) => `<a href="${name}">${name}</a>`);
      response.setHeader("content-type", "text/html");
      response.end(`<!DOCTYPE html><html><body>${links.join("\n")}</body></html>`);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  }
}
