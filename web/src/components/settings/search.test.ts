/** The search finds places by the words of the page's language; its list names what the pages show. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadLanguage } from "../../i18n/index.svelte.ts";
import { router } from "../../state/router.svelte.ts";
import { prefer } from "../../state/preferences.svelte.ts";
import { session } from "../../state/session.svelte.ts";
import type { Me } from "../../api/me.ts";
import { places } from "./places.ts";
import { findPlaces, partOf } from "./search.ts";
import { openGroups, placeOf } from "./sections.ts";

const me = {
  user: { id: "user_1", name: "Ada", email: "ada@example.org", role: "admin" },
  rights: ["api_keys", "schedules", "programs", "sharing"],
  auth: "password",
  autocomplete: true,
} as unknown as Me;

const signIn = (role: "admin" | "user", change: Partial<Me> = {}) => {
  session.me = { ...me, user: { ...me.user, role } as Me["user"], ...change };
};
const entries = () => openGroups().flatMap(({ entries }) => entries);
const find = (query: string) =>
  findPlaces(query, entries()).map(({ href, title, path }) => `${[...path, title].join(" › ")} (${href})`);
const titles = (query: string) => findPlaces(query, entries()).map(({ title }) => title);

beforeEach(() => signIn("admin"));
afterEach(() => {
  session.me = null;
  router.go("/");
});

describe("the search", () => {
  test("finds entries, pages, headings and labels, the closest first", () => {
    expect(find("passw")).toEqual([
      "Account and security › Password (/settings/account#settings.password)",
      "Account and security › Password › Current password (/settings/account#password.current)",
      "Account and security › Password › New password (/settings/account#password.new)",
      "People and groups › People (/settings/people)",
    ]);
    expect(find("limits")[0]).toBe("People and groups › Limits (/settings/limits)");
    expect(titles("webhook")).toContain("Schedules and webhooks");
    const hrefs = findPlaces("a", entries()).map(({ href }) => href);
    expect(new Set(hrefs).size).toBe(hrefs.length);
  });

  test("finds by options, abbreviations and words of the path", () => {
    expect(titles("dark")).toEqual(["Theme"]);
    expect(titles("2fa")).toEqual(["Two-step sign-in"]);
    expect(titles("connections weight")).toEqual(["Weight"]);
    expect(titles("  THEME ")).toEqual(["Theme"]);
  });

  test("finds nothing for nothing", () => {
    expect(titles("  ")).toEqual([]);
    expect(titles("nowhere at all")).toEqual([]);
  });

  test("finds only what the user may open", () => {
    signIn("user", { rights: [], autocomplete: false });
    expect(titles("audit")).toEqual([]);
    expect(titles("api key")).toEqual([]);
    expect(titles("autocomplete")).toEqual([]);
    expect(titles("code execution")).toEqual([]);
    expect(titles("language")).toEqual(["Language"]);
  });

  test("is in the page's language", async () => {
    prefer({ language: "ru" });
    await loadLanguage();
    expect(titles("пароль")[0]).toBe("Пароль");
    expect(titles("тёмная")).toEqual(["Тема"]);
    expect(titles("темная")).toEqual(["Тема"]);
    prefer({ language: "en" });
    await loadLanguage();
  });
});

describe("an address", () => {
  const where = (name: string) => {
    const { page, part } = placeOf(name);
    return part ? `${page.name}#${part}` : page.name;
  };

  test.each([
    ["password", "account#settings.password"],
    ["two-step", "account#settings.two-step"],
    ["appearance", "general"],
    ["memory", "personalization"],
    ["consent", "permissions#settings.consent"],
    ["documents", "knowledge"],
    ["tools", "tools"],
    ["limits", "limits"],
    ["jobs", "jobs"],
    ["nowhere", "general"],
    ["", "general"],
    ["constructor", "general"],
  ])("/settings/%s leads to %s", (name, place) => {
    expect(where(name)).toBe(place);
  });

  test("of a page for administrators leads others to the first page", () => {
    signIn("user");
    expect(where("people")).toBe("general");
    expect(where("models")).toBe("general");
  });

  test("of the tools leads users to their sign-ins, and everybody who comes back from one", () => {
    router.go("/settings/tools?sign_in=done");
    expect(where("tools")).toBe("permissions#signIns.title");
    router.go("/settings/tools");
    signIn("user");
    expect(where("tools")).toBe("permissions#signIns.title");
  });

  test("names a heading, or a label with its heading", () => {
    expect(partOf("account", "settings.password")).toEqual({ heading: "settings.password" });
    expect(partOf("account", "password.new")).toEqual({
      heading: "settings.password",
      label: "password.new",
    });
    expect(partOf("keys", "keys.expires")).toEqual({ label: "keys.expires" });
    expect(partOf("account", "elsewhere")).toEqual({});
  });
});

describe.each(openPages())("the page %s", (name, file) => {
  const sources = sourcesOf(file);

  test("has the texts that the search leads to", () => {
    for (const { heading, labels = [] } of places[name] ?? []) {
      for (const key of [...(heading ? [heading] : []), ...labels]) {
        // Some are made from a name, as in `limits.${span}`.
        const isMade = sources.includes(`\`${key.split(".")[0]}.\${`);
        expect(isMade || sources.includes(`"${key}"`), key).toBe(true);
      }
    }
  });

  test("has no heading that the search does not know", () => {
    const known = Object.values(places)
      .flat()
      .flatMap(({ heading, also = [] }) => [heading, ...also]);
    const headings = [...sources.matchAll(/<Section title=\{t\("([^"]+)"\)\}/g)].map(([, key]) => key);
    for (const heading of headings) expect(known).toContain(heading);
  });
});

/** The pages with the files that `sections.ts` loads for them. */
function openPages(): [string, string][] {
  const source = readFileSync("src/components/settings/sections.ts", "utf8");
  const pages = source.matchAll(/name: "([\w-]+)",[^}]*?import\("\.\/(\w+\.svelte)"\)/g);
  return [...pages].map(([, name = "", file = ""]) => [name, join("src/components/settings", file)]);
}

/** The text of a component and of all of the settings that it imports. */
function sourcesOf(file: string, seen = new Set<string>()): string {
  if (seen.has(file) || !existsSync(file) || !file.includes("components/")) return "";
  seen.add(file);
  const source = readFileSync(file, "utf8");
  const imported = [...source.matchAll(/from "(\.[^"]+\.(?:svelte|ts))"/g)];
  return [source, ...imported.map(([, path = ""]) => sourcesOf(join(dirname(file), path), seen))].join("\n");
}
