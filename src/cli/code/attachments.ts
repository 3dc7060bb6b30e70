import { dirname, join } from "node:path";
import { makeHome } from "../../system/home/home-folder.ts";
import { type JsonObject, isJsonObject, parseJson } from "../../domain/text/json.ts";
import { readIfThere, writeWhole } from "../../system/home/whole-files.ts";

type Kind = "dev" | "deploy";

/** Remembers which source `pd dev` saved a file to, or `pd deploy` deployed it as. */
export class Attachments {
  readonly #path: string;
  readonly #elsewhere: string;

  /** `elsewhere` is the address of a remote server, or empty. */
  constructor(home: string, elsewhere: string, kind: Kind = "dev") {
    this.#path = join(home, `${kind}-attachments.json`);
    this.#elsewhere = elsewhere;
  }

  async find(file: string): Promise<string | undefined> {
    const id = (await this.#read())[this.#keyOf(file)];
    return typeof id === "string" ? id : undefined;
  }

  async fileOf(id: string): Promise<string | undefined> {
    const all = await this.#read();
    const end = this.#keyOf("");
    const key = Object.keys(all).find((known) => all[known] === id && known.endsWith(end));
    return key?.slice(0, key.length - end.length);
  }

  async keep(file: string, id: string): Promise<void> {
    await makeHome(dirname(this.#path));
    // Each source belongs to the file that it was saved from last.
    const others = Object.entries(await this.#read()).filter(([key, known]) => known !== id || !key.endsWith(this.#keyOf("")));
    await writeWhole(this.#path, JSON.stringify({ ...Object.fromEntries(others), [this.#keyOf(file)]: id }, null, 2));
  }

  #keyOf(file: string): string {
    return this.#elsewhere === "" ? file : `${file} at ${this.#elsewhere}`;
  }

  async #read(): Promise<JsonObject> {
    const value = parseJson((await readIfThere(this.#path)) ?? "");
    return isJsonObject(value) ? value : {};
  }
}
