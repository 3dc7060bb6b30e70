import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { dirname } from "node:path";
import { PdError, messageOf } from "../../domain/errors.ts";
import { isRecord, parseJson } from "../../domain/text/json.ts";
import type { Log } from "../../ports/log.ts";
import { KEY_BYTES, type KeyRing, keyEntry } from "./aes-vault.ts";
import type { Keyring } from "./os-keyring.ts";
import { readIfThere, writeDurably } from "../home/whole-files.ts";

export interface HomeKeysSettings {
  readonly path: string;
  readonly keyring: Keyring;
  readonly log: Log;
}

interface Entry {
  readonly name: string;
  /** False in a copy of the home, which must not touch the entry. */
  readonly isOwn: boolean;
}

/** In a file, or in the keyring. The file then contains the entry's name. */
export class HomeKeys {
  readonly #settings: HomeKeysSettings;
  #entry: Entry | undefined;
  readonly found: KeyRing;

  /** Throws PD_SECRET_KEY_WRONG for missing or unreadable keys, and PD_KEYRING_UNUSABLE. */
  static async read(settings: HomeKeysSettings): Promise<HomeKeys> {
    const { path, keyring } = settings;
    const text = await readIfThere(path);
    if (text === undefined) return new HomeKeys(settings, [], undefined);
    const value = parseJson(text);
    const name = isRecord(value) && typeof value["keyring"] === "string" ? value["keyring"] : undefined;
    if (name === undefined || !isRecord(value)) return new HomeKeys(settings, keysOf(text, path), undefined);
    const entry = { name, isOwn: value["home"] === dirname(path) };
    if ("keys" in value) {
      // A crash interrupted the move into the keyring.
      const keys = new HomeKeys(settings, keysOf(text, path), entry);
      await keys.keepInFile(keys.found);
      return keys;
    }
    const kept = await keyring.read(name);
    if (kept === undefined)
      throw new PdError("PD_SECRET_KEY_WRONG", `Cannot find the key of this home: the keyring of this machine has no ${JSON.stringify(name)}, or is locked`, {
        fix: "Unlock the keyring, and start pd as its owner",
      });
    return new HomeKeys(settings, keysOf(kept, `the keyring as ${JSON.stringify(name)}`), entry);
  }

  private constructor(settings: HomeKeysSettings, found: KeyRing, entry: Entry | undefined) {
    this.#settings = settings;
    this.found = found;
    this.#entry = entry;
  }

  get place(): "file" | "keyring" {
    return this.#entry === undefined ? "file" : "keyring";
  }

  /** Also removes the keys from the keyring. */
  async keepInFile(ring: KeyRing): Promise<void> {
    await writeDurably(this.#settings.path, fileText({ keys: textsOf(ring) }));
    await this.#leaveKeyring();
  }

  /** Keeps the previous keys when it throws PD_KEYRING_UNUSABLE. */
  async keepInKeyring(ring: KeyRing): Promise<void> {
    const { path, keyring } = this.#settings;
    const home = dirname(path);
    const text = fileText({ keys: textsOf(ring) });
    const entry = this.#entry?.isOwn === true ? this.#entry : { name: `${home} ${randomBytes(4).toString("hex")}`, isOwn: true };
    const isNew = entry !== this.#entry;
    // First in the file, so that a crash leaves no unknown entry in the keyring.
    if (isNew && this.#entry === undefined && this.found.length > 0)
      await writeDurably(path, fileText({ keys: textsOf(this.found), keyring: entry.name, home }));
    try {
      await keyring.write(entry.name, text);
      if ((await keyring.read(entry.name)) !== text)
        throw new PdError("PD_KEYRING_UNUSABLE", "Cannot use the keyring of this machine: it does not return what was stored");
    } catch (error) {
      // A timed-out write may still succeed once the user unlocks the keyring. This removal follows it.
      if (isNew) void keyring.remove(entry.name).catch(() => {});
      throw error;
    }
    if (isNew) await writeDurably(path, fileText({ keyring: entry.name, home, note: NOTE }));
    this.#entry = entry;
  }

  /** Call only when nothing is sealed with the keys. */
  async forget(): Promise<void> {
    await rm(this.#settings.path, { force: true });
    await this.#leaveKeyring();
  }

  async #leaveKeyring(): Promise<void> {
    const entry = this.#entry;
    this.#entry = undefined;
    if (entry?.isOwn === true) await this.#settings.keyring.remove(entry.name).catch((error: unknown) => this.#told(entry.name, error));
  }

  #told(name: string, error: unknown): void {
    this.#settings.log.warn("an unused entry is left in the keyring", { name, reason: messageOf(error) });
  }
}

function keysOf(text: string, place: string): KeyRing {
  const value = parseJson(text);
  const keys = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"].map((key) => Buffer.from(String(key), "base64")) : [];
  if (keys.length > 0 && keys.every(({ length }) => length === KEY_BYTES)) return keys.map(keyEntry);
  throw new PdError("PD_SECRET_KEY_WRONG", `Cannot read the keys in ${place}: this program did not write them`, {
    fix: "Restore them from a backup. Without them, the secrets of this home cannot be read",
  });
}

function textsOf(ring: KeyRing): string[] {
  return ring.map(({ key }) => key.toString("base64"));
}

const NOTE = "The key of this home is in your keyring under this name. Without this file it cannot be found.";

function fileText(members: { keys?: string[]; keyring?: string; home?: string; note?: string }): string {
  return `${JSON.stringify(members)}\n`;
}
