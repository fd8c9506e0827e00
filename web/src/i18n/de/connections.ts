/** German texts for model connections. */
import type { Entry } from "../index.svelte.ts";
import type { connections as en } from "../en/connections.ts";

export const connections: Record<keyof typeof en, Entry> = {
  "connection.name": "Name",
  "connection.namePlaceholder": "Mein Server",
  "connection.url": "Basis-URL",
  "connection.key": "API-Schlüssel",
  "connection.keyOptional": "leer lassen, wenn nicht nötig",
  "connection.provider": "Anbieter",
  "connection.otherProvider": "Anderer OpenAI-kompatibler Server",
  "connection.getKey": "API-Schlüssel anfordern",
  "connection.more": "Weitere Optionen",
  "connection.kind": "API-Format",
  "connection.region": "AWS-Region",
  "connection.profile": "AWS-Profil, falls kein Schlüssel",
  "connection.api_version": "API-Version, für Deployment-Adressen",
  "connection.project": "Google-Cloud-Projekt",
  "connection.location": "Standort",
  "connection.bedrockKey":
    "Ein Bedrock-API-Schlüssel oder ACCESS_KEY_ID:SECRET_ACCESS_KEY. Leer: die AWS-Zugangsdaten des Servers.",
  "connection.vertexKey":
    "Das JSON eines Dienstkontos oder ein API-Schlüssel. Leer auf Google Cloud: das Dienstkonto des Rechners.",
  "connection.file": "aus der Konfigurationsdatei",
  "connection.test": "Testen",
  "connection.testing": "Wird getestet…",
  "connection.added": {
    one: "Verbunden. {count} Modell verfügbar.",
    other: "Verbunden. {count} Modelle verfügbar.",
  },
  "connection.testOk": {
    one: "Die Verbindung funktioniert. {count} Modell verfügbar.",
    other: "Die Verbindung funktioniert. {count} Modelle verfügbar.",
  },
  "connection.add": "Verbinden",
  "connection.refresh": "Modelle aktualisieren",
  "connection.remove": "Entfernen",
  "connection.removeConfirm":
    "„{name}“ entfernen? Die Modelle sind dann nicht mehr verfügbar; Chats bleiben erhalten.",
  "connection.environment": "aus der Umgebung",
  "connection.withKey": { one: "{count} Schlüssel", other: "{count} Schlüssel" },
  "connection.trusted": "Nutzerdaten weitergeben",
  "connection.trustedHint":
    "Sendet mit jeder Anfrage Name, E-Mail-Adresse und Rolle der Person sowie Metadaten zu Chat und Anfrage an diesen Server.",
  "connection.none": "Noch keine Server verbunden",
  "connection.settings": "Einstellungen für {name}",
  "connection.off": "aus",
  "connection.enabled": "Aktiviert",
  "connection.enabledHint": "Wenn deaktiviert, sind die Modelle nicht verfügbar.",
  "connection.together": "Lastverteilung",
  "connection.togetherHint":
    "Gleichnamige Modelle aller Verbindungen mit diesem Schalter werden zu einem Modell: Anfragen werden nach Gewichtung verteilt und weichen bei Fehlern auf einen anderen Server aus.",
  "connection.weight": "Gewichtung",
  "connection.weightHint": "Anteil der Anfragen, 0 bis 1000. Bei 0 nur, wenn die anderen ausfallen.",
  "connection.badWeight": "Geben Sie eine ganze Zahl von {least} bis 1000 ein.",
  "connection.leftAlone": {
    one: "Nach {count} Fehler für {time} pausiert.",
    other: "Nach {count} Fehlern in Folge für {time} pausiert.",
  },
  "connection.halfOpen": "Die nächste Anfrage versucht es erneut.",
  "connection.lastFailure": "Vor {ago}: {message}",
  "connection.keys": "Schlüssel",
  "connection.noKeys": "Anfragen werden ohne Schlüssel gesendet.",
  "connection.keyEnding": "Schlüssel …{ending}",
  "connection.keyHidden": "Schlüssel {number}",
  "connection.keyUnreadable":
    "Lässt sich mit der Schlüsseldatei dieses Servers nicht entschlüsseln. Entfernen Sie ihn und geben Sie ihn neu ein.",
  "connection.keyUses": {
    one: "{count} Antwort seit dem Serverstart",
    other: "{count} Antworten seit dem Serverstart",
  },
  "connection.keyRests": "pausiert für {time}",
  "connection.keyWeight": "Gewichtung von {key}",
  "connection.removeKey": "{key} entfernen",
  "connection.removeKeyConfirm":
    "Der Schlüssel wird von diesem Server entfernt. Beim Anbieter bleibt er gültig.",
  "connection.newKey": "Neuer Schlüssel",
  "connection.addKey": "Schlüssel hinzufügen",
  "connection.tryModel": "Modell zum Testen",
  "connection.tryNoModel": "nur Modelle auflisten",
  "connection.tryTook": {
    one: "Antwortet in {time}. {count} Modell verfügbar.",
    other: "Antwortet in {time}. {count} Modelle verfügbar.",
  },
  "connection.tryAnswer": "Das Modell hat nach {time} geantwortet: {text}",
  "connection.trySilent": "Das Modell hat nach {time} eine leere Antwort gegeben.",
};
