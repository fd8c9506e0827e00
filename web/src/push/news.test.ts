// The words of push messages, and what is none.
import { expect, test } from "vitest";
import { addressOf, isNews, wordsOf, type News } from "./news.ts";

const news: News = { about: "waits", chat: "chat_1", title: "A $& plan", language: "en" };

test("news are said in their language", () => {
  expect(wordsOf(news)).toBe("“A $& plan” needs your attention.");
  expect(wordsOf({ ...news, about: "done", language: "ru" })).toBe("Готово: «A $& plan».");
  expect(wordsOf({ ...news, about: "failed", title: "", language: "xx" })).toBe("“New chat” failed.");
});

test("what is no news is known", () => {
  expect(isNews(news)).toBe(true);
  for (const other of [undefined, null, 7, "waits", {}, { ...news, about: "x" }, { ...news, chat: 1 }]) {
    expect(isNews(other)).toBe(false);
  }
});

test("a chat's address is of this site", () => {
  expect(addressOf("//evil.example/")).toBe("/c/%2F%2Fevil.example%2F");
});
