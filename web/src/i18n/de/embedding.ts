/** German texts for the embedding model settings. */
import type { embedding as en } from "../en/embedding.ts";
import type { Entry } from "../index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "Semantische Suche",
  "embedding.intro":
    "Mit einem Embedding-Modell werden Textstellen nach Bedeutung gefunden, nicht nur nach Stichwörtern.",
  "embedding.inForce": "Aktives Modell",
  "embedding.none": "Aus (nur Stichwortsuche)",
  "embedding.builtIn": "Integriert (Englisch)",
  "embedding.from.page": "hier gewählt",
  "embedding.from.configuration": "aus der Konfiguration",
  "embedding.dimensions": "Dimensionen",
  "embedding.notYet": "nach dem ersten Dokument bekannt",
  "embedding.progress": "Dokumente",
  "embedding.done": "{whole} von {documents} fertig ({percent} %)",
  "embedding.failed": { one: "{count} Fehler", other: "{count} Fehler" },
  "embedding.noDocuments": "Noch keine Dokumente",
  "embedding.earlier": "Bis dahin wird {model} verwendet; Dokumente: {count}.",
  "embedding.problem": "Pausiert. {message}",
  "embedding.choose": "Modell",
  "embedding.asConfigured": "Aus der Konfiguration ({model})",
  "embedding.likely": "Mögliche Embedding-Modelle",
  "embedding.others": "Andere Modelle",
  "embedding.noModels":
    "Verbinden Sie einen Modellserver mit einem Embedding-Modell, um es hier auszuwählen.",
  "embedding.queryPrefix": "Präfix für Suchanfragen",
  "embedding.passagePrefix": "Präfix für Textstellen",
  "embedding.prefixHint": "Manche Modelle brauchen eines; siehe deren Dokumentation. Leerzeichen zählen.",
  "recognition.noScript":
    "Installieren Sie auch die Daten „osd“, damit die Schrift einer Seite erkannt wird.",
  "recognition.install": "Installieren Sie Tesseract mit seinen Sprachen, zum Beispiel:",
  "recognition.missing": "Nicht verfügbar. {cause}",
  "recognition.off": "Aus",
  "recognition.languages": "Sprachen",
  "recognition.program": "Programm",
  "recognition.intro": "Tesseract liest gescannte Seiten und Bilder auf diesem Server.",
  "recognition.title": "Texterkennung",
  "embedding.try": "Testen",
  "embedding.trying": "Wird getestet…",
  "embedding.tried": "Ein Satz dauerte {time} und ergab einen Vektor mit {dimensions} Dimensionen.",
  "embedding.anew":
    "Alle Embeddings werden neu berechnet, im Hintergrund und zulasten der Konten, denen die Dokumente gehören. Bis dahin werden die bisherigen verwendet.",
  "embedding.turnsOff":
    "Die semantische Suche wird deaktiviert. Ihre Embeddings werden nach einer Stunde gelöscht.",
  "audit.area.embedding": "Embedding-Modell",
  "audit.embedding.change": "Embedding-Modell geändert",
  "audit.embedding.try": "Embedding-Modell getestet",
  "reader.title": "Dokumentleser",
  "reader.intro":
    "Ein anderes Programm, Apache Tika oder Docling, kann Dateien lesen, die dieser Server nicht liest, etwa alte Office-Dateien.",
  "reader.off": "Es ist kein Dokumentleser festgelegt.",
  "documents.models": "Modelle für Dokumente",
  "documents.modelsIntro":
    "Sie bearbeiten Dokumente im Hintergrund und bei Suchen. Ihre Tokens zählen zur Nutzung.",
};
