/** Search in the settings: entries, pages, headings and labels by the words of a query, best matches first. */
import { t, type Key } from "../../i18n/index.svelte.ts";
import { places, type Part } from "./places.ts";
import type { Entry, SettingsPage } from "./sections.ts";

export interface Found {
  /** Address within the page. */
  href: string;
  title: string;
  /** Where it is, outermost first. */
  path: string[];
}

interface Candidate extends Found {
  /** Texts that lead to it beside its title, normalized. */
  also: string;
  /** Entries before pages, headings and labels. */
  depth: number;
}

const maxFound = 20;

/** For comparison: without case and accents, and with one spelling of each sign. */
const normalized = (text: string) =>
  text
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replace(/[’‘]/g, "'")
    .toLowerCase();

const hrefOf = (page: SettingsPage, key?: Key) => `/settings/${page.name}${key ? `#${key}` : ""}`;

const isOpen = ({ isFor }: Part) => isFor?.() ?? true;

function candidatesOf(entry: Entry): Candidate[] {
  const top = t(entry.title);
  const hasTabs = entry.pages.length > 1;
  return [
    ...(hasTabs ? [{ href: hrefOf(entry.pages[0]), title: top, path: [], also: "", depth: 0 }] : []),
    ...entry.pages.flatMap((page) => candidatesOfPage(page, hasTabs ? [top] : [])),
  ];
}

function candidatesOfPage(page: SettingsPage, path: string[]): Candidate[] {
  const title = t(page.title);
  const below = [...path, title];
  const parts = (places[page.name] ?? []).filter(isOpen);
  const alsoOf = (parts: Part[]) =>
    normalized(
      parts.flatMap(({ also = [], words = "" }) => [words, ...also.map((key) => t(key))]).join("\n"),
    );
  const headings = [...new Set(parts.flatMap(({ heading }) => heading ?? []))];
  return [
    { href: hrefOf(page), title, path, also: alsoOf(parts.filter(({ heading }) => !heading)), depth: 1 },
    ...headings.map((heading) => ({
      href: hrefOf(page, heading),
      title: t(heading),
      path: below,
      also: alsoOf(parts.filter((part) => part.heading === heading)),
      depth: 2,
    })),
    ...parts.flatMap(({ heading, labels = [] }) =>
      labels.map((label) => ({
        href: hrefOf(page, label),
        title: t(label),
        path: heading ? [...below, t(heading)] : below,
        also: "",
        depth: 3,
      })),
    ),
  ];
}

/** How well a word fits, lower is better; `null` if it is neither in the candidate nor in its path. */
function rankOf({ title, path, also }: Candidate, word: string): number | null {
  const text = normalized(title);
  if (text.startsWith(word)) return 0;
  if (text.split(/[^\p{L}\p{N}]+/u).some((own) => own.startsWith(word))) return 1;
  if (text.includes(word)) return 2;
  if (also.includes(word)) return 3;
  return path.some((step) => normalized(step).includes(word)) ? 4 : null;
}

/** Places with all words of the query, at least one of them in the place itself and not only in its path. */
export function findPlaces(query: string, entries: readonly Entry[]): Found[] {
  const words = normalized(query).split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return (
    entries
      .flatMap(candidatesOf)
      .flatMap((candidate) => {
        const ranks = words.map((word) => rankOf(candidate, word));
        const isWhole = ranks.every((rank) => rank !== null);
        if (!isWhole || Math.min(...ranks) === 4) return [];
        return [{ candidate, rank: ranks.reduce((sum, rank) => sum + rank, 0) }];
      })
      .sort((a, b) => a.rank - b.rank || a.candidate.depth - b.candidate.depth)
      .map(({ candidate: { href, title, path } }) => ({ href, title, path }))
      // An entry and its first page are one place.
      .filter(({ href }, index, all) => all.findIndex((other) => other.href === href) === index)
      .slice(0, maxFound)
  );
}

/** The heading and the label that the fragment of an address names; neither if the page has no such part. */
export function partOf(page: string, fragment: string): { heading?: Key; label?: Key } {
  for (const { heading, labels = [] } of places[page] ?? []) {
    if (heading === fragment) return { heading };
    const label = labels.find((label) => label === fragment);
    if (label) return heading ? { heading, label } : { label };
  }
  return {};
}
