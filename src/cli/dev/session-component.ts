import { LocalComponent } from "../../code/local-component.ts";
import type { SessionSettings } from "./session-settings.ts";

/** The component of a session. Whoever quits does not wait for what is being compiled. */
export async function openComponent({ path, root, stop }: Pick<SessionSettings, "path" | "root" | "stop">): Promise<LocalComponent> {
  const component = await LocalComponent.open(path, root);
  // The session lets go of it as well, and is told what goes wrong.
  stop.signal.addEventListener("abort", () => void component.dispose().catch(() => {}), { once: true });
  return component;
}
