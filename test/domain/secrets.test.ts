import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { STARS, formsOf, hiderOf, starsOver } from "../../src/domain/secrets.ts";

const SECRETS = [
  "Tr0ub4dor!(and)3~x",
  "Tr0ub'4dor-and3x",
  "correct horse battery",
  "a+b/c==d&e=f#gh",
  'pa"ss\\word-12345',
  "all of `these` 'and' \"those\"",
  "escape \u001b[31m and \u0085 and ä and €",
  "half \ud800 of a character",
  "-----BEGIN KEY-----\nabcdefghijklmnop\\qrstu\nABCDEFGHIJKLMNOPQRSTU\n-----END KEY-----",
];

function urlWith(change: (url: URL) => void): string {
  const url = new URL("https://api.example.com/");
  change(url);
  return url.href;
}

/** How code that is nobody's enemy writes a secret. */
const WAYS: readonly [how: string, write: (secret: string) => string][] = [
  ["as it is", (secret) => `x ${secret} y`],
  ["as JSON", (secret) => JSON.stringify({ secret })],
  ["as a form", (secret) => new URLSearchParams({ secret }).toString()],
  ["in the query of a URL", (secret) => urlWith((url) => url.searchParams.set("k", secret))],
  ["as the search of a URL", (secret) => urlWith((url) => (url.search = secret))],
  ["as the password of a URL", (secret) => urlWith((url) => Object.assign(url, { username: "u", password: secret }))],
  ["in the path of a URL", (secret) => urlWith((url) => (url.pathname = secret))],
  ["as the fragment of a URL", (secret) => urlWith((url) => (url.hash = secret))],
  ["by encodeURI", (secret) => encodeURI(secret.replaceAll("\ud800", "\ufffd"))],
  ["by the console, within an object", (secret) => inspect({ secret })],
  ["by the console, within a list", (secret) => inspect([secret])],
];

describe("a secret", () => {
  it.each(WAYS)("is found %s", (_how, write) => {
    for (const secret of SECRETS) {
      const shown = starsOver(write(secret), formsOf([secret]));
      expect(shown).toContain(STARS);
      // No five letters of it are left.
      for (const part of secret.match(/[a-z0-9]{5}/gi) ?? []) if (!/BEGIN|END|KEY/.test(part)) expect(shown).not.toContain(part);
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

  it("that is a number is found among texts and numbers", () => {
    const hide = hiderOf(["987654321"]);
    expect(hide({ n: 987_654_321, text: "is 987654321", other: 98_765 })).toEqual({ n: STARS, text: `is ${STARS}`, other: 98_765 });
  });

  it("too short to be told from other texts is left alone", () => {
    expect(starsOver("abc", formsOf(["abc"]))).toBe("abc");
  });
});
