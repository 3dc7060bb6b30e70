import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize, relative } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";

/** Folder of `$.files`, in the process's own: gone with it. */
const FOLDER = "files";

/** `$.files` (platform.md §4.7): files of this run, by path. */
export function fileStore(): object {
  const open = (path: unknown): StoredFile => new StoredFile(String(path));
  return {
    open,
    openDescriptor: (descriptor: unknown) => open(typeof descriptor === "object" && descriptor !== null && "path" in descriptor ? descriptor.path : ""),
    async *dir(path: unknown = "") {
      const folder = inside(String(path));
      for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
        const name = relative(inside(""), join(folder, entry.name));
        if (entry.isDirectory()) yield { path: name, name: entry.name, isDirectory: () => true, isFile: () => false };
        else yield open(name);
      }
    },
  };
}

/** Throws RangeError for a path that leads out. */
function inside(path: string): string {
  const root = join(process.cwd(), FOLDER);
  const target = join(root, normalize(path));
  if (target !== root && !target.startsWith(`${root}/`)) throw new RangeError(`$.files: ${JSON.stringify(path)} leads out of the file store`);
  return target;
}

class StoredFile {
  readonly path: string;

  constructor(path: string) {
    this.path = path;
  }

  get name(): string {
    return this.path.split("/").at(-1) ?? "";
  }

  isDirectory(): boolean {
    return false;
  }

  isFile(): boolean {
    return true;
  }

  async toUrl(): Promise<string> {
    return pathToFileURL(inside(this.path)).href;
  }

  async toFile(target: string): Promise<void> {
    await copyFile(inside(this.path), target);
  }

  toBuffer(): Promise<Buffer> {
    return readFile(inside(this.path));
  }

  async toEncodedString(encoding: BufferEncoding = "base64", start?: number, end?: number): Promise<string> {
    return (await this.toBuffer()).subarray(start, end).toString(encoding);
  }

  async fromFile(source: string): Promise<this> {
    await copyFile(source, await this.#make());
    return this;
  }

  async fromUrl(url: string): Promise<this> {
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(`$.files: ${url} was answered with status ${answer.status}`);
    await writeFile(await this.#make(), Buffer.from(await answer.arrayBuffer()));
    return this;
  }

  async fromReadableStream(stream: AsyncIterable<unknown>): Promise<this> {
    await pipeline(Readable.from(stream), createWriteStream(await this.#make()));
    return this;
  }

  async createReadStream(): Promise<Readable> {
    return createReadStream(inside(this.path));
  }

  async createWriteStream(): Promise<Writable> {
    return createWriteStream(await this.#make());
  }

  async delete(): Promise<void> {
    await rm(inside(this.path), { force: true });
  }

  toJSON(): object {
    return { path: this.path, name: this.name };
  }

  async #make(): Promise<string> {
    const target = inside(this.path);
    await mkdir(dirname(target), { recursive: true });
    return target;
  }
}
