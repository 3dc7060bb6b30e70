import { expect, it } from "vitest";
import { markdownText } from "../../src/cli/ask/markdown-text.ts";

it("shows Markdown as words, with emphasis and the addresses of links", () => {
  const marks = { bold: (text: string) => `<b>${text}</b>`, cyan: (text: string) => `<c>${text}</c>` };
  const text = '## Setup\n- Open **the** `app` and [read](https://a.example/b "t")\n* <https://c.example>\nx_y_z * 2 [https://d.example](https://d.example)';
  expect(markdownText(text, marks)).toBe(
    "<b>Setup</b>\n• Open <b>the</b> <c>app</c> and read (https://a.example/b)\n• https://c.example\nx_y_z * 2 https://d.example",
  );
});
