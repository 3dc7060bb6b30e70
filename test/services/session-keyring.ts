import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { temporaryFolder } from "../support/home.ts";

/** A desktop session with an unlocked keyring. Returns its variables. */
export async function startKeyringSession(): Promise<Record<string, string>> {
  const folder = await temporaryFolder();
  const env = { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_RUNTIME_DIR: folder };
  const bus = await started("dbus-daemon", ["--session", "--nofork", "--print-address=1"], env);
  const session = { ...env, DBUS_SESSION_BUS_ADDRESS: bus.said.trim() };
  // Once it owns its name on the bus.
  const keyring = await started("gnome-keyring-daemon", ["--unlock", "--foreground", "--components=secrets", `--control-directory=${folder}`], session, "pw");
  if (!keyring.said.includes("GNOME_KEYRING_CONTROL")) throw new Error(`no keyring: ${keyring.said}`);
  return { DBUS_SESSION_BUS_ADDRESS: session.DBUS_SESSION_BUS_ADDRESS };
}

async function started(command: string, words: readonly string[], env: NodeJS.ProcessEnv, input = ""): Promise<{ said: string }> {
  const child: ChildProcess = spawn(command, words, { env, stdio: ["pipe", "pipe", "ignore"] });
  onTestFinished(async () => {
    const closed = once(child, "close");
    child.kill("SIGKILL");
    await closed;
  });
  child.stdin?.end(input);
  if (child.stdout === null) throw new Error(`${command} has no output`);
  const [said] = await once(child.stdout, "data");
  return { said: String(said) };
}
