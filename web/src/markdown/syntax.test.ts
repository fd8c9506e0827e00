/** The dialect: what is emphasis, a formula, a footnote, a tag; and which URLs of images are loaded. */
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

/** The inline content as HTML, with formulas as ⟨tex⟩. */
function inline(text: string): string {
  return tokensToHtml(lex(text, {}, false))
    .trim()
    .replace(/^<p>|<\/p>$/g, "")
    .replace(/<span class="md-math[^>]*>([^<]*)<\/span>/g, "⟨$1⟩")
    .replace(/ (?:dir|target|rel)="[^"]*"/g, "");
}
const check = (text: string, expected: string) => expect(inline(text)).toBe(expected);

describe("emphasis", () => {
  test.each([
    ["他说**“你好”**了", "他说<strong>“你好”</strong>了"],
    ["**注意：**请看", "<strong>注意：</strong>请看"],
    ["**Note:**text", "<strong>Note:</strong>text"],
    ["a**(b)**c", "a<strong>(b)</strong>c"],
    ["中~~「删」~~文", "中<del>「删」</del>文"],
    ["x**(n-1) + y**(m)", "x**(n-1) + y**(m)"],
    ["2*3*4 and a*b*c", "2*3*4 and a*b*c"],
    ["fan*tas*tic", "fan<em>tas</em>tic"],
    ["~3 or ~4", "~3 or ~4"],
    ["__init__.py calls __len__()", "__init__.py calls __len__()"],
    ["__bold__ text", "<strong>bold</strong> text"],
    ["第一行\n第二行\nline", "第一行第二行\nline"],
    ["Text\n2. two\n• three", "Text<br>\n2. two<br>\n• three"],
  ])("%s", check);
});

describe("formulas", () => {
  test.each([
    ["设$x$为", "设⟨x⟩为"],
    ["Let $x$is", "Let ⟨x⟩is"],
    ["PATH=$HOME/bin:$PATH", "PATH=$HOME/bin:$PATH"],
    ["in $HOME/bin:$PATH", "in $HOME/bin:$PATH"],
    ["US$5 and A$7 or 5$ and 10$", "US$5 and A$7 or 5$ and 10$"],
    ["$5 and $10, but $5x=10$", "$5 and $10, but ⟨5x=10⟩"],
    ["\\(x\\), \\(ABC\\), \\( 3 \\) and \\(n-1\\)", "⟨x⟩, ⟨ABC⟩, ⟨3⟩ and ⟨n-1⟩"],
    ["\\[Your Name\\] \\[1\\] \\(if any\\)", "[Your Name] [1] (if any)"],
    ["\\[x = 1\\] and \\(\\sin x\\)", "⟨x = 1⟩ and ⟨\\sin x⟩"],
  ])("%s", check);
});

describe("tags", () => {
  test.each([
    ["H<sub>2</sub>O", "H<sub>2</sub>O"],
    ["<KBD>**Ctrl**</KBD>", "<kbd><strong>Ctrl</strong></kbd>"],
    ["<b onclick=x()>y</b>", "&lt;b onclick=x()&gt;y&lt;/b&gt;"],
    ["<b>never closed", "&lt;b&gt;never closed"],
    ["<mark><script>x</script></mark>", "<mark>&lt;script&gt;x&lt;/script&gt;</mark>"],
    ["Vec<String> & <T>", "Vec&lt;String&gt; &amp; &lt;T&gt;"],
  ])("%s", check);
});

describe("bare addresses", () => {
  test.each([
    ["见https://a.example/x。好", '见<a href="https://a.example/x">https://a.example/x</a>。好'],
    ["https://a.example/路径，好", '<a href="https://a.example/路径">https://a.example/路径</a>，好'],
  ])("%s", check);
});
