/** German texts for research. */
import type { research as en } from "../en/research.ts";
import type { Entry } from "../index.svelte.ts";

export const research: Record<keyof typeof en, Entry> = {
  "research.mode.chat": "Recherche: aus",
  "research.mode.research": "Recherche",
  "research.mode.deep": "Deep Research",
  "research.modeHint":
    "Sucht, liest und schreibt einen Bericht mit Quellen. Nochmals drücken für Deep Research, dann aus.",
  "research.web": "Websuche",
  "research.webShort": "Web",
  "research.webHint": "Sucht vor der Antwort im Web und gibt die Quellen an.",
  "research.turn": "Runde {turn}",
  "research.plan": "Plan prüfen",
  "research.planField": "Plan, ein Punkt pro Zeile",
  "research.begin": "Recherche starten",
  "research.skip": "Prüfung überspringen",
  "research.begun": "Prüfung übersprungen.",
  "research.reportNow": "Bericht jetzt schreiben",
  "research.reportNowHint": "Beendet die Suche und schreibt den Bericht mit dem bisher Gefundenen.",
  "research.sources": "Quellen",
  "research.cited": "Zitiert ({count})",
  "research.all": "Alle ({count})",
  "research.share": "{verified} von {count} Zitaten stimmen wörtlich mit ihrer Quelle überein.",
  "research.verified": "Geprüft: Das Zitat steht in der Quelle",
  "research.unverified": "Nicht geprüft: kein passendes Zitat in der Quelle",
  "research.unconfirmed.number":
    "Zitat gefunden, Aussage nicht bestätigt: Eine Zahl des Satzes fehlt im Zitat",
  "research.unconfirmed.negation":
    "Zitat gefunden, Aussage nicht bestätigt: Nur eines von beiden ist verneint",
  "research.unconfirmed.name": "Zitat gefunden, Aussage nicht bestätigt: Ein Name des Satzes fehlt im Zitat",
  "research.unconfirmed.quotation":
    "Zitat gefunden, Aussage nicht bestätigt: Die Worte in Anführungszeichen stehen nicht darin",
  "research.openSource": "Quelle öffnen",
  "research.openCopy": "Beim Zitat öffnen",
  "research.newAddress":
    "Diese URL stammt weder von Ihnen noch aus einer Suche. URLs können verraten, was der Agent weiß: Prüfen Sie sie, bevor Sie zustimmen.",
  "research.none": "Keine Quellen zitiert",
  "research.exportMarkdown": "Markdown",
  "research.exportPage": "HTML",
  "research.exportPdfHint": "Öffnet den Druckdialog des Browsers: Wählen Sie dort „Als PDF speichern“.",
};
