/** The citation marks of an answer whose quotes do not confirm their sentence. */
import type { Source, Unconfirmed } from "../api/events.ts";
import { citationMarks } from "../citation-marks.ts";

/** A text of an answer, as it is in the log and as it is shown. */
export interface CitingText {
  item: string;
  text: string;
}

/** Why each mark of a number is not confirmed, in the order of the marks; `undefined` for those that are. */
export type UnconfirmedMarks = ReadonlyMap<string, readonly (Unconfirmed | undefined)[]>;

/** Numbers without such a mark are left out. */
export function unconfirmedMarks(texts: readonly CitingText[], sources: readonly Source[]): UnconfirmedMarks {
  const marks = new Map<string, (Unconfirmed | undefined)[]>();
  const places = new Map<string, Unconfirmed>();
  for (const { id, cited = [] } of sources) {
    for (const { item, start, unconfirmed } of cited) {
      if (unconfirmed) places.set(`${item} ${start} ${id}`, unconfirmed);
    }
  }
  if (places.size === 0) return marks;
  for (const { item, text } of texts) {
    let letters = 0;
    let counted = 0;
    for (const { number, start } of citationMarks(text)) {
      // Places count characters (code points), not UTF-16 units.
      letters += [...text.slice(counted, start)].length;
      counted = start;
      const ofNumber = marks.get(String(number)) ?? [];
      ofNumber.push(places.get(`${item} ${letters} ${number}`));
      marks.set(String(number), ofNumber);
    }
  }
  return new Map([...marks].filter(([, ofNumber]) => ofNumber.some((why) => why !== undefined)));
}
