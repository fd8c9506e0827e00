/** An agent's name in requests, made from the name that was typed. */

const maxLength = 40;
/** Names with another meaning in addresses and requests; the server refuses them. */
const reserved = ["agent", "deep", "default", "explore", "general", "main", "model", "research", "tour"];

const cyrillic: Record<string, string> = Object.fromEntries(
  [..."абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґў"].map((letter, at) => [
    letter,
    "a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch  y  e yu ya i yi ye g u".split(" ")[at] ??
      "",
  ]),
);
/** Letters that do not decompose into a Latin letter and a mark. */
const latin: Record<string, string> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

export const isSlug = (text: string) =>
  text.length <= maxLength && /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(text) && !reserved.includes(text);

/** Empty if the name has no letter that can be written in Latin. */
export function slugOf(name: string, taken: readonly string[] = []): string {
  const plain = [...name.normalize("NFC").toLowerCase()]
    .map((letter) => cyrillic[letter] ?? latin[letter] ?? letter.normalize("NFKD"))
    .join("")
    .replace(/\p{M}/gu, "");
  const words = plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  if (!/[a-z]/.test(words)) return words === "" ? "" : cut(`agent-${words}`, "");
  const begun = /^[a-z]/.test(words) ? words : `agent-${words}`;
  return free(reserved.includes(begun) ? `${begun}-agent` : begun, taken);
}

function free(slug: string, taken: readonly string[]): string {
  for (let number = 1; ; number += 1) {
    const candidate = cut(slug, number === 1 ? "" : `-${number}`);
    if (!taken.includes(candidate)) return candidate;
  }
}

const cut = (slug: string, end: string) => slug.slice(0, maxLength - end.length).replace(/-+$/, "") + end;
