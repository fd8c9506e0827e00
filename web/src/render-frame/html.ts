// Shows HTML in place of the frame's own document. The policy of the frame stays in force: none of its scripts runs, and it loads
// nothing.

/** Puts the parsed HTML into the document and tells its height whenever that changes. */
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
