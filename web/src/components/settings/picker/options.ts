/** Options of a picker: groups of names, and patterns with a trailing `*` that stand for several names. */

export interface Option {
  value: string;
  label: string;
  hint?: string;
}

export interface OptionGroup {
  /** Key; also the heading's name in texts. */
  name: string;
  /** Heading; the only group of a picker needs none. */
  label: string;
  options: Option[];
  /** Stands for all options of the group, including those added later. */
  pattern?: string;
}

/** Whether a chosen value covers an option. */
export type Fit = (chosen: string, value: string) => boolean;

export const isPattern = (value: string) => value.endsWith("*");

export const exact: Fit = (chosen, value) => chosen === value;
export const byPattern: Fit = (chosen, value) =>
  chosen === value || (isPattern(chosen) && value.startsWith(chosen.slice(0, -1)));

/** The chosen pattern that covers a value, unless that is the value itself. */
export const coverOf = (chosen: readonly string[], value: string, fits: Fit) =>
  chosen.find((one) => one !== value && fits(one, value));

export const isChosen = (chosen: readonly string[], value: string, fits: Fit) =>
  chosen.some((one) => fits(one, value));

export function toggled(chosen: readonly string[], value: string): string[] {
  return chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value];
}

/** `all` of a group with a pattern means the pattern: names alone leave out what is added later. */
export function stateOf(
  { options, pattern }: OptionGroup,
  chosen: readonly string[],
  fits: Fit,
): "all" | "some" | "none" {
  if (pattern !== undefined && isChosen(chosen, pattern, fits)) return "all";
  const count = options.filter(({ value }) => isChosen(chosen, value, fits)).length;
  if (count === 0) return "none";
  return pattern === undefined && count === options.length ? "all" : "some";
}

/** Chooses the whole group, or nothing of it if all was chosen. */
export function toggledGroup(group: OptionGroup, chosen: readonly string[], fits: Fit): string[] {
  const { options, pattern } = group;
  const isOfGroup = (one: string) => one === pattern || options.some(({ value }) => value === one);
  const others = chosen.filter((one) => !isOfGroup(one));
  if (stateOf(group, chosen, fits) === "all") return others;
  return [...others, ...(pattern === undefined ? options.map(({ value }) => value) : [pattern])];
}

/** The groups that contain the words; a group whose heading contains them is shown whole. */
export function filtered(groups: readonly OptionGroup[], words: string): OptionGroup[] {
  const wanted = words.trim().toLowerCase();
  if (wanted === "") return [...groups];
  const has = (text: string | undefined) => text?.toLowerCase().includes(wanted) === true;
  return groups.flatMap((group) => {
    if (has(group.label) || has(group.pattern)) return [group];
    const options = group.options.filter(({ value, label, hint }) => has(value) || has(label) || has(hint));
    return options.length === 0 ? [] : [{ ...group, options }];
  });
}

/** The values that are neither an option nor the pattern of a group. */
export function unlisted(groups: readonly OptionGroup[], values: readonly string[]): string[] {
  const isListed = (value: string) =>
    groups.some(
      ({ options, pattern }) => pattern === value || options.some((option) => option.value === value),
    );
  return values.filter((value) => !isListed(value));
}
