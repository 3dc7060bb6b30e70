import { describe, expect, it } from "vitest";
import { fillAddress, appCatalog, probeRequest, shownAddress, verdictOf, withDefaults } from "../../src/domain/account/app-catalog.ts";
import { travelsSafely } from "../../src/domain/account/oauth.ts";

const APPS = await appCatalog();
const FROM_OAUTH = ["oauth_access_token", "oauth_client_id", "oauth_refresh_token", "oauth_uid"];

const WITHOUT_ACCOUNTS = ["data_stores", "helper_functions"];

describe("the table of apps", () => {
  it.each([...APPS.keys()])("tells of %s nothing that cannot be used", (slug) => {
    const app = APPS.get(slug);
    const { fields = [], oauth, probe } = app ?? {};
    expect(fields.length > 0 || oauth !== undefined).toBe(!WITHOUT_ACCOUNTS.includes(slug));
    const names = fields.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    const known = [...names, ...(oauth === undefined ? [] : FROM_OAUTH)];
    // A provider's URLs must not need values from a login.
    const given = Object.fromEntries(fields.filter(({ optional, secret }) => optional !== true && secret !== true).map(({ name }) => [name, "x"]));
    for (const url of [oauth?.authorizeUrl, oauth?.tokenUrl, oauth?.deviceUrl, oauth?.refreshUrl].filter((address) => address !== undefined)) {
      const { text, missing } = fillAddress(url, withDefaults(app, given));
      expect([missing, travelsSafely(text)]).toEqual([[], true]);
    }
    for (const field of Object.keys({ ...oauth?.tokenFields, ...oauth?.callbackFields })) expect(names).toContain(field);
    if (probe === undefined) return;
    const values = Object.fromEntries(known.map((name) => [name, fields.find((field) => field.name === name)?.default ?? "example.com"]));
    const { url, headers, missing } = probeRequest(probe, values);
    const open = new Set(fields.filter(({ secret }) => secret !== true).map(({ name }) => name));
    const hushed = Object.fromEntries(known.map((name) => [name, open.has(name) ? "x" : "hush"]));
    expect(shownAddress(probe, app, hushed)).not.toContain("hush");
    expect([missing, travelsSafely(url), /[{}]/.test(url + JSON.stringify(Object.values(headers)))]).toEqual([[], true, false]);
  });

  it("knows the providers that people connect most", () => {
    const wanted = ["gmail", "google_drive", "github", "slack", "notion", "microsoft_outlook", "gitlab", "hubspot", "linear", "discord", "dropbox"];
    const more = ["airtable_oauth", "shopify", "zoom", "salesforce_rest_api", "asana"];
    for (const slug of [...wanted, ...more]) expect(APPS.get(slug)?.oauth, slug).toBeDefined();
  });
});

describe("what asks an app about credentials", () => {
  it("has the token of whoever signed in, or what the app wants in its place", () => {
    const probe = (slug: string, values: Record<string, string>) => probeRequest(APPS.get(slug)?.probe ?? { url: "" }, values);
    expect(probe("github", { oauth_access_token: "t" })).toMatchObject({ url: "https://api.github.com/user", headers: { authorization: "Bearer t" } });
    expect(probe("toggl", { api_token: "a" }).headers).toEqual({ authorization: `Basic ${btoa("a:api_token")}` });
    expect(probe("telegram_bot_api", { token: "1:A/b?" }).url).toBe("https://api.telegram.org/bot1:A/b%3F/getMe");
    expect(probe("woocommerce", { url: "shop.example.com/", key: "k", secret: "s" }).url).toBe("https://shop.example.com/wp-json/wc/v3/products?per_page=1");
    expect(probe("zendesk", { oauth_access_token: "t" }).missing).toEqual(["subdomain"]);
  });

  it.each([
    [200, "{}", "accepted"],
    [204, "", "accepted"],
    [401, "", "refused"],
    [403, "{}", "refused"],
    [404, "{}", "unclear"],
    [302, "", "unclear"],
    [500, "<html>", "unclear"],
    [200, '{"ok":false,"error":"invalid_auth"}', "refused"],
    [200, '{"ok":true}', "accepted"],
  ])("reads %s %s as %s", (status, body, verdict) => {
    expect(verdictOf({ refusedBy: { member: "ok", value: false } }, { status, body })).toBe(verdict);
  });
});
