/** German error messages of the server, by message code, as in sentences.ts. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusalsOfTools } from "./refusals-of-tools.ts";

const of = (before: string, [one, other]: [string, string], after = ""): Entry => ({
  one: `${before}{count} ${one}${after}`,
  other: `${before}{count} ${other}${after}`,
});

const noMore = ", mehr sind nicht möglich.";

export const refusals = {
  ...refusalsOfTools,
  no_such_thing: "Nicht gefunden, oder es gehört Ihnen nicht.",
  no_such_id: "Die ID in der Adresse ist ungültig.",
  other_version: "Diese Datei gehört zu einer anderen Version der App. Laden Sie die Seite neu.",
  changed_meanwhile:
    "Das wurde inzwischen geändert oder existiert bereits. Laden Sie es neu und wiederholen Sie Ihre Änderung.",
  out_of_range: "`{field}` muss {least} bis {most} sein.",
  not_up_to: "{field} muss 1 bis {most} sein.",
  text_bytes: "`{field}` muss 1 bis {limit} Byte haben.",
  text_too_long: "`{field}` kann höchstens {limit} Byte haben.",
  too_many_characters: "`{field}` kann höchstens {limit} Zeichen haben.",
  line_characters: "`{field}` muss 1 bis {limit} Zeichen in einer Zeile haben.",
  plain_characters: "`{field}` kann höchstens {limit} Zeichen haben, ohne NUL.",
  line_bytes: "`{field}` muss 1 bis {limit} Byte in einer Zeile haben.",
  field_missing: "`{field}` fehlt.",
  bad_day: "Geben Sie den Tag wie 2026-11-23 an.",
  bad_days: "`from` muss ein Tag vor `to` sein, höchstens zehn Jahre davor.",
  long_search: "Eine Suche kann höchstens {limit} Zeichen haben.",
  request_too_large: "Die Anfrage überschreitet das Limit von {limit} MB. Senden Sie weniger.",
  request_too_large_here:
    "Die Anfrage überschreitet das hier geltende Limit von {limit} kB. Senden Sie weniger.",
  broke_off: "Die Übertragung der Anfrage ist abgebrochen. Senden Sie sie erneut.",
  too_slow: "Die Anfrage wurde zu langsam übertragen. Senden Sie sie erneut.",
  sign_in_first: "Melden Sie sich zuerst an; Programme senden „Authorization: Bearer gh_…“.",
  only_administrators: "Das können nur Admins.",
  from_other_site:
    "Diese Anfrage kam von einer anderen Website. Öffnen Sie Glasshouse selbst; Programme verwenden einen API-Schlüssel.",
  only_localhost:
    "Dieser Server antwortet nur als localhost oder 127.0.0.1. Hinter einem Proxy setzen Sie public_url auf die Adresse, die aufgerufen wird.",
  no_public_url: "Die Administration muss zuerst public_url auf die Adresse setzen, die aufgerufen wird.",
  proxy_hides_host:
    "Der Proxy muss den aufgerufenen Hostnamen (den Host-Header) weitergeben, wie in public_url.",
  proxy_unclear: "Der Proxy hat Sie nicht eindeutig identifiziert.",
  too_many_tries: of(
    "Zu viele Versuche. Warten Sie ",
    ["Sekunde", "Sekunden"],
    " und versuchen Sie es erneut.",
  ),
  server_fault: "Auf dem Server ist etwas schiefgegangen. Näheres steht in seinem Protokoll.",
  bodies_full: "Der Server empfängt gerade zu viele große Anfragen. Versuchen Sie es gleich noch einmal.",
  stopping: "Der Server wird beendet.",
  database_silent: "Die Datenbank antwortet nicht. Versuchen Sie es gleich noch einmal.",
  disk_full:
    "Auf dem Server ist kein Speicherplatz mehr dafür. Geben Sie Speicherplatz frei und versuchen Sie es erneut.",
  database_lost:
    "Dieser Server hat soeben die Verbindung zu seiner Datenbank verloren. Versuchen Sie es gleich noch einmal.",

  wrong_login: "E-Mail oder Passwort ist falsch.",
  account_suspended: "Dieses Konto ist gesperrt. Wenden Sie sich an die Administration.",
  already_set_up: "Dieser Server hat bereits ein Administratorkonto. Melden Sie sich an.",
  set_up_link_needed:
    "Öffnen Sie den Einrichtungslink, den der Server beim Start ausgegeben hat. Auch andere können diesen Server erreichen, daher ist für das erste Konto das Token in diesem Link nötig.",
  no_provider: "Single Sign-on ist auf diesem Server nicht eingerichtet.",
  no_such_session: "Sitzung nicht gefunden oder bereits beendet.",
  sign_in_too_long: "Diese Anmeldung hat zu lange gedauert oder wurde woanders begonnen. Beginnen Sie neu.",
  bad_password: "Ein Passwort muss {least} bis {most} Zeichen haben. Wählen Sie ein anderes.",
  wrong_password: "Das aktuelle Passwort ist falsch.",
  password_changed: "Das Passwort wurde soeben an anderer Stelle geändert.",
  password_by_browser: "Melden Sie sich im Browser an, um das Passwort zu ändern.",
  reset_link_over:
    "Dieser Link wurde bereits verwendet oder ist abgelaufen. Bitten Sie die Administration um einen neuen.",
  no_reset_by_mail:
    "Dieser Server verschickt keine Links zum Zurücksetzen per E-Mail. Bitten Sie die Administration um einen.",
  wrong_code: "Der Code ist falsch oder wurde bereits verwendet. Warten Sie auf den nächsten.",
  wrong_first_code:
    "Der Code ist falsch. Warten Sie auf den nächsten und prüfen Sie, ob die Uhr Ihres Smartphones richtig geht.",
  code_asked_already: "Die Zwei-Faktor-Anmeldung ist bereits aktiv. Deaktivieren Sie sie zuerst.",
  no_code_asked: "Die Zwei-Faktor-Anmeldung ist deaktiviert.",
  nothing_to_confirm: "Es gibt nichts zu bestätigen. Beginnen Sie neu.",
  second_step_key_lost:
    "Der Server hat den Schlüssel zum Geheimnis Ihrer Authenticator-App verloren. Verwenden Sie einen Wiederherstellungscode, oder bitten Sie die Administration, die Zwei-Faktor-Anmeldung zu deaktivieren.",
  second_step_by_browser: "Melden Sie sich im Browser an, um die Zwei-Faktor-Anmeldung zu ändern.",
  proxy_signs_in: "Der Proxy vor diesem Server meldet Sie an und entscheidet, was dafür nötig ist.",
  no_passkeys_here:
    "Passkeys brauchen einen Hostnamen und TLS. Öffnen Sie diesen Server als localhost, oder bitten Sie die Administration, public_url auf seine https-Adresse zu setzen.",
  passkey_by_browser: "Melden Sie sich im Browser an, um einen Passkey zu erstellen.",
  sign_in_afresh:
    "Sie haben hier kein Passwort, um Ihre Identität zu bestätigen. Melden Sie sich zuerst ab und wieder an.",
  passkey_too_long: "Das hat zu lange gedauert oder wurde woanders begonnen. Beginnen Sie neu.",
  bad_passkey: "Der Browser hat keinen Passkey erstellt, der hier nutzbar ist.",
  too_many_passkeys:
    "Sie können höchstens zwanzig Passkeys haben. Entfernen Sie einen, den Sie nicht nutzen.",
  passkey_known: "Dieser Passkey ist bereits registriert.",
  no_such_passkey: "Passkey nicht gefunden.",
  no_passkeys_of_account: "Konto nicht gefunden, oder es hat keine Passkeys.",
  wrong_passkey:
    "Dieser Passkey ist hier nicht registriert oder konnte nicht geprüft werden. Melden Sie sich mit dem Passwort an.",
  passkey_copied:
    "Von diesem Passkey scheint es zwei Kopien zu geben, daher funktioniert er nicht mehr. Melden Sie sich auf andere Weise an und entfernen Sie ihn in den Einstellungen.",
  bad_email: "Das ist keine E-Mail-Adresse. Sie muss aussehen wie ada@example.org.",
  empty_name: "Der Name ist leer. Geben Sie den Namen ein, den andere sehen sollen.",
  long_name: "Ein Name kann höchstens {limit} Zeichen in einer Zeile haben.",
  no_such_account: "Konto nicht gefunden.",
  no_account_by: "Kein Konto hat diese E-Mail-Adresse oder ID.",
  nobody_with_email: "Kein Konto hat diese E-Mail-Adresse.",
  nobody_with_address: "Kein Konto hat die E-Mail-Adresse „{address}“.",
  email_taken: "Es gibt bereits ein Konto mit dieser E-Mail-Adresse.",
  last_administrator:
    "Das ist das letzte Admin-Konto mit Anmeldemöglichkeit. Machen Sie zuerst ein anderes Konto zum Admin.",
  suspend_yourself: "Das eigene Konto kann man nicht sperren. Andere Admins können das.",
  own_second_step:
    "Das ist Ihr eigenes Konto. Deaktivieren Sie die Zwei-Faktor-Anmeldung in Ihren Einstellungen, mit Ihrem Passwort.",
  no_second_step: "Konto nicht gefunden, oder seine Zwei-Faktor-Anmeldung ist deaktiviert.",
  delete_by_browser: "Melden Sie sich im Browser an, um das Konto zu löschen.",
  not_suspended: "Nur ein gesperrtes Konto kann gelöscht werden. Sperren Sie es zuerst.",
  no_moderation:
    "Admins können auf diesem Server keine Chats anderer lesen. `moderation` in der Konfiguration ändert das.",
  invitation_needed:
    "Für ein Konto auf diesem Server brauchen Sie eine Einladung. Wenden Sie sich an die Administration.",
  invitation_over:
    "Diese Einladung wurde verwendet, ist abgelaufen, wurde widerrufen oder gilt für eine andere Adresse. Bitten Sie um eine neue.",
  invitation_for_one:
    "Eine Einladung für eine Adresse gilt nur einmal. Lassen Sie die Adresse oder die Anzahl der Verwendungen weg.",
  invitation_for_one_admin:
    "Eine Einladung für einen Admin gilt nur einmal. Lassen Sie die Anzahl der Verwendungen weg.",
  invitation_used_up: "Diese Einladung ist aufgebraucht. Erstellen Sie eine neue.",
  no_such_invitation: "Einladung nicht gefunden.",
  group_gone: "Gruppe nicht gefunden. Möglicherweise wurde sie gelöscht.",
  no_such_group: "Gruppe nicht gefunden.",
  group_name_taken: "Eine andere Gruppe hat bereits diesen Namen.",
  too_many_groups: of("Es gibt bereits ", ["Gruppe", "Gruppen"], `${noMore} Löschen Sie zuerst eine.`),
  member_gone: "Eine dieser Personen hat hier kein Konto, oder es wurde gelöscht.",
  not_in_group: "Diese Person ist nicht in der Gruppe.",
  long_description: "Eine Beschreibung kann höchstens {limit} Zeichen haben.",
  long_provider_name: "Ein Name beim Anbieter kann höchstens {limit} Byte in einer Zeile haben.",
  bad_members: "`users` muss 1 bis {limit} E-Mail-Adressen oder IDs von Konten enthalten.",
  no_such_right: "Unbekanntes Recht. Möglich sind: {names}.",
  too_many_groups_of_rule: "`groups` kann höchstens {limit} Gruppen enthalten.",
  group_of_rule_gone: "Eine dieser Gruppen wurde nicht gefunden. Möglicherweise wurde sie gelöscht.",
  too_many_rules: of("Es gibt bereits ", ["Regel", "Regeln"], noMore),
  no_right_to_keys: "Sie dürfen hier keine API-Schlüssel verwenden. Wenden Sie sich an die Administration.",
  no_right_to_share:
    "Sie dürfen hier keine Chats und Dokumente teilen. Wenden Sie sich an die Administration.",
  no_right_to_schedules: "Sie dürfen hier keine Zeitpläne verwenden. Wenden Sie sich an die Administration.",
  no_right_to_programs:
    "Ihre Agenten dürfen hier keine Programme ausführen. Wenden Sie sich an die Administration.",
  bad_key_name: "Ein Schlüssel braucht einen Namen mit 1 bis 100 Zeichen.",
  no_scopes: "Ein Schlüssel braucht mindestens einen Scope. Lassen Sie `scopes` weg, um alle zu erlauben.",
  no_admin_scope: "Nur Schlüssel von Admins können den Scope „admin“ haben.",
  no_front_end_key: "Nur Admins können einem Frontend erlauben, für andere zu handeln.",
  bad_key_models: "`models` muss 1 bis 200 Modelle oder Agenten nennen, wie sie GET /v1/models auflistet.",
  scopes_of_model_key: "Ein Schlüssel für bestimmte Modelle kann nur die Scopes „chat“ und „read“ haben.",
  expired_already: "`expires_at` liegt in der Vergangenheit. Angegeben wird es in Millisekunden seit 1970.",
  bad_signing_key: "`signing_key` ist nur für vertrauenswürdige Frontends und muss 16 bis 500 Byte haben.",
  bad_limit:
    "Ein Limit muss 0 bis 1.000.000.000.000 Anfragen oder Tokens oder 0 bis 1.000.000.000 US-Dollar betragen.",
  only_own_usage: "Die Nutzung anderer können nur Admins sehen.",

  too_many_tags: of("Höchstens ", ["Tag", "Tags"], " pro Chat."),
  bad_choice_of_chats: of("Wählen Sie 1 bis ", ["Chat", "Chats"], "."),
  bad_folder_name: "Ein Ordnername muss 1 bis {limit} Zeichen haben.",
  folder_name_taken: "Sie haben bereits einen Ordner mit diesem Namen.",
  too_many_folders: of("Sie haben bereits ", ["Ordner", "Ordner"], noMore),
  bad_title: "Ein Titel muss 1 bis {limit} Zeichen haben.",
  too_many_parts: of("Eine Nachricht kann höchstens ", ["Teil", "Teile"], " haben."),
  empty_message: "Die Nachricht ist leer. Schreiben Sie zuerst etwas.",
  foreign_picture: "Senden Sie Bilder als data:image/…-URLs.",
  parent_gone:
    "Die Nachricht, auf die Sie antworten, wurde in diesem Chat nicht gefunden. Möglicherweise wurde sie gelöscht.",
  no_such_answer: "Antwort in diesem Chat nicht gefunden.",
  only_text_from_readers: "In Chats anderer können Sie nur Text senden.",
  no_chat_to_queue_for:
    "Diese Ausführung gehört zu keinem Chat, daher gibt es keine nächste Runde, für die eine Nachricht warten könnte.",
  bad_input_id: "Eine ID muss aus 1 bis 100 ASCII-Buchstaben, -Ziffern oder -Zeichen bestehen.",
  steer_only_for_agents:
    "Nachrichten an einen Subagenten werden bei dessen nächstem Schritt gelesen: Verwenden Sie den Modus `steer`.",
  earlier_chat_gone: "Der Chat der früheren Anfrage existiert nicht mehr.",
  bad_push_keys: "Das sind nicht die Schlüssel des Push-Abonnements eines Browsers.",
  push_needs_browser:
    "Push-Benachrichtigungen erhält nur ein Browser, in dem jemand angemeldet ist, kein API-Schlüssel.",
  too_many_push_subscriptions: of(
    "Push-Benachrichtigungen erhalten höchstens ",
    ["Browser", "Browser"],
    " einer Person.",
  ),
  bad_expiry: "Wählen Sie {min} bis {max} Sekunden.",
  not_temporary: "Dieser Chat ist nicht temporär und kann es nicht werden.",
  temporary_not_shared: "Ein temporärer Chat kann nicht geteilt werden. Behalten Sie ihn zuerst.",
  your_own_address: "Das ist Ihre eigene Adresse.",
  too_many_readers: of("Ein Chat kann mit höchstens ", ["Person", "Personen"], " namentlich geteilt werden."),
  bad_number_of_answers: of("Sie können 1 bis ", ["Antwort", "Antworten"], " auf einmal anfordern."),
  bad_number_of_layers: "Die Anzahl der Ebenen muss 1 bis {count} sein.",
  too_many_beside: of(
    "Eine Nachricht kann höchstens ",
    ["alternative Antwort", "alternative Antworten"],
    " haben.",
  ),
  too_many_to_merge: {
    one: "Höchstens {count} Antwort kann zusammengeführt werden.",
    other: "Höchstens {count} Antworten können zusammengeführt werden.",
  },
  answer_of_other_program:
    "Diese Antwort baut auf Tools auf, die ein anderes Programm ausgeführt hat; alternative Antworten sind daher nicht möglich.",
  not_beside: "Eine der Antworten ist keine Alternative zu dieser, oder nicht mehr.",
  no_answer_to_merge_yet:
    "Keine dieser Antworten ist fertig und enthält Text. Warten Sie auf eine, oder fragen Sie erneut.",
  no_answer_to_merge: "Es gibt keine Antwort zum Zusammenführen.",
  merging_is_off: "Das Zusammenführen von Antworten ist hier deaktiviert.",
  no_such_run: "Ausführung nicht gefunden, oder es ist nicht Ihre.",
  no_such_call: "Aufruf in dieser Ausführung nicht gefunden, oder er ist noch nicht fertig.",
  damaged_log: "Das Protokoll dieser Ausführung ist beschädigt und nicht vollständig lesbar.",
  bad_agent_id: "Das ist nicht die ID eines Subagenten. Sie muss aussehen wie a2.1.",
  long_answer: "Eine Antwort kann höchstens {limit} Byte haben.",
  run_set_aside:
    "Die Ausführung kann noch nicht weiterlaufen: Ihr Modellserver oder die Datenbank hat nicht geantwortet. Sie können sie jetzt stoppen und ihre Fragen beantworten, sobald sie weiterläuft.",
  run_elsewhere:
    "Die Ausführung läuft auf einem anderen Server und soll gestoppt werden, ist aber noch nicht beendet. Versuchen Sie es gleich noch einmal.",
  run_still_rests:
    "Die Ausführung konnte nicht fortgesetzt werden, um die Antwort entgegenzunehmen. Versuchen Sie es gleich noch einmal.",
  run_has_ended: "Die Ausführung ist beendet. Senden Sie dies als neue Nachricht.",
  run_not_working:
    "Die Ausführung kann gerade keine Nachricht entgegennehmen. Versuchen Sie es gleich noch einmal.",
  too_many_inputs: {
    one: "{count} Nachricht wartet auf diese Ausführung. Warten Sie, bis sie gelesen ist.",
    other: "{count} Nachrichten warten auf diese Ausführung. Warten Sie, bis einige gelesen sind.",
  },
  no_such_input: "Diese Ausführung hat keine solche Nachricht.",
  input_was_read: "Der Agent hat diese Nachricht bereits gelesen.",
  not_waiting:
    "Hier wird keine Antwort mehr erwartet: Es wurde bereits geantwortet, oder die Ausführung ist beendet.",
  arguments_unfit: "Die bearbeiteten Argumente passen nicht zum Tool: {why}",
  asked_each_time:
    "Die Administration verlangt für jeden dieser Aufrufe eine Genehmigung. Erlauben Sie nur diesen.",
  only_allowed_remembered: "Nur eine Erlaubnis kann gemerkt werden.",
  no_chat_to_allow_in: "Diese Ausführung gehört zu keinem Chat. Erlauben Sie den Aufruf einmal oder immer.",
  too_many_allowed: of(
    "Sie haben bereits ",
    ["Art", "Arten"],
    " von Aufrufen erlaubt, mehr sind nicht möglich. Widerrufen Sie einige in den Einstellungen.",
  ),
  long_pattern: "Ein Muster kann höchstens {limit} Byte haben.",
  too_many_arguments: of("Eine Regel kann höchstens ", ["Argument", "Argumente"], " nennen."),
  fork_without_chat:
    "Diese Ausführung gehört zu keinem Chat, daher gibt es keine Unterhaltung zum Verzweigen.",
  fork_while_going:
    "Die Ausführung ist noch nicht beendet. Stoppen Sie sie oder warten Sie das Ende ab, bevor Sie sie verzweigen.",
  fork_too_long: "Die Ausführung ist zu lang zum Verzweigen.",
  no_fork_there:
    "Verzweigen lässt sich eine Ausführung nur direkt vor einem Modellaufruf ihres Hauptagenten, und Ereignis {after} ist keine solche Stelle.",
  fork_nearby:
    "Verzweigen lässt sich eine Ausführung nur direkt vor einem Modellaufruf ihres Hauptagenten, und Ereignis {after} ist keine solche Stelle. Verwenden Sie Ereignis {nearest}.",
  message_of_run_gone: "Die Nachricht dieser Ausführung ist nicht mehr in ihrem Chat.",
  fork_of_other_program:
    "Diese Antwort baut auf Tools auf, die ein anderes Programm ausgeführt hat; nur dieses Programm kann sie fortsetzen.",
  file_not_kept:
    "Die Version der Datei {path} bei diesem Schritt ist nicht mehr gespeichert, daher können die Dateien des Chats nicht wiederhergestellt werden.",
  no_such_state: "Datei in diesem Chat nicht gefunden, oder diese Version ist nicht mehr gespeichert.",
  no_such_file: "Datei in diesem Chat nicht gefunden.",
  file_changed: "Die Datei wurde inzwischen geändert. Laden Sie sie neu und wiederholen Sie Ihre Änderung.",
  directory_of_owner:
    "Die Dateien dieses Chats liegen in einem Verzeichnis des Servers, das nur die Person lesen kann, der er gehört.",
  too_many_for_archive:
    "Das Verzeichnis hat zu viele Dateien für ein Archiv, oder einer seiner Ordner ist nicht lesbar.",
  memory_without_name: "Der Name fehlt.",
  long_memory_name: "Der Name muss eine Zeile mit höchstens {limit} Zeichen sein.",
  long_memory_agent: "Der Name des Agenten muss eine Zeile mit höchstens {limit} Zeichen sein.",
  long_memory_description: "Die Beschreibung muss eine Zeile mit höchstens {limit} Zeichen sein.",
  long_memory: "Der Text kann höchstens {limit} Zeichen haben.",
  memory_name_taken: "Eine andere Erinnerung hat bereits diesen Namen.",
  too_many_memories: of(
    "Es gibt bereits ",
    ["Erinnerung", "Erinnerungen"],
    `${noMore} Löschen Sie zuerst einige.`,
  ),
  memory_changed: "Die Erinnerung wurde inzwischen geändert. Laden Sie sie neu.",
  bad_fact: "Ein Fakt muss 1 bis {limit} Zeichen haben.",
  still_moving:
    "Ein anderer Export oder Import von Ihnen läuft noch. Warten Sie dessen Ende ab und versuchen Sie es dann erneut.",
  importing_is_off: "Die Administration hat Importe auf diesem Server deaktiviert.",
  stopping_import:
    "Der Server wird beendet. Importieren Sie die Datei gleich noch einmal: Bereits Importiertes bleibt erhalten.",
  compressed_file: "Das ist eine komprimierte Datei. Entpacken Sie sie und wählen Sie die enthaltene Datei.",
  archive_without_chats:
    "Dieses Archiv enthält keine conversations.json. Wählen Sie die ZIP-Datei eines ChatGPT- oder Claude-Exports, oder entpacken Sie sie und wählen Sie die Datei darin.",
  damaged_archive: "Diese ZIP-Datei ist beschädigt oder unvollständig. Laden Sie sie erneut herunter.",
  encrypted_archive:
    "Diese ZIP-Datei ist verschlüsselt. Entpacken Sie sie und wählen Sie dann die Datei darin.",
  too_many_entries: "Diese ZIP-Datei enthält mehr als {count} Dateien.",
  not_a_chat: "Das ist kein Chat von Open WebUI, ChatGPT, Claude oder LibreChat.",
  too_many_values: "Enthält zu viele Werte.",
  chat_without_messages: "Enthält keine Nachrichten.",
  more_messages_than: "Enthält mehr als {count} Nachrichten.",
  single_message:
    "Das ist eine einzelne Nachricht von LibreChat. Exportieren Sie stattdessen die ganze Unterhaltung.",
  hidden_there:
    "Benutzerdefinierte Anweisungen und Nachrichten, die dort ausgeblendet waren, werden nicht importiert.",
  recordings_stay: "Aufnahmen werden nicht importiert, nur ihre Transkripte.",
  other_content: "Inhalte der Art „{kind}“ werden nicht unterstützt.",
  too_many_steps: "Die Antwort hat zu viele Schritte.",
  not_mentioned: "Kein importierter Chat erwähnt diese Datei.",
  not_chats: "Aus diesem Archiv werden nur Chats und ihre Dateien importiert.",
  no_importable_file:
    "Diese Datei kann nicht importiert werden. Wählen Sie einen Export von Glasshouse, Open WebUI, ChatGPT, Claude oder LibreChat.",
  other_format: "Die Datei hat das Format {format}, dieser Server unterstützt aber das Format {known}.",
  format_unsaid: "Die erste Zeile der Datei gibt nicht an, was sie ist.",
  bad_path: "Ein Pfad kann höchstens {limit} Byte und keine Steuerzeichen haben.",
  path_missing: "Der Pfad einer Datei fehlt.",
  file_not_text: "{path} ist kein Text ({what}, {size} Byte).",
  nul_in_text: "Text enthält keine NUL-Zeichen, und dieses Tool schreibt Text.",
  file_there: "{from} existiert bereits.",
  cannot_move: "{from} kann nicht nach {to} verschoben werden. Kopieren Sie die Datei stattdessen.",
  file_too_large: "Die Datei hätte {size} Byte, das Limit beträgt {limit}.",
  text_too_large: "Die Datei hätte {size} Byte, das Limit beträgt {limit}. Teilen Sie sie auf.",
  too_many_files: of("Der Arbeitsordner enthält bereits ", ["Datei", "Dateien"], noMore),
  files_too_large:
    "Die Dateien hätten zusammen {size} Byte, das Limit beträgt {limit}. Löschen Sie nicht mehr benötigte.",
  directory_kept:
    "Dieser Chat hat frühere Versionen von {files} Dateien oder {bytes} Byte seines Verzeichnisses gespeichert; das ist das Limit. Machen Sie in einem neuen Chat weiter.",
  too_many_results: "Unter den Dateien sind zu viele Ergebnisse gespeichert.",
  no_room_for_files: "Auf dem Server ist kein Platz mehr für Dateien.",
  files_unreachable: "Die Dateien sind gerade nicht erreichbar. Versuchen Sie es erneut.",
  path_unusable:
    "/{path} ist nicht nutzbar: Es ist keine normale Datei, führt durch einen Link oder ist ausgeschlossen ({names} wird ausgeblendet).",
  file_over_limit: "Die Datei überschreitet das Limit von {limit} Byte.",
  directory_read_only: "Das Verzeichnis {name} ist hier schreibgeschützt.",
  directory_full: "Der Datenträger des Verzeichnisses {name} ist voll.",
  directory_fails: "Das Verzeichnis {name} ist nicht nutzbar: {why}.",

  field_empty: "„{label}“ ist erforderlich.",
  field_unfit: "„{label}“: Erwartet wird {what}.",
  no_such_field: "Das Formular hat kein Feld „{name}“.",
  question_without_form: "Diese Frage hat kein Formular. Senden Sie `answer`, einen Text.",
  answers_unreadable:
    "Die Antworten auf das Formular sind nicht lesbar. Senden Sie ein JSON-Objekt oder je eine Zeile „Name: Wert“ für: {names}.",
  an_email_address: "eine E-Mail-Adresse",
  a_web_address: "eine Adresse wie https://example.org",
  a_date: "ein Datum wie 2026-01-31",
  a_time: "ein Zeitpunkt wie 2026-01-31T12:00:00Z",
  a_text_of: "ein Text mit {size} Zeichen",
  a_whole_number: "eine ganze Zahl",
  a_whole_number_of: "eine ganze Zahl, {size}",
  a_number: "eine Zahl",
  a_number_of: "eine Zahl, {size}",
  yes_or_no: "Ja oder Nein",
  one_of: "eine dieser Optionen: {names}",
  some_of: "{size} dieser Optionen: {names}",
  from_to: "{least} bis {most}",
  at_least: "mindestens {least}",
  at_most: "höchstens {most}",
  and_more: "{names} und {more} weitere",

  file_not_whole:
    "Die Datei ist unvollständig: Ihr Ende fehlt. Der Rest wurde importiert; exportieren Sie erneut, um alles zu erhalten.",
  too_long: "Zu lang.",
  in_line: "Zeile {line} der Datei: {why}",
  too_many_small: "Es gibt zu viele Erinnerungen, Fakten und Zeitpläne.",
  too_many_chats: "Es gibt zu viele Chats.",
  runs_outside: "Ausführungen außerhalb von Chats werden nur einige Tage aufbewahrt.",
  keys_stay: "Schlüssel werden nicht übertragen. Erstellen Sie neue in den Einstellungen.",
  agents_stay: "Agenten können nur von Admins in den Einstellungen definiert werden.",
  of_no_chat: "Gehört zu keinem Chat in der Datei.",
  directory_stays:
    "Der Chat hat in einem Verzeichnis des anderen Rechners gearbeitet; dessen Dateien bleiben dort.",
  id_taken: "Eine der IDs wird hier bereits verwendet oder kommt in der Datei zweimal vor.",
  memory_name_here: "Eine andere Erinnerung hat bereits diesen Namen.",
  memories_full: of("Es gibt bereits ", ["Erinnerung", "Erinnerungen"], noMore),
  facts_full: of("Es gibt bereits ", ["Fakt", "Fakten"], noMore),
  schedules_full: of("Es gibt bereits ", ["Zeitplan", "Zeitpläne"], noMore),
  more_than_mb: "Größer als {limit} MB.",
  more_than_bytes: "Größer als {limit} Byte.",
  only_name: "Der Export enthält nur den Namen des Anhangs.",
  other_role: "Stammt weder von der Person noch von einem Assistenten.",
  stray_run: "Gehört zu einer Nachricht, die nicht in ihrem Chat ist.",
  not_ended: "War beim Erstellen des Exports noch nicht beendet.",
  long_log: "Das Protokoll ist zu lang.",
  other_log: "Das Protokoll gehört zu einer anderen Ausführung.",
  too_many_sub_agents: "Zu viele Subagenten.",
  strange_log: "Das Protokoll ist ungültig: {why}.",
  used_too_much: "Der angegebene Verbrauch ist höher als möglich.",
  more_parts_than: of("Eine Nachricht hat mehr als ", ["Teil", "Teile"], "."),
  too_many_messages: "Zu viele Nachrichten, oder sie sind zu lang.",
  message_of_other: "Eine Nachricht stammt weder von der Person noch von einem Assistenten.",
  message_astray: "Eine Nachricht folgt auf eine, die nicht davor kommt.",
  message_twice: "Eine Nachricht kommt zweimal vor.",
  too_many_runs: "Zu viele Ausführungen.",
  run_twice: "Eine Ausführung kommt zweimal vor.",
  long_logs: "Die Protokolle sind zu lang.",
  log_astray: "Ein Protokoll steht nicht direkt nach seiner Ausführung.",
  picture_elsewhere: "Eine Nachricht hat ein Bild, das nicht in der Datei ist.",
  no_room_in_chat: "Passt nicht in die Limits des Chats.",
  comes_twice: "Kommt zweimal vor.",
  damaged: "Der Inhalt ist beschädigt.",
  document_not_whole: "Die Datei ist unvollständig.",
  collection_not_here: "Die zugehörige Sammlung existiert hier nicht.",
  file_over: "Eine Datei kann hier höchstens {limit} MB haben.",
  chat_not_here: "Der zugehörige Chat existiert hier nicht.",

  no_such_collection: "Sammlung nicht gefunden oder nicht mit Ihnen geteilt.",
  too_many_collections: of("Sie haben bereits ", ["Sammlung", "Sammlungen"], noMore),
  documents_of_accounts: "Nur Konten können Dokumente haben, nicht die Nutzer eines Frontends.",
  too_many_groups_shared: of("Eine Sammlung kann mit höchstens ", ["Gruppe", "Gruppen"], " geteilt werden."),
  too_many_people_shared: of(
    "Eine Sammlung kann mit höchstens ",
    ["Person", "Personen"],
    " namentlich geteilt werden.",
  ),
  not_your_group: "Sie können nur mit Gruppen teilen, in denen Sie selbst sind.",
  owners_address: "Das ist die Adresse der Person, der die Sammlung gehört.",
  empty_file: "Die Datei ist leer.",
  bad_file_name: "`name` muss ein Dateiname mit 1 bis {limit} Byte sein.",
  documents_too_large:
    "Ihre Dokumente können zusammen höchstens {limit} MB haben. Löschen Sie zuerst einige.",
  nothing_to_do: "Dokument nicht gefunden, oder das ist damit nicht möglich.",
  no_such_document: "Dokument in dieser Sammlung nicht gefunden.",
  too_many_unsent: of(
    "Sie haben bereits ",
    ["nicht gesendete Datei", "nicht gesendete Dateien"],
    `${noMore} Senden Sie zuerst einige.`,
  ),
  document_gone:
    "Das Dokument wurde gelöscht oder ist nicht mit Ihnen geteilt. Entfernen Sie es aus der Nachricht.",
  bad_types:
    "`types` kann höchstens {endings} Dateiendungen ohne Punkt enthalten, mit je 1 bis {letters} Buchstaben.",
  pages_not_read: "Webseiten können auf diesem Server nicht gelesen werden (web.fetch).",
  too_many_crawls: {
    one: "{count} Ihrer Websites wird gerade gelesen, mehr sind gleichzeitig nicht möglich.",
    other: "{count} Ihrer Websites werden gerade gelesen, mehr sind gleichzeitig nicht möglich.",
  },
  no_crawl_going_on: "Crawl nicht gefunden, oder er läuft nicht.",
  no_crawl_ended: "Crawl nicht gefunden, oder er ist noch nicht beendet.",
  no_copy_of_page: "Kopie der Seite nicht gefunden, oder Sie dürfen sie nicht sehen.",
  no_graph_model:
    "Dieser Server hat kein Modell für Graphen. Die Administration kann eines festlegen: knowledge.graph_model.",
  no_such_entity: "Die Dokumente erwähnen das nicht, oder nicht mehr.",
  alias_of_itself: "Ein Name kann kein anderer Name seiner selbst sein.",
  too_many_aliases: "Der Graph hat bereits 1000 andere Namen, mehr sind nicht möglich.",
  graph_database_away: "Die Graphdatenbank ist nicht nutzbar: {why}.",
  graph_unreachable: "sie ist nicht erreichbar",
  graph_slow: "sie antwortet nicht rechtzeitig",
  graph_not_bolt: "der Server dort unterstützt weder Bolt 4.4 noch 5",
  graph_not_let_in: "sie akzeptiert Benutzername und Passwort nicht",
  graph_refused: "sie hat eine Abfrage abgelehnt ({code})",
  graph_answer_too_large: "ihre Antwort ist zu groß",
  bad_prefix: "Möglich sind höchstens {limit} Zeichen, ohne NUL.",
  no_model_to_try: "Geben Sie das zu testende Modell an.",

  model_chosen_gone: "Modell nicht gefunden. Wählen Sie ein anderes.",
  too_many_model_aliases: {
    one: "Es kann höchstens {count} Modell-Alias geben.",
    other: "Es kann höchstens {count} Modell-Aliasse geben.",
  },
  bad_alias: "„{name}“ ist kein gültiger Modell-Alias: 1 bis 500 Byte ohne Leerzeichen, „*“ nur am Ende.",
  no_model_of_name: "Modell nicht gefunden: „{name}“. GET /api/v1/models listet die Modelle auf.",
  key_not_for_model:
    "Dieser Schlüssel darf „{name}“ nicht nutzen. GET /v1/models listet auf, was er nutzen darf.",
  agent_system_prompt:
    "`parameters.system_prompt` kann für einen Agenten nicht gesetzt werden: Seine `instructions` sind sein System-Prompt.",
  bad_context: "Der Kontext muss 256 bis 100.000.000 Tokens betragen.",
  bad_price: "Ein Preis muss 0 bis 1.000.000 US-Dollar pro Million Tokens betragen.",
  too_many_fallbacks: of("Ein Modell kann höchstens ", ["Fallback-Modell", "Fallback-Modelle"], " haben."),
  fallback_twice: "Nennen Sie jedes Fallback-Modell einmal und nicht das Modell selbst.",
  no_fallback: "Fallback-Modell nicht gefunden: „{name}“.",
  models_awaited:
    "Der Modellserver hat seine Modelle noch nicht aufgelistet. Versuchen Sie es gleich noch einmal.",
  no_default_model:
    "Es ist kein Modell verbunden, das Sie nutzen dürfen. Geben Sie eines an, oder bitten Sie die Administration, einen Modellserver zu verbinden.",
  default_model_gone:
    "Das Standardmodell „{name}“ ist nicht verfügbar. Geben Sie ein anderes an, oder bitten Sie die Administration, ein anderes Standardmodell zu wählen.",
  no_such_connection: "Verbindung nicht gefunden. Möglicherweise wurde sie gelöscht.",
  no_such_connection_key: "Schlüssel in dieser Verbindung nicht gefunden. Möglicherweise wurde er entfernt.",
  connection_of_environment:
    "Diese Verbindung stammt aus den Umgebungsvariablen des Servers und wird dort geändert.",
  no_such_setting: "Einstellung nicht gefunden: „{name}“.",
  setting_fixed:
    "„{name}“ ist in der Konfigurationsdatei, einer Umgebungsvariablen oder per Programmoption festgelegt. Ändern Sie den Wert dort.",
  setting_not_here:
    "„{name}“ lässt sich in der Web-App nicht ändern. Legen Sie den Wert in der Konfigurationsdatei fest.",
  setting_of_other_type: "Der Wert von „{name}“ hat den falschen Typ.",
  long_setting: "Ein Wert darf höchstens {limit} Bytes haben.",
  setting_refused: "Dieser Wert wird nicht akzeptiert: {reason}",
  sign_in_provider_missing: "Geben Sie die Adresse und die Client-ID des Anmeldeanbieters ein.",
  mail_server_missing: "Geben Sie den Mailserver und den Absender ein.",
  mail_failed: "Die E-Mail wurde nicht gesendet: {reason}",
  mail_needs_address: "Geben Sie die Adresse an, an die die E-Mail geht.",
  agent_overridden_by_file:
    "Die Konfigurationsdatei definiert ebenfalls einen Agenten „{name}“, der stattdessen verwendet wird.",
  agent_model_missing:
    "Das Modell „{model}“ ist nicht verfügbar. Bis dahin lässt sich der Agent nicht verwenden.",
  agent_tools_missing: "Nicht verfügbare Tools: {names}.",
  sub_agents_missing: "Nicht verfügbare Sub-Agenten: {names}.",
  skills_missing: "Nicht verfügbare Skills: {names}.",
  agent_cannot_delegate: "Der Agent hat Sub-Agenten, aber nicht das Tool `task`, um an sie zu delegieren.",
  agent_limit_above_server: "Das Limit `{limit}` des Agenten liegt über dem des Servers, das gilt.",
  search_configured:
    "Die Suchanbieter sind in der Konfigurationsdatei oder der Umgebung festgelegt. Ändern Sie sie dort.",
  search_twice: "Geben Sie jeden Suchanbieter nur einmal an.",
  search_url_missing: "Geben Sie die Adresse Ihrer SearXNG-Instanz ein.",
  bad_search_url: "Geben Sie eine Adresse wie https://search.example.org ein.",
  search_key_missing: "Dieser Dienst braucht einen API-Schlüssel.",
  bad_search_tool:
    "Wählen Sie ein Tool eines MCP-Servers, den alle mit denselben Zugangsdaten nutzen, mit seinem vollständigen Namen wie finder__search.",
  bad_mcp_name:
    "Der Name muss aus 1 bis {limit} Buchstaben, Ziffern, „-“ und einzelnen „_“ bestehen und darf nicht mit „_“ beginnen oder enden.",
  mcp_name_taken: "Der MCP-Server „{name}“ existiert bereits.",
  mcp_name_in_file:
    "In der Konfigurationsdatei gibt es einen MCP-Server mit diesem Namen, der stattdessen verwendet wird. Benennen Sie einen von beiden um oder löschen Sie ihn.",
  no_mcp_server_of_name: "MCP-Server nicht gefunden: „{name}“.",
  mcp_server_of_file: "Dieser MCP-Server ist in der Konfigurationsdatei definiert. Ändern Sie ihn dort.",
  too_many_mcp_servers: of(
    "In den Einstellungen kann es höchstens ",
    ["MCP-Server", "MCP-Server"],
    " geben.",
  ),
  bad_mcp_url: "Geben Sie eine Adresse wie https://example.org/mcp ein, ohne Benutzernamen und Passwort.",
  bad_mcp_timeout: "Der Timeout muss 1 bis 86400 Sekunden betragen.",
  bad_mcp_header: "Der Header „{name}“ kann nicht gesendet werden.",
  mcp_header_of_people: "Der Header „{name}“ wird für das eigene Token jeder Person gebraucht.",
  mcp_token_header_alone: "Ein Token-Header wird nur verwendet, wenn jede Person ein Token eingibt.",
  mcp_secret_without_client: "Ein Client-Secret braucht eine Client-ID.",
  bad_mcp_scope: "Der Scope „{scope}“ ist ungültig.",
  bad_mcp_tools: of(
    "Geben Sie höchstens ",
    ["Tool", "Tools"],
    " an, jeweils mit einem Namen von 1 bis 200 Zeichen.",
  ),
  mcp_secrets_of_other_host:
    "Die Header und das Client-Secret werden nicht an einen anderen Host gesendet. Geben Sie sie neu ein oder entfernen Sie sie.",
  mcp_secrets_unreadable:
    "Die Header oder das Client-Secret lassen sich mit der Schlüsseldatei dieses Servers nicht lesen. Geben Sie sie neu ein.",
  mcp_text_too_long: "Jeweils höchstens {limit} Byte und höchstens {count} Header.",
  connection_of_file: "Diese Verbindung ist in der Konfigurationsdatei festgelegt und wird dort geändert.",
  unknown_provider_kind: "`kind` ist „{kind}“, muss aber eines von diesen sein: {kinds}.",
  provider_option_missing: "Eine Verbindung der Art „{kind}“ braucht `settings.{option}`.",
  provider_option_unknown: "Eine Verbindung der Art „{kind}“ hat kein `settings.{option}`.",
  provider_option_bad:
    "`settings.{option}` kann nur Buchstaben, Ziffern, „-“, „.“, „_“ und „:“ enthalten, höchstens 100.",
  base_url_missing: "Eine Verbindung der Art „{kind}“ braucht `base_url`, die Adresse der Ressource.",
  bad_extra_header: "Der Header „{name}“ kann nicht gesetzt oder sein Wert nicht gesendet werden.",
  bad_extra_query: "Der Abfrageparameter „{name}“ kann nicht gesendet werden.",
  too_many_extras:
    "Eine Verbindung kann höchstens {count} eigene Header und {count} eigene Abfrageparameter haben.",
  keys_of_other_server:
    "Die Schlüssel und Header dieser Verbindung gehören zu ihrem aktuellen Server. Entfernen Sie sie zuerst, oder fügen Sie den anderen Server als eigene Verbindung hinzu.",
  connection_key_known: "Diese Verbindung hat diesen Schlüssel bereits.",
  too_many_connection_keys: of("Eine Verbindung kann höchstens ", ["Schlüssel", "Schlüssel"], " haben."),
  long_address: "Eine Adresse kann höchstens {limit} Byte haben.",
  bad_base_url:
    "„{text}“ ist keine Serveradresse. Sie muss aussehen wie http://localhost:11434/v1 oder https://api.example.com/v1.",
  bad_connection_name: "Eine Verbindung braucht einen Namen mit 1 bis 100 Zeichen.",
  bad_connection_key:
    "Ein Schlüssel muss aus 1 bis {limit} Buchstaben, Ziffern und Zeichen bestehen, ohne Leerzeichen.",
  bad_weight: "Eine Gewichtung muss {least} bis {most} sein.",
  bad_model_name: "Der Name eines Modells muss 1 bis 500 Byte haben.",
  agent_name_taken: "Ein Agent namens „{name}“ existiert bereits. Wählen Sie einen anderen Namen.",
  too_many_agents: of("Es gibt bereits ", ["Agent", "Agenten"], `${noMore} Löschen Sie zuerst einen.`),
  agent_of_file:
    "Der Agent „{name}“ ist in der Konfigurationsdatei definiert. Ändern Sie ihn dort und starten Sie den Server neu.",
  no_such_agent: "Agent nicht gefunden: „{name}“. Möglicherweise wurde er gelöscht.",
  agent_chosen_gone:
    "Agent nicht gefunden: „{name}“. Wählen Sie einen anderen: GET /api/v1/models listet sie auf.",
  model_of_agent_gone:
    "Der Agent „{agent}“ verwendet das Modell „{model}“, das nicht verfügbar ist. Die Administration kann in den Einstellungen ein anderes wählen.",
  agent_renamed:
    "`name` muss der Name in der Adresse sein. Für einen anderen Namen erstellen Sie einen neuen Agenten.",
  bad_agent_name:
    "`name` muss aus 1 bis {limit} Kleinbuchstaben, Ziffern und „-“ bestehen, mit einem Buchstaben beginnen und nicht auf „-“ enden.",
  agent_name_reserved: "`name` kann nicht „{name}“ sein: Dieser Name ist reserviert.",
  bad_agent_title: "`title` muss 1 bis {limit} Zeichen in einer Zeile haben.",
  bad_agent_description: "`description` muss in 1 bis {limit} Zeichen sagen, wofür der Agent da ist.",
  bad_instructions: "`instructions` muss 1 bis {limit} Byte haben.",
  bad_agent_model:
    "`model` muss die ID eines Modells mit 1 bis {limit} Byte sein; für das Standardmodell lassen Sie es weg.",
  star_within: "`tools` enthält „{tool}“: Ein Stern ist nur am Ende erlaubt, wie in „files__*“.",
  too_many_names: "`{field}` enthält mehr als {limit} Namen.",
  bad_name_in_list: "`{field}` enthält einen Namen, der leer oder länger als {limit} Byte ist.",
  no_steps_or_tokens:
    "`limits.steps` und `limits.tokens` müssen mindestens 1 sein; für die Limits des Servers lassen Sie sie weg.",
  bad_agent_cost: "`limits.usd` muss 0,000001 bis 1.000.000.000 sein.",
  bad_agent_minutes: "`limits.minutes` muss 0,001 bis {most} sein.",
  no_such_workspace:
    "Arbeitsordner nicht gefunden, oder Sie dürfen ihn nicht nutzen: „{name}“. In welchen Verzeichnissen Chats arbeiten, legt die Administration fest.",
  no_such_pipeline: "Modellaufgabe nicht gefunden.",
  no_template: "Diese Modellaufgabe hat keine Vorlage.",
  wrong_template: "Zeile {line}, Spalte {column}: {why}",
  long_template: "Eine Vorlage kann höchstens {limit} Byte haben.",
  bar_in_variable: "„|“ ist nur in MESSAGES möglich, nicht in {name}.",
  colon_in_variable: "„:“ ist nur in MESSAGES und prompt möglich, nicht in {name}.",
  no_such_variable: "Unbekannte Variable: {name}.",
  variable_not_here: "Die Variable {name} ist in dieser Vorlage nicht verfügbar.",
  bad_cut: "„{text}“ muss start:N, end:N oder middletruncate:N sein.",
  template_needs_conversation:
    "Die Vorlage muss MESSAGES oder prompt enthalten; sonst sieht das Modell sie nicht.",
  template_needs: "Die Vorlage muss {name} enthalten; sonst sieht das Modell es nicht.",
  template_needs_tag:
    "Die Vorlage muss das Tag <code_interpreter> enthalten; sonst sieht das Modell es nicht.",
  connect_model_first: "Verbinden Sie zuerst ein Modell: Die Tour kann das nicht.",
  tour_cannot: "Die Tour kann das nicht. Wählen Sie ein anderes Modell.",
  bad_pipeline_tokens: "Die Anzahl der Tokens muss 1 bis {most} sein.",
  bad_pipeline_seconds: "Die Anzahl der Sekunden muss 1 bis {most} sein.",
  queries_are_off: "Das Erstellen von Suchanfragen ist hier deaktiviert.",
  autocompletion_is_off: "Die Autovervollständigung ist hier deaktiviert.",
  too_long_to_complete: "Nur Texte mit bis zu {limit} Zeichen können vervollständigt werden.",
  too_many_schedules: of(
    "Sie haben bereits ",
    ["Zeitplan", "Zeitpläne"],
    `${noMore} Löschen Sie zuerst einen.`,
  ),
  bad_prompt: "Der Prompt muss 1 bis {limit} Zeichen haben.",
  schedule_still_going:
    "Die letzte Ausführung ist noch nicht beendet. Warten Sie das Ende ab oder stoppen Sie sie.",
  chat_of_run_gone: "Der Chat dieser Ausführung existiert nicht mehr.",
  no_time_zone: "Unbekannte Zeitzone: „{name}“.",
  cron_or_once: "Ein Zeitplan braucht entweder `cron` oder `once_at`.",
  no_time_to_come: "Keiner dieser Zeitpunkte liegt in der Zukunft.",
  too_often: {
    one: "Zwischen zwei Ausführungen eines Zeitplans muss mindestens {count} Minute liegen.",
    other: "Zwischen zwei Ausführungen eines Zeitplans müssen mindestens {count} Minuten liegen.",
  },
  long_cron: "Ein Cron-Ausdruck kann höchstens {limit} Zeichen haben.",
  bad_cron: "„{cron}“ ist kein Cron-Ausdruck aus fünf Feldern: {why}",
  too_many_webhooks: of("Sie haben bereits ", ["Adresse", "Adressen"], `${noMore} Löschen Sie zuerst eine.`),
  cannot_send_there: "Diese Adresse ist nicht nutzbar. {why}",
  https_needed: "Diese Adresse ist nicht nutzbar. Sie muss mit https:// beginnen.",
  webhook_answers: "Antwort: HTTP {status}.",
  webhook_secret_lost: "Der Signaturschlüssel lässt sich nicht entschlüsseln: {why}.",
  token_instead: "Dieser Server braucht stattdessen ein Token. Geben Sie eines ein.",
  no_token_taken: "Dieser Server akzeptiert kein Token. Melden Sie sich stattdessen dort an.",
  bad_token: "Ein Token muss aus 1 bis {limit} Buchstaben, Ziffern und Zeichen bestehen.",
  no_mcp_sign_in: "MCP-Server nicht gefunden, oder er bietet keine Anmeldung.",
  cannot_sign_in_there: "Die Anmeldung bei „{name}“ ist gerade nicht möglich. {why}",
} satisfies Partial<Record<keyof Messages, Entry>>;
