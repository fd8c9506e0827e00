// Replaces the frame's document with untrusted HTML. The frame's CSP stays in force: none of the HTML's scripts runs,
// and it loads nothing.

/** Puts the parsed HTML into the document and reports its height on every change. */
export function showHtml(html: string, tell: (height: number) => void): void {
  const parsed = new DOMParser().parseFromString(html, "text/html");
  // A document that refreshes itself would only leave the frame empty.
  for (const element of parsed.querySelectorAll("meta[http-equiv], base")) element.remove();
  const root = document.documentElement;
  root.replaceChildren(...[...parsed.documentElement.childNodes].map((node) => document.adoptNode(node)));
  const measure = () => tell(Math.max(root.scrollHeight, document.body.scrollHeight));
  new ResizeObserver(measure).observe(document.body);
  measure();
}
