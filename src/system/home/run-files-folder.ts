import { chmod, mkdir, open, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../domain/errors.ts";
import { type RunId, isRunId } from "../../domain/ids.ts";
import { RUN_FILES, type RunFile } from "../../domain/run/run-files.ts";
import type { FilePart, RunFiles } from "../../ports/run-files.ts";

/** Folders have size 0. */
interface Taken {
  readonly sizes: Map<string, number>;
  bytes: number;
}

/** Files are in `<run>/files`, incomplete ones in `<run>/parts`. Only this server writes there, so there are no links. */
export class RunFilesFolder implements RunFiles {
  readonly #root: string;
  /** Every step asks, and most runs have no files. */
  #runs: Promise<Set<RunId>> | undefined;
  readonly #taken = new Map<RunId, Promise<Taken>>();

  constructor(root: string) {
    this.#root = root;
  }

  async has(run: RunId): Promise<boolean> {
    return (await this.#withFiles()).has(run);
  }

  async list(run: RunId): Promise<readonly RunFile[]> {
    const found: RunFile[] = [];
    const look = async (folder: string): Promise<void> => {
      for (const entry of await readdir(join(this.#filesOf(run), folder), { withFileTypes: true }).catch(noneYet)) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) {
          found.push({ path, kind: "folder", size: 0, isExecutable: false });
          await look(path);
          continue;
        }
        const { size, mode } = await stat(this.#place(run, path));
        found.push({ path, kind: "file", size, isExecutable: (mode & 0o100) !== 0 });
      }
    };
    await look("");
    return found;
  }

  async read(run: RunId, path: string, at: number): Promise<Uint8Array> {
    const file = await open(this.#place(run, path), "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(RUN_FILES.part), 0, RUN_FILES.part, at);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async write(run: RunId, writer: string, { path, at, bytes, isLast, isExecutable }: FilePart): Promise<void> {
    const taken = await this.#takenBy(run);
    const size = at + bytes.length;
    const others = taken.bytes - (taken.sizes.get(path) ?? 0);
    if (others + size > RUN_FILES.bytes) throw new RangeError(`the files of one run in /tmp may have ${RUN_FILES.bytes / 2 ** 20} MB: ${path} exceeds it`);
    refuseMany(taken, path);
    (await this.#withFiles()).add(run);
    const partial = join(this.#root, run, "parts", writer);
    await mkdir(dirname(partial), { recursive: true, mode: 0o700 });
    const file = await open(partial, at === 0 ? "w" : "r+", 0o600);
    try {
      await file.write(bytes, 0, bytes.length, at);
    } finally {
      await file.close();
    }
    if (!isLast) return;
    await chmod(partial, isExecutable ? 0o700 : 0o600);
    const place = this.#place(run, path);
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await rename(partial, place).catch(async (error: unknown) => {
      if (codeOf(error) !== "EISDIR") throw error;
      await this.remove(run, path);
      await rename(partial, place);
    });
    taken.bytes += size - (taken.sizes.get(path) ?? 0);
    taken.sizes.set(path, size);
  }

  async makeFolder(run: RunId, path: string): Promise<void> {
    const taken = await this.#takenBy(run);
    refuseMany(taken, path);
    (await this.#withFiles()).add(run);
    await mkdir(this.#place(run, path), { recursive: true, mode: 0o700 });
    taken.sizes.set(path, 0);
  }

  async remove(run: RunId, path: string): Promise<void> {
    await rm(this.#place(run, path), { recursive: true, force: true });
    const taken = await this.#takenBy(run);
    for (const [known, size] of taken.sizes) {
      if (known !== path && !known.startsWith(`${path}/`)) continue;
      taken.sizes.delete(known);
      taken.bytes -= size;
    }
  }

  async drop(run: RunId): Promise<void> {
    const runs = await this.#withFiles();
    if (!runs.has(run)) return;
    this.#taken.delete(run);
    await rm(join(this.#root, run), { recursive: true, force: true });
    runs.delete(run);
  }

  async runs(): Promise<readonly RunId[]> {
    return [...(await this.#withFiles())];
  }

  #withFiles(): Promise<Set<RunId>> {
    this.#runs ??= readdir(this.#root)
      .catch((error: unknown): string[] => noneYet(error))
      .then((names) => new Set(names.filter((name): name is RunId => isRunId(name))));
    return this.#runs;
  }

  #takenBy(run: RunId): Promise<Taken> {
    const taken = this.#taken.get(run) ?? this.#countTaken(run);
    this.#taken.set(run, taken);
    return taken;
  }

  async #countTaken(run: RunId): Promise<Taken> {
    const files = await this.list(run);
    return { sizes: new Map(files.map(({ path, size }) => [path, size])), bytes: files.reduce((sum, { size }) => sum + size, 0) };
  }

  #filesOf(run: RunId): string {
    return join(this.#root, run, "files");
  }

  #place(run: RunId, path: string): string {
    return join(this.#filesOf(run), path);
  }
}

function refuseMany({ sizes }: Taken, path: string): void {
  if (sizes.has(path) || sizes.size < RUN_FILES.files) return;
  throw new RangeError(`one run may have ${RUN_FILES.files} files and folders in /tmp: ${path} exceeds it`);
}

function noneYet(error: unknown): [] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}
