import type { Locator, Page } from "playwright-core";
import { expect } from "vitest";

/** Every flow must work with each way to operate the page. */
export interface Hand {
  press(target: Locator): Promise<void>;
  fill(target: Locator, text: string): Promise<void>;
  choose(target: Locator, label: string): Promise<void>;
  open(row: Locator): Promise<void>;
}

export function mouse(): Hand {
  return {
    press: (target) => target.click(),
    fill: (target, text) => target.fill(text),
    choose: async (target, label) => void (await target.selectOption({ label })),
    open: (row) => row.click(),
  };
}

export function finger(): Hand {
  return { ...mouse(), press: (target) => target.tap(), open: (row) => row.tap() };
}

const MOST_TABS = 200;

/** Uses only the keyboard. Tab must reach every target. */
export function keys(page: Page): Hand {
  const isFocused = async (target: Locator): Promise<boolean> => (await target.and(page.locator(":focus")).count()) > 0;
  const goTo = async (target: Locator): Promise<void> => {
    await target.waitFor({ state: "attached" });
    for (let count = 0; count < MOST_TABS && !(await isFocused(target)); count++) await page.keyboard.press("Tab");
    expect(await isFocused(target)).toBe(true);
    const isSeen = (): Promise<unknown> =>
      page.evaluate(`(() => {
      const { activeElement } = document;
      const style = getComputedStyle(activeElement.shadowRoot?.querySelector(".cm-focused") ?? activeElement);
      return style.outlineStyle !== "none" || style.boxShadow !== "none";
    })()`);
    await expect.poll(isSeen).toBe(true);
  };
  return {
    press: async (target) => {
      await goTo(target);
      await page.keyboard.press("Enter");
    },
    fill: async (target, text) => {
      await goTo(target);
      await page.keyboard.press("Control+a");
      await page.keyboard.insertText(text);
    },
    choose: async (target, label) => {
      await goTo(target);
      await page.keyboard.type(label);
      await page.keyboard.press("Enter");
      await page.keyboard.press("Escape");
    },
    open: async (row) => {
      await row.waitFor();
      await goTo(row.locator("xpath=ancestor::*[@role='listbox']"));
      for (let count = 0; count < MOST_TABS && (await row.getAttribute("aria-selected")) !== "true"; count++) await page.keyboard.press("j");
    },
  };
}
