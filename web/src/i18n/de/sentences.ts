/** German server messages, by message code; the server sends the English text with each code. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusals } from "./refusals.ts";

export const sentences: Record<keyof Messages, Entry> = {
  ...refusals,

  thinking: "Denkt nach…",
  summing_up: "Fasst ältere Schritte zusammen…",
  asking_again: "Fragt das Modell in {seconds} s erneut (Versuch {attempt} von {attempts})…",
  running_tools: { one: "Führt {count} Tool aus…", other: "Führt {count} Tools aus…" },
  planning: "Plant…",
  searching_in_turn: "Runde {turn} – sucht…",
  reading_in_turn: {
    one: "Runde {turn} – liest {count} Quelle…",
    other: "Runde {turn} – liest {count} Quellen…",
  },
  writing_report: "Schreibt den Bericht…",
  looking_for: "Überlegt, wonach zu suchen ist…",
  searching_queries: { one: "Sucht mit {count} Anfrage…", other: "Sucht mit {count} Anfragen…" },
  reading_pages: { one: "Liest {count} Seite…", other: "Liest {count} Seiten…" },
  layer: "Antwortet erneut mit Blick auf alle Antworten, {layer} von {layers}…",

  the_run: "Die Ausführung",
  the_agent: "Der Agent",
  limit_steps: {
    one: "Der Agent hat sein Limit von {count} Schritt erreicht. Er schließt mit dem bisherigen Stand ab.",
    other:
      "Der Agent hat sein Limit von {count} Schritten erreicht. Er schließt mit dem bisherigen Stand ab.",
  },
  limit_steps_near:
    "Der Agent hat {count} von {limit} Schritten gemacht. Er schließt mit dem bisherigen Stand ab.",
  limit_all_steps: {
    one: "{who} hat mit allen Agenten {count} Schritt gemacht; das Limit beträgt {limit}. Das bisherige Ergebnis bleibt.",
    other:
      "{who} hat mit allen Agenten {count} Schritte gemacht; das Limit beträgt {limit}. Das bisherige Ergebnis bleibt.",
  },
  limit_tokens: {
    one: "{who} hat {count} Token verbraucht; das Limit beträgt {limit}. Das bisherige Ergebnis bleibt.",
    other: "{who} hat {count} Tokens verbraucht; das Limit beträgt {limit}. Das bisherige Ergebnis bleibt.",
  },
  limit_cost: "{who} hat {cost} gekostet; das Limit beträgt {limit}. Das bisherige Ergebnis bleibt.",
  limit_time: "{who} hat das Zeitlimit von {seconds} s erreicht. Das bisherige Ergebnis bleibt.",
  limit_time_near: "{who} hat {seconds} von {limit} s gearbeitet. Das bisherige Ergebnis bleibt.",
  limit_answer: {
    one: "Die Antwort hat das angeforderte Limit von {count} Token erreicht und wurde abgeschnitten.",
    other: "Die Antwort hat das angeforderte Limit von {count} Tokens erreicht und wurde abgeschnitten.",
  },
  hook_stopped: "Der Hook „{hook}“ hat die Ausführung gestoppt: {reason}",
  hook_withheld: "Der Hook „{hook}“ hat die Antwort zurückgehalten: {reason}",

  limit_account: "{who} hat das Limit von {most} pro {span} erreicht. Es wird in {wait} zurückgesetzt.",
  this_account: "Dieses Konto",
  group_of_account: "Eine Gruppe dieses Kontos",
  this_key: "Dieser Schlüssel",
  this_person: "Diese Person",
  requests: { one: "{count} Anfrage", other: "{count} Anfragen" },
  tokens: { one: "{count} Token", other: "{count} Tokens" },
  minute: "Minute",
  day: "Tag",
  month: "Monat",
  seconds: { one: "{count} Sekunde", other: "{count} Sekunden" },
  minutes: { one: "{count} Minute", other: "{count} Minuten" },
  hours: { one: "{count} Stunde", other: "{count} Stunden" },
  days: { one: "{count} Tag", other: "{count} Tagen" },
  model_not_yours:
    "Sie können das Modell {name} nicht mehr nutzen: Die Administration hat die Berechtigungen geändert.",
  agent_not_yours:
    "Sie können den Agenten {name} nicht mehr nutzen: Die Administration hat die Berechtigungen geändert.",
  workspace_not_yours:
    "Sie können den Arbeitsordner {name} nicht mehr nutzen: Die Administration hat die Berechtigungen geändert.",

  media_left_out:
    "Dieses Modell akzeptiert die Bilder, Audios oder Videos dieser Unterhaltung nicht und wurde daher ohne sie gefragt.",
  parameter_left_out: "Das Modell wurde ohne „{name}“ gefragt, weil es das hier nicht akzeptiert.",
  tools_simplified:
    "Der Server dieses Modells akzeptiert die Schemas dieser Tools nicht vollständig, daher erhält das Modell einfachere: {tools}. Die Argumente werden wie zuvor geprüft.",
  tools_left_out: "Der Server dieses Modells lehnt diese Tools ab, sie werden daher ausgelassen: {tools}.",
  tools_by_search:
    "Es gibt mehr Tools, als der Server dieses Modells akzeptiert: {listed} von {all} sind aufgelistet, die übrigen findet das Modell per Suche.",
  stop_sequences_left_out:
    "Das Modell wurde ohne einige der Stoppsequenzen gefragt, weil es sie nicht akzeptiert.",
  arguments_repaired: "Das Modell hat ungültige Argumente für {tool} geschrieben; sie wurden korrigiert.",
  tool_name_repaired: "Das Modell hat „{written}“ aufgerufen; gemeint war das Tool {tool}.",
  empty_answer: "Das Modell hat eine leere Antwort gegeben.",
  made_picture_too_large:
    "Ein Bild des Modells ist zu groß, um gespeichert zu werden: {size} Byte, höchstens {limit} sind möglich.",
  made_picture_unreadable: "Ein Bild des Modells ist nicht lesbar und wird nicht angezeigt.",
  answer_cut:
    "Das Modell hat sein Limit für Ausgabe-Tokens erreicht; die Antwort ist möglicherweise abgeschnitten.",
  answer_filtered: "Der Inhaltsfilter des Modellservers hat die Antwort abgeschnitten.",
  answer_without_end: "Der Modellserver hat seine Antwort beendet, ohne sie als vollständig zu kennzeichnen.",
  answer_not_in_form: "Die Antwort hat nicht das gewünschte Format und wird neu geschrieben: {fault}.",
  answer_never_in_form: "Das Modell hat nicht im gewünschten Format geantwortet: {fault}.",
  other_model: "{before} war nicht nutzbar, stattdessen wird {after} verwendet. {why}",
  title_missing: "es gibt keinen Titel",
  title_of_lines: "der Titel hat mehrere Zeilen",
  title_without_words: "der Titel hat keine oder viel zu viele Wörter",
  title_in_other_language: "der Titel ist nicht in der Sprache des Chats",
  tags_missing: "es gibt keine Tags",
  follow_ups_missing: "es gibt keine follow_ups",
  json_missing: "es gibt kein JSON-Objekt mit {field}",
  fault_and_more: "{fault}; {more}",
  no_summary: "Die älteren Schritte konnten nicht zusammengefasst werden und werden ausgelassen: {why}",
  parts_too_long: "Selbst Teile davon sind für den Modellserver zu lang.",
  no_answer_of: "{name} hat nicht geantwortet. {why}",
  nobody_answered:
    "In dieser Ebene hat kein Modell geantwortet, daher werden die Antworten der vorigen Ebene verwendet.",

  no_report: "Das Modell hat keinen Bericht geschrieben. Dies sind die Notizen.",
  notes_so_far: "Die Recherche endete vor dem Bericht. Dies sind die bisherigen Notizen.",
  cites_nothing: "Der Bericht nennt keine Quellen; woher seine Aussagen stammen, ist nicht erkennbar.",
  quotes_found: "Wörtlich in der Quelle gefunden: Zitate aus {verified} von {count} angeführten Notizen.",
  figures_unsupported:
    "Der Bericht enthält Zahlen oder Zitate ohne Quellenangabe, die in keinem Zitat der Quellen stehen: {list}.",
  nothing_to_research_in:
    "Es gibt nichts, worin recherchiert werden könnte: keine Dokumentsammlung, die Sie durchsuchen können, und keine Websuche. Erstellen Sie zuerst eine Sammlung oder wenden Sie sich an die Administration.",
  no_web_here: "Die Websuche ist hier nicht verfügbar, die Antwort kommt daher ohne sie aus.",

  interrupted:
    "Der Server wurde während dieser Ausführung neu gestartet. Bereits Geschriebenes bleibt erhalten; fragen Sie erneut, um fortzufahren.",
  given_up:
    "Der Server ist während dieser Ausführung wiederholt ausgefallen, daher wurde sie beendet. Bereits Geschriebenes bleibt erhalten; fragen Sie erneut, um fortzufahren.",
  model_gone:
    "Der Server wurde während dieser Ausführung neu gestartet, und das Modell {name} ist nicht mehr verfügbar.",
  fault_of_server:
    "Die Ausführung endete wegen eines Fehlers im Server. Bereits Geschriebenes bleibt erhalten.",
  not_stored: "Das Protokoll konnte nicht gespeichert werden, daher wurde die Ausführung gestoppt.",

  mcp_server_away:
    "Der MCP-Server „{name}“ ist gerade nicht erreichbar, diese Ausführung läuft daher ohne seine Tools weiter.",
  mcp_sign_in_ended:
    "Ihre Anmeldung beim MCP-Server „{name}“ ist abgelaufen, diese Ausführung läuft daher ohne seine Tools weiter. Melden Sie sich unter „Einstellungen“ → „Tool-Berechtigungen und Anmeldungen“ neu an.",
  mcp_server_full: "Der MCP-Server „{name}“ hat gerade zu viele Verbindungen.",
  mcp_server_fails: "Die Verbindung zum MCP-Server „{name}“ ist fehlgeschlagen.",

  saying: "{words} Meldung: „{quote}“",
  other_server: "{why} Stattdessen wird {name} verwendet.",
  other_key: "{why} Es wird ein anderer Schlüssel von {name} verwendet.",
  model_servers_unreachable: "Die Modellserver sind nicht erreichbar: {why}.",
  model_broke_off:
    "Der Modellserver hat die Verbindung mitten in der Antwort geschlossen. Versuchen Sie es erneut; wenn es öfter vorkommt, sehen Sie in dessen Protokoll nach.",
  model_silent:
    "Der Modellserver hat {waited} lang nichts gesendet. Vielleicht lädt er das Modell noch oder ist ausgelastet; versuchen Sie es erneut.",
  model_went_silent:
    "Der Modellserver ist mitten in der Antwort verstummt: {waited} lang kam nichts. Versuchen Sie es erneut.",
  short_milliseconds: "{count} ms",
  short_seconds: "{count} s",
  certificate_not_trusted: "Das Zertifikat von {server} ist nicht vertrauenswürdig: {why}",
  server_name_unknown: "Der Hostname von {server} konnte nicht aufgelöst werden. Prüfen Sie die Adresse.",
  nothing_answers: "Keine Verbindung zu {server}. Läuft der Modellserver, und stimmt die Adresse?",
  closed_before_answer:
    "Der Modellserver unter {server} hat die Verbindung vor der Antwort geschlossen. Versuchen Sie es erneut.",
  no_such_model: "Auf dem Modellserver gibt es kein Modell „{model}“.",
  no_api:
    "Unter {server} gibt es keine OpenAI-kompatible API. Prüfen Sie die Adresse; oft endet sie auf /v1.",
  model_gave_up: "Der Modellserver hat zu lange gebraucht und aufgegeben (408). Versuchen Sie es erneut.",
  context_full: "Die Unterhaltung ist zu lang für das Modell. Meldung des Modellservers: „{quote}“",
  model_refused: "Der Modellserver hat die Anfrage abgelehnt ({status}).",
  model_failed: "Der Modellserver meldet einen Fehler ({status}). Versuchen Sie es später erneut.",
  key_wanted: "Der Modellserver verlangt einen Schlüssel. Geben Sie einen für diese Verbindung ein.",
  key_not_allowed: "Der Modellserver erlaubt diesem Schlüssel die Nutzung des Modells nicht.",
  key_refused: "Der Modellserver hat den Schlüssel abgelehnt. Prüfen Sie den Schlüssel dieser Verbindung.",
  no_credit: "Das Guthaben des Kontos beim Modellserver ist aufgebraucht.",
  slow_down: "Der Modellserver erhält zu viele Anfragen. Warten Sie etwas und versuchen Sie es erneut.",
  sends_on: "{server} leitet zu {to} weiter. Geben Sie stattdessen diese Adresse ein.",
  answers_redirect:
    "{server} ist kein OpenAI-kompatibler Server: Er hat mit einer Weiterleitung geantwortet.",
  answers_web_page:
    "{server} ist kein OpenAI-kompatibler Server: Er hat mit einer Webseite geantwortet. Prüfen Sie die Adresse; oft endet sie auf /v1.",
  no_model_list:
    "{server} ist kein OpenAI-kompatibler Server: Seine Modellliste ist nicht lesbar. Prüfen Sie die Adresse; oft endet sie auf /v1.",
  no_answer_within: "{server} hat nicht innerhalb von {seconds} s geantwortet.",
  no_model_server: "„{model}“ hat keinen Modellserver.",
  did_you_mean: "{words} Meinten Sie {names}?",
  no_embeddings:
    "{model} kann keine Embeddings erstellen: Die Verbindung ist von der Art {kind}. Geben Sie ein Embedding-Modell an.",
  useless_answer: "Die Antwort von {model} ist nicht brauchbar: {why}.",
  answer_over: "Die Antwort von {model} ist größer als {limit} MB.",
  not_finished_within: "Das Modell hat seine Antwort nicht innerhalb von {seconds} s abgeschlossen.",
  model_reported: "Der Modellserver meldet einen Fehler: „{quote}“",
  not_the_protocol:
    "Der Modellserver unter {server} hat etwas gesendet, das nicht dem OpenAI-Protokoll entspricht: „{quote}“",
  conversation_too_long: "Die Unterhaltung dieser Ausführung ist länger als {limit} MB.",
  answer_too_long:
    "Der Modellserver hat mehr als {limit} MB in einer Antwort gesendet. Versuchen Sie es erneut oder verwenden Sie ein anderes Modell.",
  event_too_long:
    "Der Modellserver hat ein einzelnes Ereignis von mehr als {limit} MB gesendet; das entspricht nicht dem Protokoll.",
  gave_up_in_answer: "Der Modellserver hat mitten in der Antwort aufgegeben. Versuchen Sie es erneut.",
  answers_texts: "Der Modellserver unterstützt Chat, aber keine Textvervollständigung.",
  tried_just_now: "Der Modellserver wird gerade erneut getestet.",
  left_alone: "{name} ist wiederholt ausgefallen und wird {seconds} s lang nicht verwendet.",
  because: "{words} {why}",

  vectors_differ: "Das Modell hat Vektoren unterschiedlicher Länge geliefert, die nicht vergleichbar sind.",
  vector_without_direction:
    "Das Modell hat einen Vektor ohne Richtung geliefert, mit dem sich nichts finden lässt.",
  built_in_slow: "Das integrierte Modell hat länger als {seconds} s gebraucht.",
  built_in_missing:
    "Das integrierte Modell ist nicht installiert: {file} fehlt. Die Administration kann es installieren, wie auf der Handbuchseite über Dokumente beschrieben.",
  built_in_broken:
    "Das integrierte Modell konnte nicht geladen werden. Näheres steht im Protokoll des Servers.",
  not_in_form_of: "{name} hat nicht im gewünschten Format geantwortet.",
  no_transcription:
    "{model} kann keine Aufnahmen transkribieren: Die Verbindung ist von der Art {kind}. Legen Sie ein Modell für Transkription fest.",
  reader_unreachable: "Der externe Dokumentleser ist nicht erreichbar.",
  reader_slow: "Der externe Dokumentleser brauchte länger als {seconds} s.",
  reader_busy: "Der externe Dokumentleser ist überlastet.",
  reader_refused: "Der externe Dokumentleser hat die Datei abgelehnt (HTTP {status}).",
  reader_failed: "Der externe Dokumentleser konnte die Datei nicht lesen.",
  reader_answer_over: "Die Antwort des externen Dokumentlesers ist größer als {limit} MB.",
  reader_other:
    "An der Adresse des externen Dokumentlesers antwortet etwas anderes. Prüfen Sie knowledge.reader_url und knowledge.reader_kind.",
  recording_too_large: "Die Aufnahme ist zu groß. Höchstens {limit} MB werden transkribiert.",
  said_nothing: "{name} hat das Bild nicht beschrieben.",
  only_words: "Nur Stichwörter wurden verglichen, keine Bedeutungen: {why}",
  not_embedded_yet:
    "In einigen Sammlungen wurden nur Stichwörter verglichen, denn für ihre Dokumente gibt es noch keine Embeddings.",
  not_ranked: "Die besten Ergebnisse wurden nicht neu sortiert: {why}",

  no_address:
    "Die Adresse ist nicht nutzbar: Sie muss mit https:// beginnen und darf keinen Benutzernamen enthalten.",
  address_not_allowed:
    "Die Adresse führt zu diesem Rechner, in ein privates Netzwerk oder zu einem Port, der nicht fürs Web bestimmt ist. Nur die Administration kann das erlauben (outbound.allow).",
  unreachable: "Die Adresse ist nicht erreichbar.",
  slow: "Keine rechtzeitige Antwort.",
  too_many_redirects: "Zu viele Weiterleitungen.",
  answer_too_large: "Die Antwort ist zu groß.",
  answer_compressed: "Die Antwort ist komprimiert, obwohl das nicht angefordert war.",
  answer_cut_off: "Die Verbindung ist mitten in der Antwort abgebrochen.",
  robots_refuse:
    "Die robots.txt der Website bittet Programme, diese Seite nicht zu lesen; sie wurde daher nicht gelesen. Verwenden Sie eine andere Quelle.",
  no_page: "Seite nicht gefunden (HTTP {status}).",
  page_closed:
    "Die Website erlaubt das Lesen dieser Seite nicht (HTTP {status}). Verwenden Sie eine andere Quelle.",
  site_busy:
    "Die Website bittet um Geduld (HTTP 429). Versuchen Sie es später erneut oder verwenden Sie eine andere Quelle.",
  site_fault: "Der Server der Website meldet einen Fehler (HTTP {status}). Versuchen Sie es später erneut.",
  without_page: "Die Website hat ohne Seite geantwortet (HTTP {status}).",
  not_text: "Unter dieser Adresse liegt kein Text und damit nichts Lesbares, sondern {what}.",
  a_picture: "ein Bild",
  sound_or_film: "Audio oder Video",
  no_image: "Die Website hat ohne Bild geantwortet (HTTP {status}).",
  not_image: "Das ist kein PNG-, JPEG-, GIF- oder WebP-Bild.",
  page_unreadable: "Die Seite wurde geladen, ist aber nicht lesbar. {why}",
  page_needs_scripts: "Die Seite zeigt ohne ihre Skripte nichts an, und {why}",
  scripts_slow: "sie wurden nicht rechtzeitig fertig.",
  scripts_too_large: "sie haben mehr Arbeits- oder Festplattenspeicher belegt, als eine Seite nutzen darf.",
  browser_not_started: "der Browser dieses Servers konnte nicht gestartet werden.",
  browser_failed: "der Browser dieses Servers ist daran gescheitert.",
  browser_not_here: "der Browser kann auf diesem System nicht gestartet werden.",
  crawl4ai_failed: "Crawl4AI konnte sie nicht laden: {why}.",
  no_web_search:
    "Die Websuche ist auf diesem Server nicht eingerichtet. Die Administration kann sie einrichten (web.search).",
  bad_web_query: "Eine Suchanfrage muss 1 bis {limit} Zeichen haben.",
  web_search_failed: "Die Suche ist fehlgeschlagen: {why}",
  own_fault: "Der Server konnte das wegen eines internen Fehlers nicht ausführen.",
  collection_full: {
    one: "Eine Sammlung kann höchstens {count} Dokument enthalten.",
    other: "Eine Sammlung kann höchstens {count} Dokumente enthalten.",
  },
  no_room_for_documents: "Für Ihre Dokumente ist kein Platz mehr. Löschen Sie zuerst einige.",
  key_unreadable:
    "Dieser Schlüssel ist mit der Schlüsseldatei dieses Servers nicht lesbar. Geben Sie ihn neu ein.",
};
