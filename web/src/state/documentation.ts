/** The documentation of this version, which the server has beside the page. */

import { withBase } from "../api/base.ts";

/** The address in the page of a reference such as `docs/team/groups.md#permissions`. */
export const helpPath = (reference: string): string =>
  `/help/${reference.replace(/^docs\//, "").replace(/\.md(?=#|$)/, "")}`;

/** The page's Markdown; `null` if there is no such page. */
export async function loadDocumentation(page: string, signal: AbortSignal): Promise<string | null> {
  const response = await fetch(withBase(`/documentation/${page}.txt`), { signal });
  // For an unknown path, the server sends the page itself.
  const isText = response.headers.get("content-type")?.startsWith("text/plain") === true;
  return response.ok && isText ? response.text() : null;
}

/** Where a link of a page leads: to a page here, out, or nowhere (`undefined`), such as into the source code. */
function targetOf(address: string, page: string): string | undefined {
  if (/^(https?:|mailto:)/i.test(address)) return address;
  if (address.startsWith("#")) return `/help/${page}${address}`;
  const { pathname, hash } = new URL(address, `https://base.invalid/docs/${page}.md`);
  const isPage = pathname.startsWith("/docs/") && pathname.endsWith(".md");
  const isDecision = pathname.startsWith("/docs/decisions/");
  return isPage && !isDecision ? helpPath(`${pathname.slice(1)}${hash}`) : undefined;
}

/** The title of a page, and its text with links that work in the web app. */
export function readPage(markdown: string, page: string): { title: string; text: string } {
  let title = "";
  let fence = "";
  let prose: string[] = [];
  const done: string[] = [];
  const finishProse = () => {
    if (prose.length > 0) done.push(linked(prose.join("\n"), page));
    prose = [];
  };
  for (const line of markdown.split("\n")) {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
    if (fence !== "" || mark !== "") {
      finishProse();
      done.push(line);
      if (fence === "") fence = mark;
      else if (mark.startsWith(fence)) fence = "";
    } else if (title === "" && line.startsWith("# ")) {
      title = line.slice(2).trim();
    } else if (!line.startsWith("<!--")) {
      prose.push(line);
    }
  }
  finishProse();
  return { title, text: done.join("\n") };
}

/** A label may be broken over two lines, and has no brackets but those of code. */
const link = /(?<!!)\[((?:`[^`]*`|[^[\]`])+)\]\(([^()\s]+)\)/g;

const linked = (prose: string, page: string) =>
  prose.replace(link, (whole, label: string, address: string) => {
    const target = targetOf(address, page);
    return target === undefined ? label : target === address ? whole : `[${label}](${target})`;
  });

/** The anchor of a heading, as forges make it. */
export const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
