// Texts that try to run a script, load something or break out of their container. `pwn()` must never be called.

import { hostileDiagrams } from "./diagrams.mjs";

const OUT = "https://leak.invalid";
const run = "pwn()";

const html = [
  `<script>${run}</script>`,
  `<SCRIPT SRC=${OUT}/x.js></SCRIPT>`,
  `<img src=x onerror=${run}>`,
  `<img src="${OUT}/i.png">`,
  `<svg onload=${run}>`,
  `<svg><script>${run}</script></svg>`,
  `<svg><animate onbegin=${run} attributeName=x dur=1s>`,
  `<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=${run}&gt;">`,
  `<iframe srcdoc="<script>parent.${run}</script>"></iframe>`,
  `<iframe src="javascript:parent.${run}"></iframe>`,
  `<object data="data:text/html,<script>${run}</script>"></object>`,
  `<embed src="${OUT}/e.swf">`,
  `<link rel=stylesheet href=${OUT}/s.css>`,
  `<style>@import url(${OUT}/s.css); body{background:url(${OUT}/b.png)}</style>`,
  `<meta http-equiv=refresh content="0;url=${OUT}">`,
  `<base href="${OUT}/">`,
  `<form action=${OUT}><input autofocus onfocus=${run}></form>`,
  `<details open ontoggle=${run}>x</details>`,
  `<video><source onerror=${run}></video>`,
  `<audio src=${OUT}/a.mp3 autoplay>`,
  `<body onload=${run}>`,
  `<input onfocus=${run} autofocus>`,
  `<marquee onstart=${run}>x</marquee>`,
  `<template><script>${run}</script></template>`,
  `<noscript><p title="</noscript><img src=x onerror=${run}>">`,
  `<div\n onmouseover="${run}"\n>x</div>`,
  `<a href="javascript:${run}">x</a>`,
  `<x/onclick=${run}>x</x>`,
  `&lt;img src=x onerror=${run}&gt; &#60;script&#62;${run}&#60;/script&#62;`,
  `<!--><img src=x onerror=${run}>-->`,
  `<![CDATA[<img src=x onerror=${run}>]]>`,
  `<?php ${run} ?><!DOCTYPE x [<!ENTITY y "z">]>`,
  `<br onload=${run}> <br/onload=${run}>`,
  `<b onclick=${run}>x</b> <b/onclick=${run}>x</b> <kbd\nonclick=${run}>x</kbd>`,
  `<sub><img src=x onerror=${run}></sub><mark><script>${run}</script></mark>`,
  `<b></b ><img src=x onerror=${run}></b>`,
  `<details><summary><img src=x onerror=${run}></summary><script>${run}</script></details>`,
  `<details open ontoggle=${run}><summary onclick=${run}>x</summary>y</details>`,
  `<details><summary>x</summary>\n\n<iframe src="javascript:parent.${run}"></iframe>\n\n</details>`,
  `Text[^"onclick=${run}].\n\n[^"onclick=${run}]: <img src=x onerror=${run}>`,
  `[^<svg/onload=${run}>]\n\n[^<svg/onload=${run}>]: x`,
  `> [!NOTE]\n> <img src=x onerror=${run}>`,
  `\\begin{align}\\href{javascript:${run}}{x}\\end{align}`,
];

const links = [
  "javascript:pwn()",
  "JaVaScRiPt:pwn()",
  " javascript:pwn()",
  "java\tscript:pwn()",
  "java&#10;script:pwn()",
  "&#x6A;avascript:pwn()",
  "&#106&#97vascript:pwn()",
  "javascript&colon;pwn()",
  "javascript%3Apwn()",
  "\\javascript:pwn()",
  "\u0001javascript:pwn()",
  "vbscript:pwn()",
  "data:text/html,<script>pwn()</script>",
  "data:text/html;base64,PHNjcmlwdD5wYXJlbnQucHduKCk8L3NjcmlwdD4=",
  "data:image/svg+xml,<svg onload=pwn()>",
  "blob:null/x",
  "file:///etc/passwd",
  "view-source:javascript:pwn()",
  'https://x.y/" onmouseover=pwn() x="',
  "https://x.y/'><img src=x onerror=pwn()>",
  "feed:javascript:pwn()",
];

const linkForms = links.flatMap((target) => [
  `[x](${target})`,
  `[x](<${target}>)`,
  `<${target}>`,
  `[x]\n\n[x]: ${target}\n`,
  `![x](${target})`,
  `![x](<${target}>)`,
]);

const images = [
  `![a](${OUT}/i.png)`,
  `![a](//leak.invalid/i.png)`,
  `![a](/\\leak.invalid/i.png)`,
  `![a][i]\n\n[i]: ${OUT}/i.png\n`,
  `![" onerror=${run} x="](${OUT}/i.png)`,
  `![<img src=x onerror=${run}>](${OUT}/i.png "t' onerror=${run}")`,
  `[![a](${OUT}/i.png)](${OUT})`,
  `![a](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9InB3bigpIj4=)`,
  `![a](data:image/png;base64,AAAA" onerror="${run})`,
  `![a](data:image/png,<svg onload=${run}>)`,
  `| a |\n|---|\n| ![a](${OUT}/i.png) <img src=x onerror=${run}> |\n`,
];

const code = [
  '```"><img src=x onerror=pwn()>\nx\n```',
  '```js" onclick="pwn()\nx\n```',
  "```html\n</code></pre><script>pwn()</script><img src=x onerror=pwn()>\n```",
  "- a\n  ```js'><svg onload=pwn()>\n  x\n  ```\n",
  "`<img src=x onerror=pwn()>`",
  "```constructor\nx\n```\n\n```__proto__\nx\n```",
];

const maths = [
  `$\\href{javascript:${run}}{x}$`,
  `$$\\href{javascript:${run}}{x}$$`,
  `$\\url{javascript:${run}}$`,
  `$\\includegraphics{${OUT}/i.png}$`,
  `$\\htmlData{x=y}{z} \\htmlStyle{background:url(${OUT}/b)}{x}$`,
  `$\\htmlClass{a}{x}\\htmlId{b}{y}$`,
  `$<img src=x onerror=${run}>$`,
  `$\\text{<img src=x onerror=${run}>}$`,
  `\\(\\unicode{x3c}script\\)`,
  `$\\color{red;background:url(${OUT}/b)}{x}$`,
  `$\\def\\x{\\x\\x}\\x$`,
  `$\\rule{1000000em}{1000000em}$`,
  `$x" onclick="${run}$`,
];

const diagrams = hostileDiagrams("leak.invalid").map((source) => "```mermaid\n" + source + "\n```\n");

/** All hostile texts. */
export const hostile = [...html, ...linkForms, ...images, ...code, ...maths, ...diagrams];
