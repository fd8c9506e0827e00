/** What this browser remembers about its reader: theme, language, keys, sidebars, the last model. */

export type Theme = "light" | "dark" | "system";
export type Language = "en" | "ru";

export interface Preferences {
  theme: Theme;
  language: Language;
  singleKeys: boolean;
  reasoningOpen: boolean;
  sidebarOpen: boolean;
  panelOpen: boolean;
  /** Whether the browser tells what has ended while the page is in the background. */
  notifications: boolean;
  /** Whether what is written is completed, where the server does that. */
  completions: boolean;
  /** The model or agent that was chosen; null where nobody has chosen one. */
  model: string | null;
  /** The real model that was asked last. */
  lastModel: string | null;
}

const storageKey = "glasshouse.preferences";

function browserLanguage(): Language {
  return navigator.language.toLowerCase().startsWith("ru") ? "ru" : "en";
}

function read(): Preferences {
  const defaults: Preferences = {
    theme: "system",
    language: browserLanguage(),
    singleKeys: true,
    reasoningOpen: false,
    sidebarOpen: true,
    panelOpen: false,
    notifications: false,
    completions: true,
    model: null,
    lastModel: null,
  };
  try {
    return { ...defaults, ...(JSON.parse(localStorage.getItem(storageKey) ?? "{}") as Partial<Preferences>) };
  } catch {
    return defaults;
  }
}

export const preferences = $state<Preferences>(read());

/** Changes and remembers. */
export function prefer(change: Partial<Preferences>): void {
  Object.assign(preferences, change);
  try {
    localStorage.setItem(storageKey, JSON.stringify(preferences));
  } catch {
    // Storage may be off or full; the choice then lasts as long as the page.
  }
  if (change.theme) applyTheme();
}

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

function applyTheme(): void {
  const dark = preferences.theme === "dark" || (preferences.theme === "system" && darkSystem.matches);
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/** Keeps the page's theme in step with the choice and the system. */
export function watchTheme(): void {
  applyTheme();
  darkSystem.addEventListener("change", applyTheme);
}
