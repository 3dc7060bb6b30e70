import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type JsonObject, isJsonObject, parseJson } from "../domain/json.ts";

/** Remembers which deployed component a file belongs to, so that a restarted session finds it again. */
export class Attachments {
  readonly #path: string;

  constructor(home: string) {
    this.#path = join(home, "dev-attachments.json");
  }

  async find(file: string): Promise<string | undefined> {
    const id = (await this.#read())[file];
    return typeof id === "string" ? id : undefined;
  }

  async keep(file: string, id: string): Promise<void> {
    await writeFile(this.#path, JSON.stringify({ ...(await this.#read()), [file]: id }, null, 2));
  }

  async #read(): Promise<JsonObject> {
    const value = parseJson(await readFile(this.#path, "utf8").catch(() => ""));
    return isJsonObject(value) ? value : {};
  }
}
