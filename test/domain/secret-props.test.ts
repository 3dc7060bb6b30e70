import { describe, expect, it } from "vitest";
import type { PropDeclaration } from "../../src/domain/props/kinds.ts";
import { secretTexts } from "../../src/domain/props/secret-props.ts";
import { secretVariables } from "../../src/domain/account/secrets.ts";

const request: PropDeclaration = { kind: "http-request", name: "r", optional: false };
const app: PropDeclaration = { kind: "app", name: "a", app: "demo", optional: false };

describe("texts that must not be seen in what a component prints", () => {
  it("are tokens in headers, with and without their scheme, but not other headers", () => {
    const headers = [
      { name: "Authorization", value: "Bearer hush-hush" },
      { name: "x-a", value: "visible" },
    ];
    expect(secretTexts(request, { url: "https://example.com", headers })).toEqual(["Bearer hush-hush", "hush-hush"]);
    expect(secretTexts(request, { url: "https://example.com", headers: { Authorization: "Bearer hush-hush" } })).toContain("hush-hush");
  });

  it("are passwords, also as Basic has them, but not the kind of authentication", () => {
    const auth = { type: "bearer", username: "ada", password: "pässword" };
    const found = secretTexts(request, { url: "https://example.com", auth });
    expect(found).toEqual(expect.arrayContaining(["pässword", Buffer.from("ada:pässword").toString("base64")]));
    expect(found).not.toContain("bearer");
  });

  it("are fields of an account by their names, and variables likewise", () => {
    const account = {
      api_key: "hush-key",
      region: "eu-west-1",
      oauth_uid: "user-1234",
      oauth_client_id: "client-1",
      nested: { access_token: "hush-token" },
      pin: "short",
    };
    expect(secretTexts(app, account)).toEqual(["hush-key", "hush-token"]);
    expect(secretVariables({ DB_PASSWORD: "hush-pass", HTTPS_PROXY: "http://proxy", API_KEY: "tiny" })).toEqual(["hush-pass"]);
  });
});
