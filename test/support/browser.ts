import { type Browser, type BrowserContextOptions, type Page, chromium } from "playwright-core";
import { onTestFinished } from "vitest";

/** Without a network, background connections fill the log. */
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

function sharedBrowser(): Promise<Browser> {
  browser ??= chromium.launch({ executablePath: process.env["CHROMIUM"] ?? "/usr/bin/chromium", args: FLAGS });
  return browser;
}

export async function closeBrowser(): Promise<void> {
  await (await browser)?.close();
  browser = undefined;
}

export interface Window {
  readonly page: Page;
  /** Errors of the page, and violations of its content security policy. */
  readonly complaints: string[];
}

export async function openWindow(options: BrowserContextOptions = {}): Promise<Window> {
  const context = await (await sharedBrowser()).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  // For busy machines. Only a hanging page reaches it.
  context.setDefaultTimeout(120_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) complaints.push(message.text());
  });
  return { page, complaints };
}
