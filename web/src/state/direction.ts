/** The direction of texts: where CSS and `dir="auto"` cannot tell it. */
import { directionOf, hasRightToLeft } from "../markdown/direction.ts";

/** Embeddings and overrides: `evil\u202egpj.exe` would be displayed as `evilexe.jpg`. */
const OVERRIDES = /[\u202a-\u202e]/g;

/** Whether the first letter is of a right-to-left script, as `dir="auto"` decides. */
export function isRightToLeft(text: string): boolean {
  return directionOf(text) === "rtl";
}

export function isPageRightToLeft(): boolean {
  return document.documentElement.dir === "rtl";
}

/** Numbers without a sign or a unit, which keep their order in either direction. */
const PLAIN_NUMBER = /^[\d.,]*$/;

/** The value for a sentence of the page: if the two directions differ, neither changes the order of the other. */
export function isolated(value: string): string {
  const differs = isPageRightToLeft() ? !PLAIN_NUMBER.test(value) : hasRightToLeft(value);
  return differs ? `\u2068${value}\u2069` : value;
}

/** A part of a sentence; values are those that `isolated` has set apart. */
export interface Piece {
  text: string;
  isValue: boolean;
}

/** The parts of a sentence of the page. */
export function piecesOf(text: string): Piece[] {
  return text
    .split(/\u2068([^\u2068\u2069]*)\u2069/)
    .map((text, at) => ({ text, isValue: at % 2 === 1 }))
    .filter((piece) => piece.text !== "");
}

/** A sentence of the page that people send or save as their own. */
export function withoutIsolates(text: string): string {
  return text.replace(/[\u2066-\u2069]/g, "");
}

/** A name as it is spelt, whatever its author has put in. */
export function asSpelt(name: string): string {
  return name.replace(OVERRIDES, "");
}
