import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useEffect, useRef } from "preact/hooks";
import { escapedHtml } from "../../domain/html.ts";

/** What descriptions of strangers may consist of: no script, no style, no picture from elsewhere, no form. */
const ALLOWED = { ALLOWED_TAGS: ["p", "a", "strong", "em", "code", "pre", "ul", "ol", "li", "br", "blockquote", "h3", "h4", "del"], ALLOWED_ATTR: ["href"] };
/** Tags that are written into the text are shown as they are written. */
const reader = new Marked({ gfm: true, renderer: { html: ({ text }) => escapedHtml(text) } });
const LINK = /^https?:\/\//i;

/** A stranger's Markdown as safe HTML; links lead out of the page, and tell nobody where they come from. */
export function Markdown({ text }: { text: string }) {
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const html = reader.parse(text, { async: false });
    const fragment = DOMPurify.sanitize(html, { ...ALLOWED, RETURN_DOM_FRAGMENT: true, ALLOWED_URI_REGEXP: LINK });
    for (const link of fragment.querySelectorAll("a")) {
      link.target = "_blank";
      link.rel = "noopener noreferrer nofollow";
    }
    element.current?.replaceChildren(fragment);
  }, [text]);
  return <div class="markdown" ref={element} />;
}
