import { chmod, mkdir, open, readdir, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf } from "../../../domain/errors.ts";
import { isRecord } from "../../../domain/text/json.ts";
import { RUN_FILES, type RunFileRequest } from "../../../domain/run/run-files.ts";
import type { TemporaryFolder } from "./tmp-folder.ts";

type AskHost = (request: RunFileRequest) => Promise<unknown>;

interface Seen {
  readonly isFolder: boolean;
  readonly size: number;
  readonly stamp: string;
}

/** `/tmp` for one call of a step: starts with the files of earlier steps, and sends changes to the host at the end. */
export class RunFolder {
  readonly path: string;
  readonly #ask: AskHost;
  readonly #isEmpty: boolean;
  readonly #isOfProcess: boolean;
  #given = new Map<string, Seen>();

  constructor({ path, isOfProcess }: TemporaryFolder, { isEmpty, ask }: { isEmpty: boolean; ask: AskHost }) {
    this.path = path;
    this.#ask = ask;
    this.#isEmpty = isEmpty;
    this.#isOfProcess = isOfProcess;
  }

  async fetch(): Promise<void> {
    if (this.#isEmpty) return;
    await mkdir(this.path, { recursive: true });
    const listed = await this.#ask({ operation: "list-files" });
    for (const file of Array.isArray(listed) ? listed.filter(isRecord) : []) {
      const [path, place] = [String(file["path"]), join(this.path, String(file["path"]))];
      if (file["kind"] === "folder") await mkdir(place, { recursive: true });
      else await this.#fetchFile(path, place, file["isExecutable"] === true);
    }
    this.#given = await this.#look();
  }

  async #fetchFile(path: string, place: string, isExecutable: boolean): Promise<void> {
    await mkdir(dirname(place), { recursive: true });
    const file = await open(place, "w");
    try {
      for (let at = 0; ;) {
        const part = Buffer.from(String(await this.#ask({ operation: "read-file", path, at })), "base64");
        await file.write(part, 0, part.length, at);
        at += part.length;
        if (part.length < RUN_FILES.part) break;
      }
    } finally {
      await file.close();
    }
    if (isExecutable) await chmod(place, 0o755);
  }

  /** `note` receives a line for each entry that is not kept. Throws RangeError when the files are too large. */
  async keep(note: (text: string) => void): Promise<void> {
    const now = await this.#look(note);
    const bytes = [...now.values()].reduce((sum, { size }) => sum + size, 0);
    if (bytes > RUN_FILES.bytes)
      throw new RangeError(
        `the files of one run in /tmp may have ${RUN_FILES.bytes / 2 ** 20} MB, and these have ${Math.ceil(bytes / 2 ** 20)}: remove files that no later step needs`,
      );
    for (const [path, { isFolder, stamp }] of now) {
      if (this.#given.get(path)?.stamp === stamp) continue;
      if (isFolder) await this.#ask({ operation: "make-folder", path });
      else await this.#sendFile(path);
    }
    for (const path of this.#given.keys()) if (!now.has(path)) await this.#ask({ operation: "remove-file", path });
  }

  async #sendFile(path: string): Promise<void> {
    const file = await open(join(this.path, path), "r");
    try {
      const isExecutable = ((await file.stat()).mode & 0o100) !== 0;
      for (let at = 0; ;) {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(RUN_FILES.part), 0, RUN_FILES.part, at);
        const isLast = bytesRead < RUN_FILES.part;
        await this.#ask({ operation: "write-file", path, at, base64: buffer.toString("base64", 0, bytesRead), isLast, isExecutable });
        at += bytesRead;
        if (isLast) return;
      }
    } finally {
      await file.close();
    }
  }

  /** Later calls need an empty folder, and programs need an existing one. */
  async clear(): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
    if (this.#isOfProcess) await mkdir(this.path);
  }

  /** Folders precede their contents. */
  async #look(note: (text: string) => void = () => {}): Promise<Map<string, Seen>> {
    const found = new Map<string, Seen>();
    const look = async (folder: string): Promise<void> => {
      for (const entry of await readdir(join(this.path, folder), { withFileTypes: true }).catch(noneYet)) {
        const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
        if (entry.isDirectory()) {
          found.set(path, { isFolder: true, size: 0, stamp: "folder" });
          await look(path);
        } else if (entry.isFile()) {
          const { size, mtimeMs, ctimeMs, mode } = await stat(join(this.path, path));
          found.set(path, { isFolder: false, size, stamp: `${size} ${mtimeMs} ${ctimeMs} ${mode}` });
        } else note(`/tmp/${path} is neither a file nor a folder, so later steps do not have it`);
      }
    };
    await look("");
    return found;
  }
}

function noneYet(error: unknown): [] {
  if (codeOf(error) === "ENOENT") return [];
  throw error;
}
