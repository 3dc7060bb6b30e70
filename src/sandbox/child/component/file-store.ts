import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join, normalize, relative } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { isRecord } from "../../../domain/text/json.ts";

/** `$.files`: the files of one run. */
export class FileStore {
  readonly #root: string;

  constructor(run: string) {
    this.#root = join(process.cwd(), "files", run);
  }

  open(path: unknown): StoredFile {
    return new StoredFile(String(path), this.#inside(String(path)));
  }

  openDescriptor(descriptor: unknown): StoredFile {
    return this.open(isRecord(descriptor) ? descriptor["path"] : "");
  }

  async *dir(path: unknown = ""): AsyncGenerator<unknown> {
    const folder = this.#inside(String(path));
    for (const entry of await readdir(folder, { withFileTypes: true }).catch(noneYet)) {
      const name = relative(this.#root, join(folder, entry.name));
      if (entry.isDirectory()) yield { path: name, name: entry.name, isDirectory: () => true, isFile: () => false };
      else yield this.open(name);
    }
  }

  async clear(): Promise<void> {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** Throws RangeError for a path outside the store. */
  #inside(path: string): string {
    const target = join(this.#root, normalize(path));
    if (target !== this.#root && !target.startsWith(`${this.#root}/`)) throw new RangeError(`$.files: ${JSON.stringify(path)} is outside of the file store`);
    return target;
  }
}

function noneYet(error: unknown): [] {
  if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
  throw error;
}

class StoredFile {
  readonly path: string;
  readonly #place: string;

  constructor(path: string, place: string) {
    this.path = path;
    this.#place = place;
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
    return pathToFileURL(this.#place).href;
  }

  async toFile(target: string): Promise<void> {
    await copyFile(this.#place, target);
  }

  toBuffer(): Promise<Buffer> {
    return readFile(this.#place);
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
    return createReadStream(this.#place);
  }

  async createWriteStream(): Promise<Writable> {
    return createWriteStream(await this.#make());
  }

  async delete(): Promise<void> {
    await rm(this.#place, { force: true });
  }

  toJSON(): object {
    return { path: this.path, name: this.name };
  }

  async #make(): Promise<string> {
    await mkdir(dirname(this.#place), { recursive: true });
    return this.#place;
  }
}
