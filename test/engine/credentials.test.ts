import { describe, expect, it } from "vitest";
import type { Account, AccountContent } from "../../src/domain/account/account.ts";
import { readProps } from "../../src/domain/props/read-props.ts";
import { accountsOf } from "../../src/engine/accounts/accounts.ts";
import { Credentials } from "../../src/engine/accounts/credentials.ts";
import { keepRenewed } from "../../src/engine/housekeeping.ts";
import type { AccountStore } from "../../src/ports/stores/account-store.ts";
import { silentLog } from "../../src/system/log.ts";
import { oauthServer } from "../../src/system/http/oauth-client.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { Gate } from "../support/gate.ts";
import { eventually } from "../support/runtime.ts";
import { TokenServer } from "../support/token-server.ts";

const HOUR = 60 * 60_000;
const START = Date.UTC(2026, 0, 1);

class MemoryAccounts implements AccountStore {
  readonly kept = new Map<string, Account>();
  isFull = false;
  isUnreadable = false;

  async saveAccount(account: AccountContent): Promise<void> {
    if (this.isFull) throw new Error("disk full");
    this.kept.set(account.id, { ...account, revision: 0 });
  }

  async replaceAccount({ id, revision }: Account, after: AccountContent): Promise<boolean> {
    if (this.isFull) throw new Error("disk full");
    if (this.kept.get(id)?.revision !== revision) return false;
    this.kept.set(id, { ...after, revision: revision + 1 });
    return true;
  }

  async getAccount(id: string): Promise<Account | undefined> {
    return this.kept.get(id);
  }

  async listAccounts(): Promise<readonly Account[]> {
    if (this.isUnreadable) throw new Error("it was changed");
    return [...this.kept.values()];
  }

  async deleteAccount(id: Account["id"]): Promise<void> {
    this.kept.delete(id);
  }
}

async function withAccount(renew: Parameters<typeof TokenServer.start>[0]) {
  const [clock, store, tokens] = [new FakeClock(START), new MemoryAccounts(), await TokenServer.start(renew)];
  const credentials = new Credentials({ store, clock, oauth: oauthServer, log: silentLog });
  const client = { id: "me", secret: "s", tokenUrl: tokens.url };
  await store.saveAccount({
    id: "apn_1",
    name: "demo",
    app: "demo",
    credentials: { oauth_access_token: "t-0", oauth_refresh_token: "r-0" },
    oauth: { flow: "authorization_code", client, scope: "", refreshToken: "r-0", grantedAt: START, expiresAt: START + HOUR },
    createdAt: START,
    updatedAt: START,
  });
  const token = async (): Promise<unknown> => {
    const { configured } = await credentials.reachOf(readProps({ demo: { type: "app", app: "demo" } }).props, { demo: { authProvisionId: "apn_1" } });
    return (configured["demo"] as Record<string, unknown>)["oauth_access_token"];
  };
  return { clock, store, tokens, credentials, token };
}

const granted = (count: number, seconds = 3600) => ({
  body: { access_token: `t-${count}`, refresh_token: `r-${count}`, token_type: "bearer", expires_in: seconds },
});

describe("tokens", () => {
  it("are renewed minutes before they end, not earlier, each time with the newest refresh token", async () => {
    const { clock, tokens, token } = await withAccount((_request, count) => granted(count));
    clock.jumpTo(START + HOUR - 5 * 60_000 - 1);
    expect(await token()).toBe("t-0");
    clock.jumpTo(START + HOUR - 5 * 60_000);
    expect(await token()).toBe("t-1");
    clock.jumpTo(START + 3 * HOUR);
    expect(await token()).toBe("t-2");
    expect(tokens.requests.map(({ form }) => form["refresh_token"])).toEqual(["r-0", "r-1"]);
  });

  it("live from when they were asked for, however long the answer was on its way", async () => {
    const { clock, store, token } = await withAccount(async (_request, count) => {
      clock.jumpTo(START + HOUR + 20 * 60_000);
      return granted(count);
    });
    clock.jumpTo(START + HOUR);
    await token();
    expect(store.kept.get("apn_1")?.oauth).toMatchObject({ grantedAt: START + HOUR, expiresAt: START + 2 * HOUR });
  });

  it("are counted by this machine's clock, whatever a provider's says", async () => {
    const wrong = new Date(START + 400 * 24 * HOUR);
    const claims = Buffer.from(JSON.stringify({ sub: "7", iat: wrong.getTime() / 1000, exp: 1 })).toString("base64url");
    const { clock, tokens, token } = await withAccount((_request, count) => ({
      body: {
        access_token: `t-${count}`,
        token_type: "bearer",
        expires_in: 3600,
        expires_at: 1,
        created_at: wrong.getTime() / 1000,
        id_token: `x.${claims}.y`,
      },
      headers: { date: wrong.toUTCString() },
    }));
    clock.jumpTo(START + HOUR);
    expect([await token(), await token()]).toEqual(["t-1", "t-1"]);
    clock.jumpTo(START + 2 * HOUR);
    expect(await token()).toBe("t-2");
    expect(tokens.requests).toHaveLength(2);
  });

  it("are renewed when this machine's clock was set back: nobody knows how much is left of them", async () => {
    const { clock, tokens, token } = await withAccount((_request, count) => granted(count));
    clock.jumpTo(START - 1000);
    expect(await token()).toBe("t-0");
    clock.jumpTo(START - 3 * HOUR);
    expect([await token(), await token()]).toEqual(["t-1", "t-1"]);
    expect(tokens.requests).toHaveLength(1);
  });

  it("that nothing can renew are good until they end, wherever the clock stands, and then their account says so", async () => {
    const { clock, store, tokens, token } = await withAccount(() => ({ status: 500, body: "" }));
    const account = store.kept.get("apn_1");
    const { refreshToken: _none, ...oauth } = account?.oauth ?? expect.fail();
    if (account !== undefined) await store.saveAccount({ ...account, oauth });
    for (const at of [START - 3 * HOUR, START + HOUR - 1]) {
      clock.jumpTo(at);
      expect(await token()).toBe("t-0");
    }
    clock.jumpTo(START + HOUR);
    await expect(token()).rejects.toMatchObject({ code: "PD_ACCOUNT_UNHEALTHY", message: expect.stringContaining("its token has expired") });
    expect(tokens.requests).toHaveLength(0);
  });

  it("are renewed after the clock was set back, also when a renewal has failed before", async () => {
    const { clock, token } = await withAccount((_request, count) => (count <= 2 ? { status: 503, body: "" } : granted(count)));
    clock.jumpTo(START + HOUR - 60_000);
    expect(await token()).toBe("t-0");
    clock.jumpTo(START - 3 * HOUR);
    expect(await token()).toBe("t-3");
  });

  it("are renewed once, also for whoever has looked at the account before it was renewed", async () => {
    const { clock, store, tokens, credentials } = await withAccount((_request, count) => granted(count));
    const before = store.kept.get("apn_1") ?? expect.fail();
    clock.jumpTo(START + HOUR);
    await credentials.renew(before);
    expect((await credentials.renew(before)).credentials).toMatchObject({ oauth_access_token: "t-1" });
    expect(tokens.requests.map(({ form }) => form["refresh_token"])).toEqual(["r-0"]);
  });

  it("that are still good serve while the provider does not answer; it is asked again after a while", async () => {
    const { clock, tokens, token } = await withAccount(() => ({ status: 503, body: "down" }));
    clock.jumpTo(START + HOUR - 60_000);
    expect([await token(), await token()]).toEqual(["t-0", "t-0"]);
    expect(tokens.requests).toHaveLength(2);
    clock.jumpTo(START + HOUR - 30_000);
    expect(await token()).toBe("t-0");
    expect(tokens.requests).toHaveLength(4);
    clock.jumpTo(START + HOUR);
    await expect(token()).rejects.toMatchObject({ code: "PD_OAUTH_FAILED", message: expect.stringContaining("status 503") });
  });

  it("are asked for once more when an answer was lost on its way", async () => {
    const { clock, tokens, token } = await withAccount((_request, count) => (count === 1 ? undefined : granted(count)));
    clock.jumpTo(START + HOUR);
    expect(await token()).toBe("t-2");
    expect(tokens.requests.map(({ form }) => form["refresh_token"])).toEqual(["r-0", "r-0"]);
  });

  it("are renewed at another address where the provider has one", async () => {
    const { clock, store, tokens, token } = await withAccount((_request, count) => granted(count));
    const account = store.kept.get("apn_1");
    if (account?.oauth !== undefined)
      await store.saveAccount({ ...account, oauth: { ...account.oauth, client: { ...account.oauth.client, refreshUrl: `${tokens.url}/refresh` } } });
    clock.jumpTo(START + HOUR);
    expect([await token(), tokens.requests[0]?.path]).toEqual(["t-1", "/refresh"]);
  });

  it("of accounts that active sources use are renewed before anybody asks for them", async () => {
    const { clock, store, tokens, credentials } = await withAccount((_request, count) => granted(count));
    const stop = new AbortController();
    const source = { active: false, configured: { demo: { authProvisionId: "apn_1" } } };
    const { props } = readProps({ demo: { type: "app", app: "demo" } });
    const users = async () => (source.active ? accountsOf({ source, definition: { props } }) : []);
    const work = keepRenewed({ store, credentials, clock, log: silentLog, signal: stop.signal }, users);
    const grantedAt = () => store.kept.get("apn_1")?.oauth?.grantedAt;
    store.isUnreadable = true;
    await clock.setTo(START + 5 * 60_000);
    store.isUnreadable = false;
    await clock.setTo(START + HOUR - 2 * 60_000);
    await credentials.untilSettled();
    expect([tokens.requests.length, grantedAt()]).toEqual([0, START]);
    source.active = true;
    await clock.setTo(START + HOUR - 60_000);
    await eventually(async () => grantedAt() === START + HOUR - 60_000);
    await clock.setTo(START + HOUR + 30 * 60_000);
    expect(tokens.requests.map(({ form }) => form["refresh_token"])).toEqual(["r-0"]);
    stop.abort();
    await work;
  });

  it("that could not be stored are not handed out, and not lost: they are stored with the next call", async () => {
    const { clock, store, tokens, token } = await withAccount((_request, count) => granted(count));
    clock.jumpTo(START + HOUR);
    store.isFull = true;
    await expect(token()).rejects.toThrow("disk full");
    await expect(token()).rejects.toThrow("disk full");
    store.isFull = false;
    expect([await token(), tokens.requests.length, store.kept.get("apn_1")?.credentials]).toMatchObject(["t-1", 1, { oauth_refresh_token: "r-1" }]);
  });

  it("that could not be stored are stored when the server stops, if that is possible by then", async () => {
    const { clock, store, credentials, token } = await withAccount((_request, count) => granted(count));
    clock.jumpTo(START + HOUR);
    store.isFull = true;
    await expect(token()).rejects.toThrow("disk full");
    store.isFull = false;
    await credentials.close();
    expect(store.kept.get("apn_1")?.credentials).toMatchObject({ oauth_refresh_token: "r-1" });
  });

  it("that are on their way when the server stops are stored; a provider that does not answer is left", async () => {
    const gate = await Gate.open();
    const { clock, store, credentials, token } = await withAccount(async (_request, count) => {
      await fetch(gate.url);
      return count === 1 ? granted(count) : new Promise(() => {});
    });
    clock.jumpTo(START + HOUR);
    const waiting = token();
    await gate.reached;
    const settled = credentials.untilSettled();
    gate.release();
    await settled;
    expect([await waiting, store.kept.get("apn_1")?.credentials["oauth_refresh_token"]]).toEqual(["t-1", "r-1"]);
    clock.jumpTo(START + 3 * HOUR);
    const left = token();
    credentials.cutOff();
    await expect(left).rejects.toMatchObject({ code: "PD_STOPPING" });
    await expect(token()).rejects.toMatchObject({ code: "PD_STOPPING" });
    await credentials.untilSettled();
  });
});
