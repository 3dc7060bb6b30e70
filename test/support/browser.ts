import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { onTestFinished } from "vitest";

/** Without these its connections to nowhere fill the log of a closed network. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

let browser: Promise<Browser> | undefined;

/** One browser for all tests; each has windows of its own. */
function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
  return browser;
}

/** The program ends with what has started it. */
export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export interface Window {
  readonly page: Page;
  /** What the page complained of: errors, and breaches of its own policy. */
  readonly complaints: string[];
}

/** A window of its own, with nothing kept from others. */
export async function openWindow(options: BrowserContextOptions = {}): Promise<Window> {
  const context = await (await sharedBrowser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  // Only what hangs runs into it, whatever else the machine does.
  context.setDefaultTimeout(120_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // A request that the server refuses is told by the page itself.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  return { page, complaints };
}
