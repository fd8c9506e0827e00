/** English texts for alternative answers. */
export const beside = {
  "beside.title": "Answers side by side",
  "beside.ask": "Ask others",
  "beside.about":
    "They answer the same message beside this answer. Several answers of one good model are often worth more than those of weaker ones.",
  "beside.who": "Who answers",
  "beside.samples": "Answers from each",
  "beside.tooMany": "Choose 1 to {most} answers in all.",
  "beside.start": { one: "Ask for {count} answer", other: "Ask for {count} answers" },
  "beside.startNone": "Ask",
  "beside.count": { one: "{count} answer side by side", other: "{count} answers side by side" },
  "beside.answer": "Answer {number}: {name}",
  "beside.stop": "Stop answer {number}",
  "beside.choose": "Go on with this",
  "beside.chosen": "Chosen",
  "beside.merge": { one: "Merge ({count} answer)", other: "Merge ({count} answers)" },
  "beside.mergeHint": "A model writes one answer out of those that have ended. The others are left out.",
  "beside.madeOf": { one: "Made of {count} answer", other: "Made of {count} answers" },
  "beside.costs": "What it cost",
  "beside.merging": "Merging, {name}",
  "beside.sum": "Together",
};
