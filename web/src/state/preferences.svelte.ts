/** Preferences stored in this browser: theme, language, keys, sidebars, the last model. */

import { storageKey } from "../api/base.ts";

export type Theme = "light" | "dark" | "system";

/** The languages of the page. `theme.js` has them too, as it sets the direction before the first paint. */
export const languageCodes = ["en", "de", "es", "fr", "pt", "ru", "ar", "zh", "ja"] as const;
export type Language = (typeof languageCodes)[number];

export interface Preferences {
  theme: Theme;
  language: Language;
  singleKeys: boolean;
  reasoningOpen: boolean;
  /** Whether long lines of code are wrapped. */
  wrapCode: boolean;
  sidebarOpen: boolean;
  panelOpen: boolean;
  /** Whether browser notifications are shown while the page is in the background. */
  notifications: boolean;
  /** Whether autocompletion is enabled, if the server offers it. */
  completions: boolean;
  /** Whether invitations are sent by mail, if the server can. */
  mailsInvitations: boolean;
  /** The selected model or agent; `null` if none was selected. */
  model: string | null;
  /** The last real model used. */
  lastModel: string | null;
  /** Whether a model other than the tour has answered; the tour is then only in the user menu. */
  hasRealAnswer: boolean;
  /** Whether the user has closed the tour's card. */
  tourHidden: boolean;
}

const preferencesKey = storageKey("preferences");

/** The first of the browser's languages that the page has, else English. */
export function browserLanguage(): Language {
  const codes = navigator.languages.map((tag) => tag.toLowerCase().split("-")[0]);
  const known = (code?: string) => languageCodes.find((one) => one === code);
  return known(codes.find(known)) ?? "en";
}

function read(): Preferences {
  const defaults: Preferences = {
    theme: "system",
    language: browserLanguage(),
    singleKeys: true,
    reasoningOpen: false,
    wrapCode: false,
    sidebarOpen: true,
    panelOpen: false,
    notifications: false,
    completions: true,
    mailsInvitations: true,
    model: null,
    lastModel: null,
    hasRealAnswer: false,
    tourHidden: false,
  };
  try {
    const stored = JSON.parse(localStorage.getItem(preferencesKey) ?? "{}") as Partial<Preferences>;
    const language = languageCodes.find((code) => code === stored.language) ?? defaults.language;
    return { ...defaults, ...stored, language };
  } catch {
    return defaults;
  }
}

export const preferences = $state<Preferences>(read());

/** Changes and saves preferences. */
export function prefer(change: Partial<Preferences>): void {
  Object.assign(preferences, change);
  try {
    localStorage.setItem(preferencesKey, JSON.stringify(preferences));
  } catch {
    // Storage may be disabled or full; the choice then lasts until the page is closed.
  }
  if (change.theme) applyTheme();
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function applyTheme(): void {
  const dark = preferences.theme === "dark" || (preferences.theme === "system" && darkSystem.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  // The colours of the window around an installed app, as `theme.js` sets them first.
  for (const meta of document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]'))
    meta.content = dark ? "#14161a" : "#ffffff";
}

/** Keeps the theme in sync with the preference and the system. */
export function watchTheme(): void {
  applyTheme();
  darkSystem.addEventListener("change", applyTheme);
}
