/** The administrator's approval rules: as stored, as typed, in words, and which tools they match. */
import type { SettingValue } from "../../../api/configuration.ts";
import { formatConjunction } from "../../../i18n/format.ts";
import { t } from "../../../i18n/index.svelte.ts";
import { hasWildcard, patternFits, type Patterns } from "../../../state/approval/rules.ts";
import { isPattern } from "../../../state/arguments.ts";

export const verdicts = ["allow", "ask", "ask_each_time", "deny"] as const;
export type Verdict = (typeof verdicts)[number];

export interface ApprovalRule {
  /** The tool's name, with `*` for any text. */
  tool: string;
  arguments?: Patterns;
  then: Verdict;
}

export interface Condition {
  name: string;
  pattern: string;
}

export interface RuleForm {
  tool: string;
  conditions: Condition[];
  then: Verdict;
}

/** The rules of the setting `approvals`, which the server has checked; with their fields in one order, to compare them. */
export const rulesOf = (value: SettingValue | null): ApprovalRule[] =>
  Array.isArray(value) ? (value as ApprovalRule[]).map((rule) => ruleOf(formOf(rule))) : [];

export const conditionsOf = ({ arguments: given = {} }: ApprovalRule): Condition[] =>
  Object.entries(given).map(([name, pattern]) => ({ name, pattern }));

export const formOf = (rule: ApprovalRule | null): RuleForm => ({
  tool: rule?.tool ?? "",
  conditions: rule ? conditionsOf(rule) : [],
  then: rule?.then ?? "ask",
});

const isBlank = ({ name, pattern }: Condition) => name.trim() === "" && pattern === "";

/** Conditions that nobody has filled in are left out. */
export function ruleOf({ tool, conditions, then }: RuleForm): ApprovalRule {
  const filled = conditions.filter((one) => !isBlank(one));
  const given = Object.fromEntries(filled.map(({ name, pattern }) => [name.trim(), pattern]));
  return { tool: tool.trim(), ...(filled.length > 0 ? { arguments: given } : {}), then };
}

export type Problem = "noName" | "noPattern" | "twice" | "tooLong";

/** What is wrong with each condition. */
export function problemsOf(conditions: readonly Condition[]): (Problem | null)[] {
  return conditions.map((one, at) => {
    if (isBlank(one)) return null;
    if (one.name.trim() === "") return "noName";
    if (one.pattern === "") return "noPattern";
    if (!isPattern(one.pattern)) return "tooLong";
    const isTwice = conditions.some((other, index) => index < at && other.name.trim() === one.name.trim());
    return isTwice ? "twice" : null;
  });
}

export const isComplete = ({ tool, conditions }: RuleForm) =>
  tool.trim() !== "" && isPattern(tool) && problemsOf(conditions).every((problem) => problem === null);

/** Where a rule that was shown at `at` is in these rules now; -1 if it was changed or removed. */
export function placeOf(rules: readonly ApprovalRule[], rule: ApprovalRule, at: number): number {
  const written = JSON.stringify(rule);
  const isSame = (other: ApprovalRule | undefined) => JSON.stringify(other) === written;
  return isSame(rules[at]) ? at : rules.findIndex(isSame);
}

export const moved = (rules: readonly ApprovalRule[], from: number, to: number): ApprovalRule[] =>
  rules.toSpliced(from, 1).toSpliced(to, 0, ...rules.slice(from, from + 1));

/** The known tools with a call that the rule can match. */
export const toolsOf = ({ tool, then }: Pick<ApprovalRule, "tool" | "then">, known: readonly string[]) =>
  known.filter((name) => patternFits(tool, name, then === "allow"));

/**
 * Whether `earlier` matches every text of `later`. The stars of `later` are taken as texts, which only a star matches,
 * unless one is written with a backslash.
 */
function coversPattern(earlier: string, later: string, before: Verdict, after: Verdict): boolean {
  if (earlier === "*") return true;
  // Stars of rules that allow match less than those of others.
  if (before === "allow" && after !== "allow") return earlier === later && !hasWildcard(earlier);
  if (earlier === later) return true;
  return !earlier.includes("\\") && patternFits(earlier, later, before === "allow");
}

function covers(earlier: ApprovalRule, later: ApprovalRule): boolean {
  const given = later.arguments ?? {};
  return (
    // Names of tools hold nothing that a star may not match.
    coversPattern(earlier.tool, later.tool, "ask", "ask") &&
    Object.entries(earlier.arguments ?? {}).every(
      ([name, pattern]) =>
        Object.hasOwn(given, name) && coversPattern(pattern, given[name] ?? "", earlier.then, later.then),
    )
  );
}

/** The place, from 0, of the first rule that matches every call of this one before it does; -1 if there is none. */
export const coverOf = (rules: readonly ApprovalRule[], at: number) =>
  rules.findIndex((earlier, index) => {
    const later = rules[at];
    return index < at && later !== undefined && covers(earlier, later);
  });

export interface Words {
  text: string;
  /** Whether it is a name or a pattern. */
  isCode: boolean;
}

/** Marks names and patterns in a translated sentence. */
const mark = "\u0000";
const code = (text: string) => mark + text + mark;

/** The rule as a sentence, of which names and patterns are told apart. */
export function wordsOf(rule: ApprovalRule): Words[] {
  const tool = rule.tool === "*" ? t("approvalRules.everyTool") : code(rule.tool);
  const sentence = t(`approvalRules.${rule.then}Sentence`, { tool });
  const conditions = conditionsOf(rule).map(({ name, pattern }) =>
    t("approvalRules.is", { name: code(name), pattern: code(pattern) }),
  );
  const whole =
    conditions.length === 0
      ? sentence
      : t("approvalRules.when", { sentence, conditions: formatConjunction(conditions) });
  const parts = whole.split(mark).map((text, index) => ({ text, isCode: index % 2 === 1 }));
  return parts.filter(({ text }) => text !== "");
}

export const sentenceOf = (rule: ApprovalRule) =>
  wordsOf(rule)
    .map(({ text }) => text)
    .join("");

/** Arguments of the built-in tools that are worth a condition. */
const builtInArguments: Record<string, string[]> = {
  read_file: ["path"],
  write_file: ["path", "content"],
  edit_file: ["path", "new_text"],
  move_file: ["from", "to"],
  delete_file: ["path"],
  ls: ["path"],
  glob: ["path", "pattern"],
  grep: ["path", "pattern"],
  task: ["subagent_type", "description"],
  skill: ["skill", "file"],
  web_search: ["query"],
  fetch_page: ["url"],
  search_knowledge: ["query"],
  memory_read: ["name"],
  memory_write: ["name", "text"],
  memory_append: ["name", "text"],
  python: ["code"],
  shell: ["command"],
  latex: ["path"],
};

/** Names to suggest for a condition on calls of these tools. */
export const suggestedArguments = (tools: readonly string[]) => [
  ...new Set(tools.flatMap((tool) => builtInArguments[tool] ?? [])),
];
