import { createCipheriv, createDecipheriv, createHash, randomBytes } from "node:crypto";
import { PdError } from "../../domain/errors.ts";
import type { Vault } from "../../ports/vault.ts";

/** Newest first. */
export type KeyRing = readonly { readonly id: string; readonly key: Buffer }[];

export interface KeyPlace {
  readonly name: "keyring" | "file" | "environment";
  /** Atomic. Throws PD_BAD_INPUT for a new key when the environment gives the keys. */
  keep(ring: KeyRing): Promise<void>;
}

export const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const PREFIX = "sealed:1:";

/** AES-256-GCM with a random nonce, authenticating the place too. Format: `sealed:1:<key id>:<nonce, text, tag>`. */
export class AesVault implements Vault {
  readonly #place: KeyPlace;
  #ring: KeyRing;
  /** Not stored, but needed for texts that were read before and are opened on use. */
  #forgotten: KeyRing = [];

  constructor(ring: KeyRing, place: KeyPlace) {
    this.#ring = ring;
    this.#place = place;
  }

  get keyPlace(): KeyPlace["name"] {
    return this.#place.name;
  }

  seal(text: string, place: string): string {
    const [newest] = this.#ring;
    if (newest === undefined) throw new RangeError("a vault needs a key");
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv("aes-256-gcm", newest.key, nonce).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `${PREFIX}${newest.id}:${sealed.toString("base64url")}`;
  }

  open(sealed: string, place: string): string {
    if (!sealed.startsWith(PREFIX)) return sealed;
    const [id = "", body = ""] = sealed.slice(PREFIX.length).split(":");
    const known = [...this.#ring, ...this.#forgotten].find((entry) => entry.id === id);
    if (known === undefined) throw wrongKey(place, `it was sealed with key ${id}, and this server has ${this.#ring.map((key) => key.id).join(", ")}`);
    const bytes = Buffer.from(body, "base64url");
    try {
      const nonce = bytes.subarray(0, NONCE_BYTES);
      const decipher = createDecipheriv("aes-256-gcm", known.key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString("utf8");
    } catch (error) {
      throw wrongKey(place, "it was changed, or copied from another place", error);
    }
  }

  isCurrent(text: string): boolean {
    return text.startsWith(`${PREFIX}${this.#ring[0]?.id}:`);
  }

  async rotate(): Promise<void> {
    await this.#keep([keyEntry(randomBytes(KEY_BYTES)), ...this.#ring]);
  }

  async forgetOldKeys(): Promise<void> {
    const [newest, ...earlier] = this.#ring;
    if (newest === undefined || earlier.length === 0) return;
    await this.#keep([newest]);
    this.#forgotten = [...earlier, ...this.#forgotten];
  }

  async #keep(ring: KeyRing): Promise<void> {
    await this.#place.keep(ring);
    this.#ring = ring;
  }
}

export function keyEntry(key: Buffer): KeyRing[number] {
  return { id: createHash("sha256").update("headwater key id").update(key).digest("hex").slice(0, 8), key };
}

function wrongKey(place: string, reason: string, cause?: unknown): PdError {
  return new PdError("PD_SECRET_KEY_WRONG", `Cannot open the secrets of ${place}: ${reason}`, cause === undefined ? {} : { cause });
}
