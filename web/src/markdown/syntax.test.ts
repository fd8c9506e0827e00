/** Images in a text: which URLs are loaded at all, and which stay text. */
import { describe, expect, test } from "vitest";
import { lex, tokensToHtml } from "./syntax.ts";

/** The URL that the page may load for an image; `undefined` if only its alt text is shown. */
function asked(address: string): string | undefined {
  const html = tokensToHtml(lex(`![words](${address})`, {}, false));
  return /data-src="([^"]*)"/.exec(html)?.[1];
}

describe("a picture's address", () => {
  test.each([
    ["plot.png", "/plot.png"],
    ["./plots/rain-2025.jpeg", "/plots/rain-2025.jpeg"],
    ["/plots/rain.webp", "/plots/rain.webp"],
    ["<plots/the rain.gif>", "/plots/the rain.gif"],
    ["график.png", "/график.png"],
    ["https://elsewhere.example/x.png", "https://elsewhere.example/x.png"],
  ])("%s is asked for as %s", (address, expected) => expect(asked(address)).toBe(expected));

  test.each([
    "../secret.png",
    "notes.md",
    "drawing.svg",
    "javascript:alert(1).png",
    "data:text/html,x.png",
    "file:///etc/x.png",
    "plot.png?x=1",
    "plot.png#x",
  ])("%s stays words", (address) => expect(asked(address)).toBeUndefined());
});
