import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { PdError } from "../domain/errors.ts";
import { isRecord, parseJson } from "../domain/json.ts";
import { AesVault, KEY_BYTES, type KeyRing, keyEntry } from "./aes-vault.ts";
import { writeDurably } from "./server-record.ts";

/**
 * The vault of a home: with the key of PD_SECRET_KEY (and PD_SECRET_KEY_OLD, to open what was sealed before), or with
 * a key file that only its owner can read. Throws PD_SECRET_KEY_WRONG for keys that cannot be read.
 */
export async function openVault(keyFile: string, environment: Readonly<Record<string, string | undefined>>): Promise<AesVault> {
  const given = environment["PD_SECRET_KEY"];
  const kept = await readKeyFile(keyFile);
  if (given !== undefined && given !== "") {
    const old = environment["PD_SECRET_KEY_OLD"];
    const named = [givenKey("PD_SECRET_KEY", given), ...(old === undefined || old === "" ? [] : [givenKey("PD_SECRET_KEY_OLD", old)])];
    return new AesVault([...named, ...kept], { keep: keptOutside });
  }
  const ring = kept.length > 0 ? kept : [keyEntry(randomBytes(KEY_BYTES))];
  const place = { keep: (keys: KeyRing) => writeKeyFile(keyFile, keys) };
  if (kept.length === 0) await place.keep(ring);
  return new AesVault(ring, place);
}

async function keptOutside(ring: KeyRing): Promise<void> {
  // Old keys are the user's to take away.
  if (ring.length === 1) return;
  throw new PdError("PD_BAD_INPUT", "Cannot make a new key: it is given by PD_SECRET_KEY", {
    fix: "Start the server with the new key in PD_SECRET_KEY and the one before in PD_SECRET_KEY_OLD: everything is sealed anew",
  });
}

/** 32 bytes in hex or base64. */
function givenKey(name: string, text: string): KeyRing[number] {
  const key = Buffer.from(text, /^[\da-f]{64}$/i.test(text) ? "hex" : "base64");
  if (key.length === KEY_BYTES) return keyEntry(key);
  throw new PdError("PD_SECRET_KEY_WRONG", `Cannot use ${name}: it wants ${KEY_BYTES} bytes in hex or base64, and has ${key.length}`, {
    fix: "openssl rand -base64 32 makes one",
  });
}

async function readKeyFile(path: string): Promise<KeyRing> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return [];
  const value = parseJson(text);
  const keys = isRecord(value) && Array.isArray(value["keys"]) ? value["keys"].map((key) => Buffer.from(String(key), "base64")) : [];
  if (keys.length > 0 && keys.every(({ length }) => length === KEY_BYTES)) return keys.map(keyEntry);
  throw new PdError("PD_SECRET_KEY_WRONG", `Cannot read the keys in ${path}: they are not what this program wrote`, {
    fix: "Put back the file from a backup of this home; without it its secrets cannot be read",
  });
}

function writeKeyFile(path: string, ring: KeyRing): Promise<void> {
  return writeDurably(path, `${JSON.stringify({ keys: ring.map(({ key }) => key.toString("base64")) })}\n`);
}
