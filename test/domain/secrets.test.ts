import { createHash } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { STARS, fieldTexts, formsOf, hiderOf, starsOver, textsAndNumbersIn } from "../../src/domain/account/secrets.ts";

const SECRETS = [
  "Tr0ub4dor!(and)3~x",
  "Tr0ub'4dor-and3x",
  "correct horse battery",
  "abc*def1234 user:pass/word $5,00",
  "a+b/c==d&e=f#gh",
  'pa"ss\\word-12345',
  "all of `these` 'and' \"those\"",
  "escape \u001b[31m and \u0085 and ä and €",
  "half \ud800 of a character",
  `${"long-".repeat(14)}/and+then "other" letters=`,
  "-----BEGIN KEY-----\nabcdefghijklmnop\\qrstu\nABCDEFGHIJKLMNOPQRSTU\n-----END KEY-----",
];

function urlWith(change: (url: URL) => void): string {
  const url = new URL("https://api.example.com/");
  change(url);
  return url.href;
}

function strictly(text: string): string {
  return encodeURIComponent(text).replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** How code without bad intent writes a secret. */
const WAYS: readonly [how: string, write: (secret: string) => string][] = [
  ["as it is", (secret) => `x ${secret} y`],
  ["as JSON", (secret) => JSON.stringify({ secret })],
  ["as a form", (secret) => new URLSearchParams({ secret }).toString()],
  ["in the query of a URL", (secret) => urlWith((url) => url.searchParams.set("k", secret))],
  ["as the search of a URL", (secret) => urlWith((url) => (url.search = secret))],
  ["as the password of a URL", (secret) => urlWith((url) => Object.assign(url, { username: "u", password: secret }))],
  ["in the path of a URL", (secret) => urlWith((url) => (url.pathname = secret))],
  ["as the fragment of a URL", (secret) => urlWith((url) => (url.hash = secret))],
  ["as those encode it who sign requests", (secret) => strictly(secret.replaceAll("\ud800", "\ufffd"))],
  [
    "as axios encodes it",
    (secret) =>
      encodeURIComponent(secret.replaceAll("\ud800", "\ufffd"))
        .replaceAll(/%3A|%24|%2C/g, decodeURIComponent)
        .replaceAll("%20", "+"),
  ],
  ["with small letters", (secret) => encodeURIComponent(secret.replaceAll("\ud800", "\ufffd")).replaceAll(/%../g, (one) => one.toLowerCase())],
  ["as JSON within JSON", (secret) => JSON.stringify({ text: JSON.stringify({ secret }) })],
  ["by encodeURI", (secret) => encodeURI(secret.replaceAll("\ud800", "\ufffd"))],
  ["by the console, within an object", (secret) => inspect({ secret })],
  ["by the console, within a list", (secret) => inspect([secret])],
  ["in hexadecimal", (secret) => `x-key: ${Buffer.from(secret).toString("hex")}`],
  ["in capital hexadecimal", (secret) => Buffer.from(secret).toString("hex").toUpperCase()],
  ["with every letter percent-encoded", (secret) => Buffer.from(secret).toString("hex").replaceAll(/../g, "%$&")],
  ["percent-encoded twice", (secret) => encodeURIComponent(encodeURIComponent(inUnicode(secret)))],
  ["as JSON of other languages writes it", (secret) => inAscii(JSON.stringify({ secret })).replaceAll("/", "\\/")],
];

function inUnicode(secret: string): string {
  return secret.replaceAll("\ud800", "\ufffd");
}

function inAscii(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const PACKED: readonly [what: string, pack: (secret: string, beside: string) => string][] = [
  ["the password of Basic", (secret, beside) => `${beside}:${secret}`],
  ["the name of Basic", (secret, beside) => `${secret}:${beside}`],
  ["the secret of a client, encoded like a form before", (secret, beside) => `${beside}:${new URLSearchParams([["", secret]]).toString().slice(1)}`],
  ["JSON", (secret, beside) => JSON.stringify({ beside, secret, x: beside })],
  ["a token by itself", (secret) => secret],
];

const PACKINGS: readonly [how: string, write: (text: string) => string, read: (text: string) => string][] = [
  ["Base64", (text) => Buffer.from(text).toString("base64"), (text) => Buffer.from(text, "base64").toString("latin1")],
  ["Base64 for URLs", (text) => Buffer.from(text).toString("base64url"), (text) => Buffer.from(text, "base64url").toString("latin1")],
  [
    "percent-encoded Base64",
    (text) => encodeURIComponent(Buffer.from(text).toString("base64")),
    (text) => Buffer.from(unescape(text), "base64").toString("latin1"),
  ],
];

describe("a secret", () => {
  it.each(WAYS)("is found %s", (_how, write) => {
    for (const secret of SECRETS) {
      const shown = starsOver(write(secret), formsOf([secret]));
      expect(shown).toContain(STARS);
      for (const part of secret.match(/[a-z0-9]{5}/gi) ?? []) if (!/BEGIN|END|KEY/.test(part)) expect(shown).not.toContain(part);
    }
  });

  it.each(PACKINGS)("is found in %s, wherever it begins there", (_how, write, read) => {
    for (const secret of SECRETS) {
      const forms = formsOf([secret]);
      for (const [what, pack] of PACKED) {
        for (let beside = 0; beside < 7; beside++) {
          const shown = starsOver(write(pack(secret, "~^~^~^~".slice(0, beside))), forms);
          expect([what, shown]).toEqual([what, expect.stringContaining(STARS)]);
          // Decoding the rest must reveal no three letters of the secret, with any padding before it.
          const left = shown.split(STARS).flatMap((text) => ["", "A", "AA", "AAA"].map((lead) => read(lead + text)));
          for (const part of secret.match(/[a-z0-9]{3}/gi) ?? []) for (const text of left) expect(text).not.toContain(part);
        }
      }
    }
  });

  it("that is long is found where the rest of it was cut off", () => {
    const secret = Array.from({ length: 4000 }, (_none, n) => n.toString(36)).join(".");
    const forms = formsOf([secret]);
    for (const text of [inspect({ secret }), `${secret.slice(0, 500)}… (more)`, `${secret.slice(0, 70)}|${secret}|${secret.slice(0, 64)}`]) {
      expect(starsOver(text, forms)).not.toContain("1.2.3");
    }
    expect(starsOver(`a ${secret.slice(0, 500)}… b`, forms)).toBe(`a ${STARS}… b`);
    expect(starsOver("a 0.1.2.3.4 b", forms)).toBe("a 0.1.2.3.4 b");
  });

  it("that begins as another does is found as a whole, also where that is longer", () => {
    const beginning = Array.from({ length: 30 }, (_none, n) => `part${n}`).join(".");
    const [one, two, longer] = [`${beginning}.signatureONE`, `${beginning}.signatureTWO`, `${beginning}/signatureTWO-and-more`];
    for (const secrets of [
      [one, two],
      [two, one],
      [one, longer],
      [longer, one, two],
    ]) {
      const forms = formsOf(secrets);
      for (const secret of secrets) expect(starsOver(`a ${secret} b`, forms)).toBe(`a ${STARS} b`);
      expect(starsOver(`a ${beginning}.signatureT… b`, formsOf([one, two]))).toBe(`a ${STARS}… b`);
    }
  });

  it("of any letters is found whole in every way", () => {
    for (let n = 0; n < 300; n++) {
      const secret = createHash("sha512").update(String(n)).digest("base64").repeat(3);
      const forms = formsOf([secret]);
      for (const [, write] of WAYS) expect(starsOver(write(secret), forms)).not.toMatch(/[A-Za-z0-9+/]{20}/);
      expect(starsOver(`a ${secret} b`, forms)).toBe(`a ${STARS} b`);
    }
  });

  it("that is cut off is found also where parts of it are secrets by themselves", () => {
    const pem = `-----BEGIN PRIVATE KEY-----\n${Array.from({ length: 4 }, (_none, n) => createHash("sha256").update(String(n)).digest("hex")).join("\n")}\n-----END PRIVATE KEY-----\n`;
    const token = createHash("sha512").update("token").digest("hex");
    for (const cut of [40, 80, 120, 150, 200]) {
      for (const text of [pem.slice(0, cut), JSON.stringify({ pem }).slice(0, cut + 8)]) expect(starsOver(text, formsOf([pem]))).not.toMatch(/[\da-f]{16}/);
      for (const secrets of [
        [token.slice(0, 12), token],
        [token, token.slice(20, 40)],
      ])
        expect(starsOver(`a ${token.slice(0, Math.max(cut, 64))}`, formsOf(secrets))).toBe(`a ${STARS}`);
    }
    expect(starsOver("x abcdef1234ghijkl y", formsOf(["abcdef1234", "1234ghijkl"]))).toBe(`x ${STARS} y`);
  });

  it("that names a folder hides no harmless word", () => {
    for (const path of ["../orders", "./secret/../orders", "secret-folder/../orders"])
      expect(starsOver("an orders list", formsOf([path]))).toBe("an orders list");
  });

  it("that is a number is found among texts and numbers", () => {
    const hide = hiderOf(["987654321"]);
    expect(hide({ n: 987_654_321, text: "is 987654321", other: 98_765 })).toEqual({ n: STARS, text: `is ${STARS}`, other: 98_765 });
  });

  it("is no number that only its name speaks of", () => {
    expect(fieldTexts({ max_tokens: 100_000, token: "abcdefgh", token_expires_at: 1_700_000_000_000 })).toEqual(["abcdefgh"]);
    expect(textsAndNumbersIn([123_456, "abcdefgh"])).toEqual(["123456", "abcdefgh"]);
  });

  it("too short to be told from other texts is left alone", () => {
    expect(starsOver("abc", formsOf(["abc"]))).toBe("abc");
  });
});
