import { STORE_DEFAULTS } from "../support/store.ts";
import { cp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { Store } from "../../src/ports/stores/store.ts";
import { keysOf, openSealedStore, sealedTextsIn } from "../../src/store/sealed-store.ts";
import { memoryStore } from "../../src/store/memory/memory-store.ts";
import { Shelves } from "../../src/store/memory/shelves.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { PdError } from "../../src/domain/errors.ts";
import type { KeyringUse } from "../../src/ports/vault.ts";
import type { Keyring } from "../../src/system/keys/os-keyring.ts";
import { openDatabase } from "../../src/database/database.ts";
import { silentLog } from "../../src/system/log.ts";
import { programFile } from "../../src/system/program-files.ts";
import { openVault } from "../../src/system/keys/secret-key.ts";
import { deliveryContract } from "../contract/deliveries.ts";
import { component, run as commitOf, source, storeContract } from "../contract/store.ts";
import { raceContract } from "../contract/races.ts";
import { workflowContract } from "../contract/workflows.ts";
import { sharedDataContract } from "../contract/shared-data.ts";
import { temporaryFolder } from "../support/home.ts";

const HUSH = "hush-hush-value";

async function openClear(folder: string): Promise<Store> {
  const identity = { userId: "u_1", workspaceId: "o_1" } as const;
  const store = await openSqliteStore({
    path: join(folder, "test.db"),
    migrations: programFile("migrations"),
    entry: programFile("writer.cjs"),
    ...STORE_DEFAULTS,
    identity,
  });
  onTestFinished(() => store.close());
  return store;
}

interface VaultGiven {
  readonly environment?: Record<string, string>;
  readonly use?: KeyringUse;
  readonly keyring?: Keyring;
}

function vaultOf(folder: string, { environment = {}, use = "never", keyring = new MemoryKeyring() }: VaultGiven = {}, inUse: ReadonlySet<string> = new Set()) {
  return openVault({ keyFile: join(folder, "secret-key"), keyring, log: silentLog, use, environment, inUse });
}

async function openAsServer(clear: Store, folder: string, given: VaultGiven) {
  const sealedTexts = await sealedTextsIn(clear);
  return openSealedStore(clear, await vaultOf(folder, given, keysOf(sealedTexts)), sealedTexts);
}

async function openSealed(folder: string, given: VaultGiven = {}) {
  const clear = await openClear(folder);
  return openAsServer(clear, folder, given);
}

/** Fails once at step `failsAt`, before or after the action. */
class MemoryKeyring implements Keyring {
  readonly entries = new Map<string, string>();
  isLocked = false;
  failsAt: { step: number; readonly isDone: boolean } | undefined;

  read(name: string): Promise<string | undefined> {
    return this.#answer(() => (this.isLocked ? undefined : this.entries.get(name)));
  }

  write(name: string, text: string): Promise<void> {
    return this.#answer(() => {
      if (this.isLocked) throw unusable();
      this.entries.set(name, text);
    });
  }

  remove(name: string): Promise<void> {
    return this.#answer(() => void this.entries.delete(name));
  }

  async #answer<Value>(work: () => Value): Promise<Value> {
    const isLost = this.failsAt !== undefined && --this.failsAt.step === 0;
    if (isLost && this.failsAt?.isDone !== true) throw unusable();
    const value = work();
    if (isLost) throw unusable();
    return value;
  }
}

function unusable(): PdError {
  return new PdError("PD_KEYRING_UNUSABLE", "Cannot use the keyring of this machine: it is locked");
}

const webhook = {
  id: "wh_1",
  url: "http://127.0.0.1/",
  active: true,
  secret: `whsec_${HUSH}`,
  oldSecrets: [{ secret: `old-${HUSH}`, until: 9 }],
  createdAt: 1,
  updatedAt: 1,
} as const;
const registry = { name: "r", kind: "git", location: `https://me:${HUSH}@example.com/r.git` } as const;
const planted = { ...source("dc_a", "sc_a"), configured: { token: HUSH }, setAside: { earlier: HUSH }, env: { KEY: HUSH } };

async function plant(store: Store): Promise<void> {
  await store.beginDeploy(planted, component("sc_a"));
  await store.finishDeploy("dc_a", []);
  await store.saveWebhook(webhook);
  await store.saveRegistry(registry);
}

/** Changes the database as another program would. */
function changeByHand(folder: string, assignment: string): void {
  const db = openDatabase(join(folder, "test.db"), { timeoutMs: 5000 });
  db.exec(`update deployed_components set ${assignment}`);
  db.close();
}

async function readBack(store: Store): Promise<unknown[]> {
  return [
    (await store.getSource("dc_a"))?.source,
    (await store.listSources())[0]?.source,
    await store.getWebhook("wh_1"),
    (await store.listRegistries()).at(-1),
  ];
}

async function leaks(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  const texts = await Promise.all(names.map((name) => readFile(join(folder, name), "latin1")));
  return names.filter((_name, index) => texts[index]?.includes(HUSH));
}

describe("the sealed store", () => {
  const place = async () => {
    const [folder, clear] = [await temporaryFolder(), memoryStore(new Shelves({ userId: "u_1", workspaceId: "o_1" }))];
    const open = (): Promise<Store> => openAsServer(clear, folder, {});
    return { store: await open(), reopen: open };
  };
  deliveryContract(async () => (await place()).store);
  storeContract(place);
  sharedDataContract(place);
  raceContract(place);
  workflowContract(place);

  it("keeps values, variables, signing keys and addresses where nobody can read them, and hands them back", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.changeWebhook("wh_1", { secret: `new-${HUSH}` }, 5);
    expect(await store.getWebhook("wh_1")).toMatchObject({ secret: `new-${HUSH}`, oldSecrets: [{ secret: webhook.secret }, { secret: `old-${HUSH}` }] });
    expect((await readBack(store)).slice(0, 2)).toEqual([planted, planted]);
    expect((await store.listRegistries()).at(-1)).toEqual(registry);
    await store.close();
    expect(await leaks(folder)).toEqual([]);
  });

  it("opens each secret of a source by itself: one that cannot be opened hides no other", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.close();
    const clear = await openClear(folder);
    const [before] = await clear.listSourceSecrets();
    if (before === undefined) return expect.fail();
    // This value was sealed for another place.
    await clear.replaceSourceSecrets(before, { ...before, setAside: before.env });
    await clear.close();
    const [listed] = await (await openSealed(folder)).listSources();
    expect([listed?.source.configured, listed?.source.env]).toEqual([planted.configured, planted.env]);
    expect(() => listed?.source.setAside).toThrow("Cannot open the secrets");
  });

  it("keeps what third parties answered a step where nobody can read it, and hands it back", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await store.beginDeploy(source("p_a", "sc_w"), component("sc_w", true), { steps: [] });
    await store.finishDeploy("p_a", []);
    const { fence } = await store.open("p_a");
    const begun = { id: "run_1", workflowId: "p_a", version: 1, trigger: { kind: "manual", event: {} }, state: "running", startedAt: 1, wakes: 0 } as const;
    const step = {
      path: "0",
      namespace: "s",
      state: "done",
      attempt: 1,
      runs: 1,
      exports: {},
      outcome: { kind: "returned" },
      startedAt: 1,
      durationMs: 1,
    } as const;
    await store.beginRun(begun, []);
    await store.commit(commitOf(fence, "p_a", "inv_1", { step: { run: begun, record: step, recording: HUSH } }));
    expect([...(await store.recordings("run_1"))]).toEqual([["0", HUSH]]);
    await store.close();
    expect(await leaks(folder)).toEqual([]);
  });

  it("seals what an earlier version left in clear, and leaves nothing of it in the files", async () => {
    const folder = await temporaryFolder();
    const clear = await openClear(folder);
    await plant(clear);
    await clear.close();
    expect(await leaks(folder)).toEqual(["test.db"]);
    const store = await openSealed(folder);
    expect(await readBack(store)).toEqual([planted, planted, webhook, registry]);
    await store.close();
    expect(await leaks(folder)).toEqual([]);
  });

  it("is sealed with a new key on request; one that was cut off half way is finished at the next start", async () => {
    const folder = await temporaryFolder();
    const keyFile = join(folder, "secret-key");
    const store = await openSealed(folder);
    await plant(store);
    const first = await readFile(keyFile, "utf8");
    await store.rotateSecrets();
    expect(await readBack(store)).toEqual([planted, planted, webhook, registry]);
    const second: { keys: string[] } = JSON.parse(await readFile(keyFile, "utf8"));
    expect([second.keys.length, first.includes(second.keys[0] ?? "")]).toEqual([1, false]);
    // An interrupted rotation: only the webhook has the newer key.
    const vault = await vaultOf(folder);
    await vault.rotate();
    const clear = await openClear(folder);
    const [before] = await clear.listWebhooks();
    if (before !== undefined) await clear.replaceWebhookSecrets(before, { id: before.id, secret: vault.seal(webhook.secret, "webhook wh_1"), oldSecrets: [] });
    await Promise.all([store.close(), clear.close()]);
    const again = await openSealed(folder);
    expect(await readBack(again)).toEqual([planted, planted, { ...webhook, oldSecrets: [] }, registry]);
    const third: { keys: string[] } = JSON.parse(await readFile(keyFile, "utf8"));
    expect([third.keys.length, third.keys[0] === second.keys[0]]).toEqual([1, false]);
    const raw = await openClear(folder);
    expect(
      JSON.stringify([(await raw.listSources()).map(({ source }) => source), await raw.listWebhooks(), await raw.listRegistries()]).match(/sealed:1:\w+/g),
    ).toHaveLength(6);
  });

  it("reads no more secrets than it takes to know the keys, at a start that finds nothing to do", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.close();
    const clear = await openClear(folder);
    const [reads, samples] = [vi.spyOn(clear, "listSourceSecrets"), vi.spyOn(clear, "sampleSourceSecrets")];
    await openAsServer(clear, folder, {});
    expect([reads.mock.calls.length, samples.mock.calls.length]).toEqual([0, 1]);
  });

  it("gives up an earlier key at the next start when nothing is sealed with it, and not before", async () => {
    const folder = await temporaryFolder();
    const keyFile = join(folder, "secret-key");
    const keysNow = async (): Promise<string[]> => {
      const kept: { keys: string[] } = JSON.parse(await readFile(keyFile, "utf8"));
      return kept.keys;
    };
    const addKeys = async (keys: readonly string[]): Promise<void> =>
      writeFile(keyFile, JSON.stringify({ ...JSON.parse(await readFile(keyFile, "utf8")), keys: [...(await keysNow()), ...keys] }));
    const store = await openSealed(folder);
    await store.saveWebhook(webhook);
    const earlier = await vaultOf(folder);
    const earlierKeys = await keysNow();
    await store.rotateSecrets();
    await store.close();
    // Only one old secret has the earlier key.
    const clear = await openClear(folder);
    const [before] = await clear.listWebhooks();
    const left = { secret: earlier.seal("left", "webhook wh_1"), until: 9e15 };
    if (before !== undefined) await clear.replaceWebhookSecrets(before, { ...before, oldSecrets: [left] });
    await clear.close();
    await addKeys(earlierKeys);
    const again = await openSealed(folder);
    expect([(await keysNow()).length, (await again.getWebhook("wh_1"))?.oldSecrets]).toEqual([1, [{ secret: "left", until: 9e15 }]]);
    await again.close();
    // Simulates an interruption before the key's removal.
    await addKeys(earlierKeys);
    await openSealed(folder);
    expect(await keysNow()).toHaveLength(1);
  });

  it("may be rotated while it is written to, and again meanwhile: everything opens afterwards", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    const rotations = [store.rotateSecrets(), store.rotateSecrets(), store.rotateSecrets()];
    const changes = ["a", "b", "c", "d"].map((secret) => store.changeWebhook("wh_1", { secret }, 5));
    await Promise.all([...rotations, ...changes]);
    expect(await store.getWebhook("wh_1")).toMatchObject({ secret: "d" });
    await store.close();
    const again = await openSealed(folder);
    expect((await readBack(again)).slice(0, 2)).toEqual([planted, planted]);
    expect((await again.getWebhook("wh_1"))?.oldSecrets.map(({ secret }) => secret)).toContain("c");
  });

  it("opens after a rotation what was read before it, and not used", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    const read = [await store.getSource("dc_a"), ...(await store.listSources())];
    for (let times = 0; times < 2; times++) await store.rotateSecrets();
    for (const found of read) expect(found?.source).toMatchObject(planted);
    const { keys }: { keys: string[] } = JSON.parse(await readFile(join(folder, "secret-key"), "utf8"));
    expect(keys).toHaveLength(1);
  });

  it("does not open with another key, nor what was moved from elsewhere, and says so", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.close();
    const clear = await openClear(folder);
    const [one] = await clear.listSources();
    const { configured = {}, setAside = {}, env = {} } = one?.source ?? {};
    await clear.beginDeploy({ ...source("dc_b", "sc_a"), configured, setAside, env }, component("sc_a"));
    await clear.finishDeploy("dc_b", []);
    await clear.close();
    const again = await openSealed(folder);
    const [moved, own] = await Promise.all(["dc_b", "dc_a"].map((id) => again.getSource(id)));
    // Listing opens no secrets, so an unreadable one affects no other source.
    expect([(await again.listSources()).length, own?.source.configured]).toEqual([2, planted.configured]);
    expect(() => moved?.source.configured).toThrow(/values of dc_b: it was changed, or copied/);
    await again.close();
    await rm(join(folder, "secret-key"));
    await expect(openSealed(folder)).rejects.toMatchObject({
      code: "PD_SECRET_KEY_WRONG",
      message: expect.stringMatching(/they are sealed with key \w{8}, and this server has no key/),
    });
    // A new key would look like the right one.
    expect(await readdir(folder)).not.toContain("secret-key");
    await writeFile(join(folder, "secret-key"), "{}");
    await expect(openSealed(folder)).rejects.toMatchObject({ code: "PD_SECRET_KEY_WRONG" });
  });

  it("is sealed with a new key though one secret cannot be opened: that one stays as it is, and starts go on", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.saveWebhook({ ...webhook, id: "wh_2", url: "http://127.0.0.1/2" });
    const clear = await openClear(folder);
    const [one] = await clear.listSources();
    const { configured = {}, setAside = {}, env = {} } = one?.source ?? {};
    await clear.beginDeploy({ ...source("dc_b", "sc_a"), configured, setAside, env }, component("sc_a"));
    await clear.finishDeploy("dc_b", []);
    const [first, second] = await clear.listWebhooks();
    if (first === undefined || second === undefined) throw new Error("there are two");
    await clear.replaceWebhookSecrets(second, { ...second, secret: first.secret });
    expect(await store.rotateSecrets()).toBe(2);
    await Promise.all([store.close(), clear.close()]);
    const again = await openSealed(folder);
    expect(await readBack(again)).toMatchObject([planted, planted, {}, registry]);
    const [moved] = (await again.listWebhooks()).filter(({ id }) => id === second.id);
    expect(() => moved?.secret).toThrow(`webhook ${second.id}: it was changed, or copied`);
    expect(await again.getWebhook(first.id)).toMatchObject({ secret: webhook.secret });
    await expect(again.listSources().then((all) => all.map(({ source: each }) => each.configured))).rejects.toThrow("values of dc_b");
  });

  it("does not try for ever what another hand has written in another way", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.close();
    changeByHand(folder, `configured = '{ "token":  "by hand" }'`);
    const again = await openSealed(folder);
    expect((await again.getSource("dc_a"))?.source.configured).toEqual({ token: "by hand" });
    expect(await again.getWebhook("wh_1")).toEqual(webhook);
  });

  it("starts beside a source whose values are no JSON, which then tells", async () => {
    const folder = await temporaryFolder();
    const store = await openSealed(folder);
    await plant(store);
    await store.close();
    changeByHand(folder, "env = '{'");
    const again = await openSealed(folder);
    expect(await again.getWebhook("wh_1")).toEqual(webhook);
    await expect(again.getSource("dc_a").then((found) => found?.source.env)).rejects.toThrow();
    // The old key is kept, so that the secret can be repaired.
    expect(await again.rotateSecrets()).toBe(1);
    await again.close();
    changeByHand(folder, "env = '{}'");
    expect((await (await openSealed(folder)).getSource("dc_a"))?.source.configured).toEqual(planted.configured);
  });

  it("takes its key from PD_SECRET_KEY, and the one before from PD_SECRET_KEY_OLD", async () => {
    const folder = await temporaryFolder();
    const [one, two] = ["1", "2"].map((digit) => Buffer.alloc(32, digit).toString("base64"));
    const store = await openSealed(folder, { environment: { PD_SECRET_KEY: one ?? "" } });
    await plant(store);
    await expect(store.rotateSecrets()).rejects.toMatchObject({ code: "PD_BAD_INPUT" });
    expect(await readdir(folder)).not.toContain("secret-key");
    await store.close();
    await (await openSealed(folder, { environment: { PD_SECRET_KEY: two ?? "", PD_SECRET_KEY_OLD: one ?? "" } })).close();
    expect(await readBack(await openSealed(folder, { environment: { PD_SECRET_KEY: two ?? "" } }))).toEqual([planted, planted, webhook, registry]);
    await expect(vaultOf(folder, { environment: { PD_SECRET_KEY: "short" } })).rejects.toMatchObject({ code: "PD_SECRET_KEY_WRONG" });
  });

  it("keeps its key file for its owner alone", async () => {
    const folder = await temporaryFolder();
    await openSealed(folder);
    const { mode } = await stat(join(folder, "secret-key"));
    expect(mode & 0o777).toBe(0o600);
  });

  it("keeps the key of a new home in the keyring where there is one, and moves it when it is told to", async () => {
    const folder = await temporaryFolder();
    const keyring = new MemoryKeyring();
    const keyFile = () => readFile(join(folder, "secret-key"), "utf8");
    const store = await openSealed(folder, { use: "auto", keyring });
    await plant(store);
    await store.rotateSecrets();
    await store.close();
    const [key = ""] = JSON.parse([...keyring.entries.values()][0] ?? "{}").keys;
    expect([keyring.entries.size, key.length, (await keyFile()).includes(key)]).toEqual([1, 44, false]);
    keyring.isLocked = true;
    await expect(openSealed(folder, { use: "auto", keyring })).rejects.toMatchObject({
      code: "PD_SECRET_KEY_WRONG",
      message: expect.stringContaining("or is locked"),
    });
    keyring.isLocked = false;
    const moved = await openSealed(folder, { use: "never", keyring });
    expect([await readBack(moved), keyring.entries.size, (await keyFile()).includes(key)]).toEqual([[planted, planted, webhook, registry], 0, true]);
    await moved.close();
    keyring.isLocked = true;
    // Only a setting moves the key.
    await (await openSealed(folder, { use: "auto", keyring })).close();
    await expect(openSealed(folder, { use: "always", keyring })).rejects.toMatchObject({ code: "PD_KEYRING_UNUSABLE" });
    expect((await keyFile()).includes(key)).toBe(true);
    keyring.isLocked = false;
    const back = await openSealed(folder, { use: "always", keyring });
    expect([await readBack(back), keyring.entries.size, (await keyFile()).includes(key)]).toEqual([[planted, planted, webhook, registry], 1, false]);
  });

  it.each(["always", "never"] as const)("loses no key when moving it there is cut off at any step: %s", async (use) => {
    for (let step = 1; step <= 4; step++)
      for (const isDone of [false, true]) {
        const folder = await temporaryFolder();
        const keyring = new MemoryKeyring();
        const store = await openSealed(folder, { use: use === "always" ? "never" : "always", keyring });
        await plant(store);
        await store.close();
        keyring.failsAt = { step, isDone };
        const [moved] = await Promise.allSettled([openSealed(folder, { use, keyring })]);
        if (moved.status === "fulfilled") await moved.value.close();
        else expect(moved.reason).toMatchObject({ code: "PD_KEYRING_UNUSABLE" });
        keyring.failsAt = undefined;
        const again = await openSealed(folder, { use: "auto", keyring });
        expect(await readBack(again)).toEqual([planted, planted, webhook, registry]);
        await again.close();
      }
  });

  it("is not wanted where the one that everything is sealed with is given", async () => {
    const [folder, keyring] = [await temporaryFolder(), new MemoryKeyring()];
    const store = await openSealed(folder, { use: "always", keyring });
    await plant(store);
    await store.close();
    const [key = ""] = JSON.parse([...keyring.entries.values()][0] ?? "{}").keys;
    const gone = new MemoryKeyring();
    await expect(openSealed(folder, { use: "auto", keyring: gone })).rejects.toMatchObject({ code: "PD_SECRET_KEY_WRONG" });
    const wrong = { PD_SECRET_KEY: Buffer.alloc(32, "2").toString("base64") };
    await expect(openSealed(folder, { environment: wrong, keyring: gone })).rejects.toMatchObject({ code: "PD_SECRET_KEY_WRONG" });
    const rescued = await openSealed(folder, { environment: { PD_SECRET_KEY: key }, keyring: gone });
    expect(await readBack(rescued)).toEqual([planted, planted, webhook, registry]);
  });

  it("that was copied with its home shares the key in the keyring until one of them makes a new one; then each has its own", async () => {
    const [folder, copy, keyring] = [await temporaryFolder(), join(await temporaryFolder(), "copy"), new MemoryKeyring()];
    const store = await openSealed(folder, { use: "always", keyring });
    await plant(store);
    await store.close();
    await cp(folder, copy, { recursive: true });
    const copied = await openSealed(copy, { use: "auto", keyring });
    await copied.rotateSecrets();
    expect(await readBack(copied)).toEqual([planted, planted, webhook, registry]);
    expect(keyring.entries.size).toBe(2);
    await copied.close();
    await (await openSealed(copy, { use: "never", keyring })).close();
    expect(keyring.entries.size).toBe(1);
    expect(await readBack(await openSealed(folder, { use: "auto", keyring }))).toEqual([planted, planted, webhook, registry]);
  });

  it("keeps the key in a file where no keyring can be used", async () => {
    const folder = await temporaryFolder();
    const keyring = new MemoryKeyring();
    keyring.isLocked = true;
    await openSealed(folder, { use: "auto", keyring });
    expect(await readFile(join(folder, "secret-key"), "utf8")).toContain('{"keys":["');
  });

  it("forgets the keys of the home once everything is sealed with PD_SECRET_KEY", async () => {
    const folder = await temporaryFolder();
    const keyring = new MemoryKeyring();
    const store = await openSealed(folder, { use: "auto", keyring });
    await plant(store);
    await store.close();
    const environment = { PD_SECRET_KEY: Buffer.alloc(32, "1").toString("base64") };
    await (await openSealed(folder, { environment, keyring })).close();
    expect([keyring.entries.size, (await readdir(folder)).includes("secret-key")]).toEqual([0, false]);
    const outside = await openSealed(folder, { environment, keyring });
    expect(await readBack(outside)).toEqual([planted, planted, webhook, registry]);
    await outside.close();
    const wrong = { PD_SECRET_KEY: Buffer.alloc(32, "2").toString("base64") };
    await expect(openSealed(folder, { environment: wrong, keyring })).rejects.toMatchObject({ code: "PD_SECRET_KEY_WRONG" });
    const back = await openSealed(folder, { environment: { PD_SECRET_KEY_OLD: environment.PD_SECRET_KEY }, keyring });
    await back.close();
    expect(await readBack(await openSealed(folder, { keyring }))).toEqual([planted, planted, webhook, registry]);
  });
});
