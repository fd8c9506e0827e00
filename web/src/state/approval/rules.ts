/** Approval rules: patterns for a tool's name and a call's arguments, matched as the server matches them. */

export type Patterns = Record<string, string>;

/** Maximum number of arguments in a rule. */
export const maxArguments = 50;

/** The literal texts between the stars: `*` matches any text, `\*` is a literal star. */
function piecesOf(pattern: string): string[] {
  const pieces: string[] = [];
  let piece = "";
  for (let at = 0; at < pattern.length; at += 1) {
    const isEscaped = pattern[at] === "\\" && /[\\*]/.test(pattern[at + 1] ?? "");
    if (isEscaped) at += 1;
    if (pattern[at] !== "*" || isEscaped) piece += pattern[at] ?? "";
    else {
      pieces.push(piece);
      piece = "";
    }
  }
  pieces.push(piece);
  return pieces;
}

export const hasWildcard = (pattern: string) => piecesOf(pattern).length > 1;

/** A star matches no control characters, shell operators or parent folders. */
const isHarmlessText = (text: string) => !/[\u0000-\u001f\u007f-\u009f;&|<>$`()]|\.\./u.test(text);

const countOf = (text: string, part: string) => text.split(part).length - 1;

/** `isHarmless`: a star matches only what is harmless, as in rules that allow. */
export function patternFits(pattern: string, text: string, isHarmless: boolean): boolean {
  const mayBe = (between: string) => !isHarmless || isHarmlessText(between);
  if (pattern === "*") return true;
  const pieces = piecesOf(pattern);
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) return first === text;
  if (!text.startsWith(first)) return false;
  let rest = text.slice(first.length);
  if (!rest.endsWith(last)) return false;
  rest = rest.slice(0, rest.length - last.length);
  if (isHarmless && countOf(text, "..") > countOf(pattern, "..")) return false;
  for (const piece of pieces.slice(1, -1)) {
    const at = rest.indexOf(piece);
    if (at < 0 || !mayBe(rest.slice(0, at))) return false;
    rest = rest.slice(at + piece.length);
  }
  return mayBe(rest);
}

/** Whether a pattern can match values of this type: a wildcard inside other text works only for texts. */
export const suits = (pattern: string, value: unknown) =>
  pattern === "*" || typeof value === "string" || !hasWildcard(pattern);

export function valueFits(pattern: string, value: unknown): boolean {
  if (!suits(pattern, value)) return false;
  return patternFits(pattern, typeof value === "string" ? value : JSON.stringify(value), true);
}

/** Whether a call has exactly the rule's arguments, and all of them match. */
export function ruleFits(patterns: Patterns, given: unknown): boolean {
  if (typeof given !== "object" || given === null || Array.isArray(given)) return false;
  const values = Object.entries(given);
  return (
    values.length === Object.keys(patterns).length &&
    values.every(([name, value]) => Object.hasOwn(patterns, name) && valueFits(patterns[name] ?? "", value))
  );
}
