import { describe, expect, it } from "vitest";
import type { AccountContent } from "../../src/domain/account/account.ts";
import type { Webhook } from "../../src/domain/delivery/webhook.ts";
import type { Store } from "../../src/ports/stores/store.ts";
import { component, source } from "./store.ts";

const now = Date.parse("2026-01-01T00:00:00Z");

export function account(id: AccountContent["id"], name: string, app = "demo"): AccountContent {
  return { id, name, app, credentials: { token: `of ${id}` }, createdAt: now, updatedAt: now };
}

const hook: Webhook = { id: "wh_1", url: "http://127.0.0.1/", active: true, secret: "whsec_", oldSecrets: [], createdAt: now, updatedAt: now };

export function sharedDataContract(open: () => Promise<{ store: Store; reopen: () => Promise<Store> }>): void {
  describe("accounts", () => {
    it("come back as they were saved, by app and then by name", async () => {
      const { store, reopen } = await open();
      const grant = { flow: "client_credentials", client: { id: "me", tokenUrl: "https://example.com/token" }, scope: "", grantedAt: now } as const;
      await store.saveAccount(account("apn_2", "second"));
      await store.saveAccount({ ...account("apn_1", "first"), oauth: grant, problem: "revoked" });
      await store.saveAccount(account("apn_3", "other", "another"));
      await store.close();
      const again = await reopen();
      expect((await again.listAccounts()).map(({ id }) => id)).toEqual(["apn_3", "apn_1", "apn_2"]);
      expect(await again.getAccount("apn_1")).toEqual({ ...account("apn_1", "first"), oauth: grant, problem: "revoked", revision: 0 });
      expect(await again.getAccount("apn_9")).toBeUndefined();
    });

    it("have a name of their own among those of their app", async () => {
      const { store } = await open();
      await store.saveAccount(account("apn_1", "main"));
      await store.saveAccount(account("apn_2", "main", "another"));
      await expect(store.saveAccount(account("apn_3", "main"))).rejects.toMatchObject({ code: "PD_CONFLICT" });
      await store.saveAccount(account("apn_3", "spare"));
      const spare = (await store.getAccount("apn_3")) ?? expect.fail();
      await expect(store.replaceAccount(spare, account("apn_3", "main"))).rejects.toMatchObject({ code: "PD_CONFLICT" });
      expect(await store.getAccount("apn_3")).toEqual(spare);
    });

    it("count their changes, and go when they are deleted", async () => {
      const { store } = await open();
      await store.saveAccount(account("apn_1", "main"));
      const first = (await store.getAccount("apn_1")) ?? expect.fail();
      expect(await store.replaceAccount(first, { ...account("apn_1", "renamed"), credentials: { token: "new" } })).toBe(true);
      expect(await store.getAccount("apn_1")).toMatchObject({ name: "renamed", credentials: { token: "new" }, revision: 1 });
      await store.deleteAccount("apn_1");
      expect([await store.listAccounts(), await store.replaceAccount(first, first)]).toEqual([[], false]);
    });
  });

  describe("registries", () => {
    it("are asked in the order in which they were added, after the one that is there from the beginning", async () => {
      const { store } = await open();
      await store.saveRegistry({ name: "z", kind: "folder", location: "/z" });
      await store.saveRegistry({ name: "a", kind: "git", location: "https://example.com/a.git" });
      expect((await store.listRegistries()).map(({ name }) => name)).toEqual(["pipedream", "z", "a"]);
      await expect(store.saveRegistry({ name: "z", kind: "folder", location: "/other" })).rejects.toMatchObject({ code: "PD_CONFLICT" });
      expect([await store.deleteRegistry("z"), await store.deleteRegistry("z")]).toEqual([true, false]);
      expect((await store.listRegistries()).at(-1)).toEqual({ name: "a", kind: "git", location: "https://example.com/a.git" });
    });
  });

  describe("data stores", () => {
    it("are made once, and hold what is set in them until they are cleared", async () => {
      const { store } = await open();
      await store.createDataStore("b", now);
      await store.createDataStore("a", now);
      await store.createDataStore("b", now + 1);
      await store.setDataStoreValue("b", "k", { value: { deep: [1, null] }, now });
      await store.setDataStoreValue("b", "j", { value: 1, now });
      await store.setDataStoreValue("b", "j", { value: 2, now });
      expect(await store.listDataStores(now)).toEqual([
        { name: "a", createdAt: now, keyCount: 0 },
        { name: "b", createdAt: now, keyCount: 2 },
      ]);
      expect(await store.listDataStoreValues("b", now)).toEqual([
        ["j", 2],
        ["k", { deep: [1, null] }],
      ]);
      expect([await store.getDataStoreValue("b", "k", now), await store.getDataStoreValue("b", "none", now)]).toEqual([{ deep: [1, null] }, undefined]);
      expect([await store.deleteDataStoreValue("b", "j"), await store.deleteDataStoreValue("b", "j")]).toEqual([true, false]);
      await store.clearDataStore("b");
      expect(await store.listDataStoreValues("b", now)).toEqual([]);
    });

    it("hold a value until it expires, and give it another time, or none, when they are told to", async () => {
      const { store } = await open();
      await store.createDataStore("a", now);
      await store.setDataStoreValue("a", "short", { value: 1, expiresAt: now + 10, now });
      await store.setDataStoreValue("a", "kept", { value: 2, expiresAt: now + 10, now });
      expect(await store.setDataStoreExpiry("a", "kept", undefined)).toBe(true);
      expect(await store.setDataStoreExpiry("a", "none", now + 10)).toBe(false);
      expect([await store.listDataStoreExpiries("a", now + 9), await store.listDataStoreExpiries("a", now + 10)]).toEqual([[["short", now + 10]], []]);
      const at = async (time: number): Promise<unknown> => [
        await store.getDataStoreValue("a", "short", time),
        await store.listDataStoreValues("a", time),
        (await store.listDataStores(time)).map(({ keyCount }) => keyCount),
      ];
      expect(await at(now + 9)).toEqual([
        1,
        [
          ["kept", 2],
          ["short", 1],
        ],
        [2],
      ]);
      expect(await at(now + 10)).toEqual([undefined, [["kept", 2]], [1]]);
      // The write deleted expired values, so an earlier clock restores none.
      await store.setDataStoreValue("a", "later", { value: 3, now: now + 10 });
      expect(await store.getDataStoreValue("a", "short", now)).toBeUndefined();
      await store.setDataStoreExpiry("a", "kept", now + 20);
      await store.setDataStoreValue("a", "kept", { value: 4, now: now + 15 });
      expect(await store.getDataStoreValue("a", "kept", now + 30)).toBe(4);
    });

    it("refuse values when they are not there, and go with all that they hold", async () => {
      const { store } = await open();
      await expect(store.setDataStoreValue("none", "k", { value: 1, now })).rejects.toMatchObject({ code: "PD_NOT_FOUND" });
      await store.createDataStore("a", now);
      await store.setDataStoreValue("a", "k", { value: 1, now });
      expect([await store.deleteDataStore("a"), await store.deleteDataStore("a")]).toEqual([true, false]);
      await store.createDataStore("a", now);
      expect(await store.getDataStoreValue("a", "k", now)).toBeUndefined();
    });
  });

  describe("what actions keep", () => {
    it("is theirs, and a key whose value is null goes", async () => {
      const { store } = await open();
      await store.writeActionState("one", { a: "1", b: "2" });
      await store.writeActionState("two", { a: "3" });
      await store.writeActionState("one", { a: null, c: "4" });
      expect([await store.readActionState("one"), await store.readActionState("two"), await store.readActionState("none")]).toEqual([
        { b: "2", c: "4" },
        { a: "3" },
        {},
      ]);
    });
  });

  describe("alerts", () => {
    it("are listed oldest first, also after a restart, until they are deleted", async () => {
      const { store, reopen } = await open();
      const mail = { id: "al_1", via: "mail", isDaily: true, createdAt: 2 } as const;
      const early = { id: "al_2", via: "wh_a", isDaily: false, createdAt: 1 } as const;
      await store.saveAlert(mail);
      await store.saveAlert(early);
      const again = await reopen();
      expect(await again.listAlerts()).toEqual([early, mail]);
      expect([await again.deleteAlert("al_1"), await again.deleteAlert("al_1")]).toEqual([true, false]);
      expect(await again.listAlerts()).toEqual([early]);
    });

    it("are deleted with their source and their webhook", async () => {
      const { store } = await open();
      await store.beginDeploy(source("dc_a", "sc_1"), component("sc_1"));
      await store.saveWebhook({ ...hook, id: "wh_a" });
      await store.saveAlert({ id: "al_1", scope: "dc_a", via: "mail", isDaily: false, createdAt: 1 });
      await store.saveAlert({ id: "al_2", via: "wh_a", isDaily: false, createdAt: 2 });
      await store.saveAlert({ id: "al_3", via: "mail", isDaily: false, createdAt: 3 });
      await store.deleteSource("dc_a");
      await store.deleteWebhook("wh_a");
      expect((await store.listAlerts()).map(({ id }) => id)).toEqual(["al_3"]);
    });
  });

  describe("tallies", () => {
    const HOUR = 3_600_000;
    const tally = (scope: string, at: number, runs: number, step: "fine" | "coarse" = "fine") => ({
      scope,
      step,
      at,
      runs,
      failures: 1,
      events: 2,
      delivered: 3,
      undelivered: 4,
      durations: [0, 5],
    });

    it("of one scope and step are listed since a time, oldest first, also after a restart", async () => {
      const { store, reopen } = await open();
      const none = { fine: 0, coarse: 0 };
      await store.putTallies([tally("dc_a", 2 * HOUR, 2), tally("dc_a", HOUR, 1), tally("dc_b", HOUR, 7), tally("dc_a", HOUR, 9, "coarse")], none);
      await store.putTallies([tally("dc_a", 2 * HOUR, 3)], none);
      const again = await reopen();
      const { scope: _scope, step: _step, ...first } = tally("dc_a", HOUR, 1);
      expect(await again.listTallies("dc_a", "fine", 0)).toEqual([first, { ...first, at: 2 * HOUR, runs: 3 }]);
      expect((await again.listTallies("dc_a", "fine", HOUR + 1)).map(({ at }) => at)).toEqual([2 * HOUR]);
      expect((await again.listTallies("dc_a", "coarse", 0)).map(({ runs }) => runs)).toEqual([9]);
    });

    it("that are too old are removed with the next of their scope, and all of a source with it", async () => {
      const { store } = await open();
      await store.saveComponent(component("sc_1"));
      await store.beginDeploy(source("dc_a", "sc_1"), component("sc_1"));
      await store.putTallies([tally("dc_a", HOUR, 1), tally("dc_b", HOUR, 1), tally("dc_a", HOUR, 1, "coarse")], { fine: 0, coarse: 0 });
      await store.putTallies([tally("dc_a", 3 * HOUR, 1)], { fine: 2 * HOUR, coarse: 0 });
      expect((await store.listTallies("dc_a", "fine", 0)).map(({ at }) => at)).toEqual([3 * HOUR]);
      expect(await store.listTallies("dc_a", "coarse", 0)).toHaveLength(1);
      expect(await store.listTallies("dc_b", "fine", 0)).toHaveLength(1);
      await store.deleteSource("dc_a");
      expect([await store.listTallies("dc_a", "fine", 0), await store.listTallies("dc_a", "coarse", 0)]).toEqual([[], []]);
    });
  });

  describe("keys of the API", () => {
    it("are known by their hash, and revoked by id or name", async () => {
      const { store } = await open();
      await store.saveKey({ id: "key_1", name: "ci", hash: "h1", isReadOnly: false, createdAt: now });
      await store.saveKey({ id: "key_2", name: "me", hash: "h2", isReadOnly: true, createdAt: now + 1 });
      await expect(store.saveKey({ id: "key_3", name: "ci", hash: "h3", isReadOnly: false, createdAt: now })).rejects.toMatchObject({ code: "PD_CONFLICT" });
      expect((await store.listKeys()).map(({ name }) => name)).toEqual(["me", "ci"]);
      expect([(await store.findKey("h2"))?.isReadOnly, await store.findKey("h3")]).toEqual([true, undefined]);
      expect([await store.deleteKey("ci"), await store.deleteKey("key_2"), await store.deleteKey("ci")]).toEqual([true, true, false]);
      expect([await store.listKeys(), await store.findKey("h1")]).toEqual([[], undefined]);
    });
  });

  describe("saved components", () => {
    it("are published once in each version, listed newest first, and go when nobody needs them", async () => {
      const { store } = await open();
      const first = component("sc_1");
      const second = { ...component("sc_2"), createdAt: now + 1, definition: { ...first.definition, version: "2" } };
      expect([await store.publishComponent(first), await store.publishComponent({ ...first, id: "sc_3" }), await store.publishComponent(second)]).toEqual([
        true,
        false,
        true,
      ]);
      expect([(await store.listComponents()).map(({ id }) => id), (await store.getComponentByKey("k"))?.id]).toEqual([["sc_2", "sc_1"], "sc_2"]);
      await store.beginDeploy(source("dc_a", "sc_1"), first);
      await store.unpublishComponent("sc_2");
      await store.unpublishComponent("sc_1");
      expect([(await store.listComponents()).map(({ id }) => id), await store.getComponentByKey("k")]).toEqual([["sc_1"], undefined]);
      await store.deleteSource("dc_a");
      expect(await store.listComponents()).toEqual([]);
    });
  });

  it("an identity stays the same", async () => {
    const { store, reopen } = await open();
    const first = await store.identity();
    await store.close();
    expect([await (await reopen()).identity(), first.userId.startsWith("u_"), first.workspaceId.startsWith("o_")]).toEqual([first, true, true]);
  });
}

/** Sealing stores have their own format. */
export function secretContract(open: () => Promise<{ store: Store }>): void {
  describe("secrets", () => {
    it("are sampled so that no key, and nothing that lies in clear, is missed", async () => {
      const { store } = await open();
      const sealed = (key: string, n: number) => ({ $sealed: `sealed:1:${key}:${n}` });
      for (let n = 0; n < 20; n++) await store.beginDeploy(source(`dc_${n}`, "sc_a"), component("sc_a"));
      const listed = await store.listSourceSecrets();
      for (const [n, before] of listed.entries())
        await store.replaceSourceSecrets(before, { ...before, configured: sealed("aaaaaaaa", n), env: {}, setAside: {} });
      const [one, two, three] = await store.listSourceSecrets();
      if (one === undefined || two === undefined || three === undefined) return expect.fail();
      await store.replaceSourceSecrets(one, { ...one, env: { $sealed: "sealed:1:bbbbbbbb:1" } });
      await store.replaceSourceSecrets(two, { ...two, setAside: sealed("cccccccc", 2) });
      await store.replaceSourceSecrets(three, { ...three, configured: { token: "clear" } });
      const text = JSON.stringify(await store.sampleSourceSecrets());
      expect(["aaaaaaaa", "bbbbbbbb", "cccccccc", "clear"].filter((part) => !text.includes(part))).toEqual([]);
    });

    it("change their form, unless somebody has changed them since they were read", async () => {
      const { store } = await open();
      await store.beginDeploy(source("dc_a", "sc_a"), component("sc_a"));
      await store.saveAccount(account("apn_1", "main"));
      await store.saveRegistry({ name: "r", kind: "folder", location: "/r" });
      const [[listed], [kept], registry] = await Promise.all([
        store.listSourceSecrets(),
        store.listAccounts(),
        store.listRegistries().then((all) => all.at(-1)),
      ]);
      if (listed === undefined || kept === undefined || registry === undefined) return expect.fail();
      await store.saveWebhook(hook);
      await store.replaceWebhookSecrets({ ...hook, secret: "someone else's" }, { ...hook, secret: "lost" });
      expect(await store.getWebhook("wh_1")).toEqual(hook);
      await store.replaceWebhookSecrets(hook, { ...hook, secret: "new" });
      expect((await store.getWebhook("wh_1"))?.secret).toBe("new");
      await store.scrub();
      const stale = { ...listed, configured: { a: "someone else's" } };
      await store.replaceSourceSecrets(stale, { ...listed, configured: { a: 2 }, env: {} });
      await store.replaceAccountCredentials({ ...kept, credentials: { token: "someone else's" } }, { ...kept, credentials: {} });
      await store.replaceRegistryLocation({ ...registry, location: "/other" }, { ...registry, location: "/new" });
      expect([await store.listSourceSecrets(), await store.getAccount("apn_1"), (await store.listRegistries()).at(-1)]).toEqual([[listed], kept, registry]);
    });
  });
}
