/** German texts for alternative answers. */
import type { Entry } from "../index.svelte.ts";
import type { beside as english } from "../en/beside.ts";

export const beside: Record<keyof typeof english, Entry> = {
  "beside.title": "Antworten im Vergleich",
  "beside.ask": "Vergleichen",
  "beside.with": "Vergleichen mit…",
  "beside.advanced": "Erweitert…",
  "beside.about":
    "Stellen Sie anderen Modellen dieselbe Frage und vergleichen Sie die Antworten nebeneinander.",
  "beside.who": "Modelle",
  "beside.samples": "Antworten pro Modell",
  "beside.tooMany": "Wählen Sie insgesamt 1 bis {most} Antworten.",
  "beside.start": { one: "{count} Antwort abrufen", other: "{count} Antworten abrufen" },
  "beside.startNone": "Vergleichen",
  "beside.count": { one: "{count} Antwort im Vergleich", other: "{count} Antworten im Vergleich" },
  "beside.answer": "Antwort {number}: {name}",
  "beside.stop": "Antwort {number} stoppen",
  "beside.choose": "Antwort verwenden",
  "beside.chosen": "Verwendet",
  "beside.merge": { one: "{count} Antwort zusammenführen", other: "{count} Antworten zusammenführen" },
  "beside.mergeHint":
    "Ein Modell führt die fertigen Antworten zu einer zusammen. Unfertige werden ausgelassen.",
  "beside.madeOf": {
    one: "Aus {count} Antwort zusammengeführt",
    other: "Aus {count} Antworten zusammengeführt",
  },
  "beside.costs": "Kosten",
  "beside.merging": "Zusammenführen, {name}",
  "beside.sum": "Gesamt",
};
