import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import { PdError } from "../../domain/errors.ts";
import { givenKey } from "./secret-key.ts";

export interface ClusterKeys {
  readonly ids: readonly string[];
  /** Of the home of every node. 32 lowercase letters and digits. */
  readonly apiKey: string;
  sign(text: string): string;
  isSigned(text: string, signature: string): boolean;
}

const DERIVED_BYTES = 32;

/** What all nodes derive from PD_SECRET_KEY. Throws PD_SECRET_KEY_WRONG without it. */
export function clusterKeys(environment: Readonly<Record<string, string | undefined>>): ClusterKeys {
  const newest = givenKey("PD_SECRET_KEY", environment["PD_SECRET_KEY"] ?? "");
  const keys = [...newest, ...givenKey("PD_SECRET_KEY_OLD", environment["PD_SECRET_KEY_OLD"] ?? "")];
  const [first] = newest;
  if (first === undefined)
    throw new PdError("PD_SECRET_KEY_WRONG", "Cannot join the cluster: PD_SECRET_KEY is not set", {
      fix: "Give all nodes the same: openssl rand -hex 32 prints one",
    });
  const signing = keys.map(({ key }) => derived(key, "headwater forwarded requests"));
  const macs = (text: string): Buffer[] => signing.map((key) => createHmac("sha256", key).update(text).digest());
  return {
    ids: keys.map(({ id }) => id),
    apiKey: derived(first.key, "headwater key of the home").toString("hex").slice(0, 32),
    sign: (text) => (macs(text)[0] ?? Buffer.alloc(0)).toString("base64url"),
    isSigned(text, signature) {
      const given = Buffer.from(signature, "base64url");
      return macs(text).some((mac) => mac.length === given.length && timingSafeEqual(mac, given));
    },
  };
}

function derived(key: Buffer, purpose: string): Buffer {
  return Buffer.from(hkdfSync("sha256", key, "", purpose, DERIVED_BYTES));
}
