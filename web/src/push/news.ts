/** What a push message says, in the words of its language. */
import { notifications as ar } from "../i18n/ar/notifications.ts";
import { notifications as de } from "../i18n/de/notifications.ts";
import { notifications as en } from "../i18n/en/notifications.ts";
import { notifications as es } from "../i18n/es/notifications.ts";
import { notifications as fr } from "../i18n/fr/notifications.ts";
import { notifications as ja } from "../i18n/ja/notifications.ts";
import { notifications as pt } from "../i18n/pt/notifications.ts";
import { notifications as ru } from "../i18n/ru/notifications.ts";
import { notifications as zh } from "../i18n/zh/notifications.ts";
import type { Language } from "../state/preferences.svelte.ts";

export interface News {
  about: "waits" | "done" | "failed" | "limited";
  chat: string;
  title: string;
  language: string;
}

const about = ["waits", "done", "failed", "limited"];
const texts: Record<Language, Record<keyof typeof en, string>> = { ar, de, en, es, fr, ja, pt, ru, zh };

export function isNews(value: unknown): value is News {
  const news = value as Partial<News> | null | undefined;
  return (
    about.includes(news?.about ?? "") && typeof news?.chat === "string" && typeof news.title === "string"
  );
}

export function wordsOf({ about, title, language }: News): string {
  const words = Object.hasOwn(texts, language) ? texts[language as Language] : en;
  return words[`notice.${about}`].replace("{name}", () => title || words["sidebar.untitled"]);
}

export const addressOf = (chat: string) => `/c/${encodeURIComponent(chat)}`;
