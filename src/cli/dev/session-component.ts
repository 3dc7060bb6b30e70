import { LocalComponent } from "../../code/local-component.ts";
import type { SessionSettings } from "./session-settings.ts";

/** Quitting cancels a compilation. */
export async function openComponent({ path, root, stop }: Pick<SessionSettings, "path" | "root" | "stop">): Promise<LocalComponent> {
  const component = await LocalComponent.open(path, root);
  // The session disposes the component too, and reports errors.
  stop.signal.addEventListener("abort", () => void component.dispose().catch(() => {}), { once: true });
  return component;
}
