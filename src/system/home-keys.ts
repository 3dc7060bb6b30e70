import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PdError } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/json.ts";
import { KEY_BYTES, type KeyRing, keyEntry } from "./aes-vault.ts";
import type { Keyring } from "./os-keyring.ts";
import { readIfThere, writeDurably } from "./whole-files.ts";

/** The keys that belong to a home, in a file of it or in a keyring; then the file tells under which name. */
export class HomeKeys {
  readonly #path: string;
  readonly #keyring: Keyring;
  #inKeyring: string | undefined;
  /** What was found; empty: nothing is kept. */
  readonly found: KeyRing;

  /** Throws PD_SECRET_KEY_WRONG for keys that cannot be read, PD_KEYRING_UNUSABLE. */
  static async read(path: string, keyring: Keyring): Promise<HomeKeys> {
    const text = await readIfThere(path);
    if (text === undefined) return new HomeKeys(path, keyring, { found: [], inKeyring: undefined });
    const value = parseJson(text);
    const name = isRecord(value) && typeof value["keyring"] === "string" ? value["keyring"] : undefined;
    if (name === undefined) return new HomeKeys(path, keyring, { found: keysOf(text, path), inKeyring: undefined });
    const kept = await keyring.read(name);
    if (kept === undefined)
      throw new PdError("PD_SECRET_KEY_WRONG", `Cannot find the key of this home: the keyring of this machine has no ${JSON.stringify(name)}, or is locked`, {
        fix: "Unlock the keyring, and start pd as the person whose keyring it is",
      });
    return new HomeKeys(path, keyring, { found: keysOf(kept, `the keyring as ${JSON.stringify(name)}`), inKeyring: name });
  }

  private constructor(path: string, keyring: Keyring, { found, inKeyring }: { found: KeyRing; inKeyring: string | undefined }) {
    this.#path = path;
    this.#keyring = keyring;
    this.found = found;
    this.#inKeyring = inKeyring;
  }

  /** Where they are kept now. */
  get place(): "file" | "keyring" {
    return this.#inKeyring === undefined ? "file" : "keyring";
  }

  /** In the place of what is kept, wherever that is. */
  async keepInFile(ring: KeyRing): Promise<void> {
    await writeDurably(this.#path, textOf(ring));
    await this.#leaveKeyring();
  }

  /** As `keepInFile`. Throws PD_KEYRING_UNUSABLE; then nothing has changed. */
  async keepInKeyring(ring: KeyRing): Promise<void> {
    const name = this.#inKeyring ?? `${dirname(this.#path)} ${randomBytes(4).toString("hex")}`;
    await this.#keyring.write(name, textOf(ring));
    if ((await this.#keyring.read(name)) !== textOf(ring))
      throw new PdError("PD_KEYRING_UNUSABLE", "Cannot use the keyring of this machine: it does not hand back what it was given");
    if (this.#inKeyring === undefined) await writeDurably(this.#path, `${JSON.stringify({ keyring: name })}\n`);
    this.#inKeyring = name;
  }

  /** Nothing is sealed with them any more. */
  async forget(): Promise<void> {
    await rm(this.#path, { force: true });
    await this.#leaveKeyring();
  }

  async #leaveKeyring(): Promise<void> {
    if (this.#inKeyring !== undefined) await this.#keyring.remove(this.#inKeyring);
    this.#inKeyring = undefined;
  }
}

function keysOf(text: string, place: string): KeyRing {
  const value = parseJson(text);
  const keys = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"].map((key) => Buffer.from(String(key), "base64")) : [];
  if (keys.length > 0 && keys.every(({ length }) => length === KEY_BYTES)) return keys.map(keyEntry);
  throw new PdError("PD_SECRET_KEY_WRONG", `Cannot read the keys in ${place}: they are not what this program wrote`, {
    fix: "Put them back from a backup; without them the secrets of this home cannot be read",
  });
}

function textOf(ring: KeyRing): string {
  return `${JSON.stringify({ keys: ring.map(({ key }) => key.toString("base64")) })}\n`;
}
