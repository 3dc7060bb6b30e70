import { readFile, readdir, stat } from "node:fs/promises";
import { join, relative, sep } from "node:path";
import { type ComponentText, readComponentText } from "./component-text.ts";

export interface FoundComponent extends ComponentText {
  /** From the folder, with `/`. */
  readonly path: string;
}

const CODE = /\.(mjs|cjs|js|mts|ts)$/;
const NO_COMPONENT = /(\.d\.ts|\.(test|spec)\.\w+)$/;
const SKIPPED = new Set(["node_modules", ".git", "dist", "coverage"]);
/** No component is larger: what is holds data. */
const MOST_BYTES = 1024 * 1024;
/** Files that are open at once. */
const MOST_OPEN = 32;

/** Every component in a folder, in the order of their paths. Throws what the file system throws for the folder itself. */
export async function findComponents(folder: string): Promise<readonly FoundComponent[]> {
  const paths = await codeFiles(folder);
  const found: FoundComponent[] = [];
  for (let start = 0; start < paths.length; start += MOST_OPEN) {
    const texts = await Promise.all(paths.slice(start, start + MOST_OPEN).map((path) => readOne(folder, path)));
    found.push(...texts.filter((entry) => entry !== undefined));
  }
  return found;
}

async function readOne(folder: string, path: string): Promise<FoundComponent | undefined> {
  const name = relative(folder, path).split(sep).join("/");
  // What has gone meanwhile, or cannot be read, does not keep others from being found.
  const size = await stat(path).then(
    (file) => file.size,
    () => Number.POSITIVE_INFINITY,
  );
  const text = size > MOST_BYTES ? undefined : readComponentText(await readFile(path, "utf8").catch(() => ""), name);
  return text === undefined ? undefined : { ...text, path: name };
}

async function codeFiles(folder: string): Promise<string[]> {
  const entries = (await readdir(folder, { withFileTypes: true })).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const paths: string[] = [];
  for (const entry of entries) {
    const path = join(folder, entry.name);
    if (entry.isDirectory() && !SKIPPED.has(entry.name)) paths.push(...(await codeFiles(path)));
    else if (entry.isFile() && CODE.test(entry.name) && !NO_COMPONENT.test(entry.name)) paths.push(path);
  }
  return paths;
}
