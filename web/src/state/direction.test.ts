/** Directions of texts, and of the values in sentences. */
import { afterEach, describe, expect, test } from "vitest";
import { t } from "../i18n/index.svelte.ts";
import { asSpelt, isRightToLeft, isolated, withoutIsolates } from "./direction.ts";

afterEach(() => document.documentElement.removeAttribute("dir"));

describe("the first letter decides", () => {
  test.each(["مرحبا world", "שלום", "  1. «שלום»", "(٣) نص", "ދިވެހި", "𞤀𞤣𞤤𞤢𞤥", "ﷺ"])(
    "%s is right-to-left",
    (text) => expect(isRightToLeft(text)).toBe(true),
  );
  test.each(["", "123", "Hello مرحبا", "Привет שלום", "漢字 שלום", "…"])("%s is not", (text) =>
    expect(isRightToLeft(text)).toBe(false),
  );
});

test("a value of the other direction is isolated in its sentence", () => {
  expect(isolated("Ada")).toBe("Ada");
  expect(t("chats.withTag", { tag: "שלום" })).toContain("\u2068שלום\u2069");
  document.documentElement.dir = "rtl";
  expect(isolated("Ada")).toBe("\u2068Ada\u2069");
  expect(isolated("12")).toBe("12");
});

test("an override does not disguise a name", () => {
  expect(asSpelt("evil \u202egpj.exe")).toBe("evil gpj.exe");
  expect(asSpelt("שלום.txt")).toBe("שלום.txt");
});

test("on a page from right to left, a value with a sign or a unit is isolated too", () => {
  document.documentElement.dir = "rtl";
  for (const value of ["+0.04", "−3", "5 / 10", "/report.md"])
    expect(isolated(value)).toBe(`\u2068${value}\u2069`);
  for (const value of ["", "12", "12,000.5"]) expect(isolated(value)).toBe(value);
  expect(withoutIsolates(`a ${isolated("b")} c`)).toBe("a b c");
});
