import DOMPurify from "dompurify";
import { Marked } from "marked";
import { useEffect, useRef } from "preact/hooks";
import { escapedHtml } from "../../../domain/text/html.ts";

/** Descriptions are untrusted. */
const ALLOWED = { ALLOWED_TAGS: ["p", "a", "strong", "em", "code", "pre", "ul", "ol", "li", "br", "blockquote", "h3", "h4", "del"], ALLOWED_ATTR: ["href"] };
const reader = new Marked({ gfm: true, renderer: { html: ({ text }) => escapedHtml(text) } });
const LINK = /^https?:\/\//i;

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
