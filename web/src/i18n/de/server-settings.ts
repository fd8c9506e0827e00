/**
 * German descriptions of the server settings; the server sends the English ones. Loaded with the configuration page.
 */
export const serverSettings: Readonly<Record<string, string>> = {
  listen: "Adressen, auf denen der Server Verbindungen annimmt.",
  public_url:
    "Die Adresse, die eingegeben wird, wenn ein Reverse-Proxy davor ist: Schema, Host und optional Port und Pfad.",
  strict_transport_security:
    "Der Header `Strict-Transport-Security`, etwa `max-age=31536000`, mit dem Browser nur noch HTTPS verwenden.",
  cors_allow_origins: "Andere Websites, deren Seiten die API aus dem Browser aufrufen dürfen.",
  trusted_proxies: "Proxys, deren `X-Forwarded-For` geglaubt wird, als Adressen oder Netzwerke.",
  data_dir: "Ordner der Datenbank und der Schlüsseldatei, mit der Geheimnisse verschlüsselt werden.",
  secret_key:
    "Der Schlüssel, mit dem gespeicherte Geheimnisse verschlüsselt werden. Leer: `secret.key` im Datenordner.",
  secret_key_file: "Datei mit diesem Schlüssel, zum Beispiel von Kubernetes eingehängt.",
  database_url: "Adresse einer PostgreSQL-Datenbank. Leer: SQLite im Datenordner.",
  database_connections:
    "Höchstzahl der Verbindungen zu PostgreSQL, 2 bis 1000; 3 weitere sind für Lease, Befehle und Protokolle.",
  bus_url:
    "Redis oder Valkey zwischen Servern mit gemeinsamer Datenbank: `redis://host:6379`, oder `rediss://:password@host:6379` mit TLS.",
  auth: "Wie sich Aufrufende authentifizieren: `password`, oder `none`, das alle zu Admins macht.",
  session_hours: "Stunden, die ein Browser nach der letzten Nutzung angemeldet bleibt.",
  session_max_hours: "Stunden, nach denen sich ein Browser neu anmelden muss, auch bei ständiger Nutzung.",
  seal_logs_hours: "Stunden nach dem Ende einer Ausführung, bis ihr Protokoll komprimiert wird; 0: nie.",
  file_link_days:
    "Tage, die Frontends signierte Adressen von Bildern und Dateien in Antworten nutzen können.",
  retention_days: "Tage, die Ausführungen ohne Chat aufbewahrt werden.",
  start_prompts: "Beispiel-Prompts auf der Seite eines neuen Chats, höchstens 6.",
  moderation: "Ob Admins die Chats aller lesen dürfen. Darauf wird in der Web-App hingewiesen.",
  audit_days: "Tage, die Einträge des Audit-Protokolls aufbewahrt werden.",
  forward_user_info_headers: "Ob Modellserver aus Datei und Umgebung erfahren, wer fragt.",
  bedrock: "Ob `AWS_REGION` und die AWS-Zugangsdaten des Servers eine Verbindung zu Amazon Bedrock ergeben.",
  body_limit_mb: "Größte Anfrage, in MB.",
  import_limit_mb: "Größte Datei, die importiert werden kann, in MB. 0: keine Importe.",
  body_memory_mb: "Arbeitsspeicher für die Anfragen aller Angemeldeten zusammen, in MB.",
  connection_limit: "Höchstzahl offener Verbindungen.",
  connections_per_address: "Höchstzahl inaktiver Verbindungen von einer Adresse.",
  shutdown_delay_seconds:
    "Mit PostgreSQL: Sekunden nach SIGTERM, in denen der Server noch Anfragen annimmt, während `/readyz` 503 antwortet.",
  drain_seconds:
    "Sekunden, die laufende Modellaufrufe, Werkzeugaufrufe und Anfragen beim Stoppen zum Abschließen haben.",
  lease_seconds:
    "Mit PostgreSQL: Sekunden, nach denen ein anderer Server die Ausführungen eines verstummten übernimmt, 2 bis 3600.",
  approvals: "Regeln für Tool-Aufrufe, die eine Genehmigung brauchen, zusätzlich zu denen der Tools selbst.",
  "limits.steps": "Modellaufrufe eines Agenten.",
  "limits.all_steps": "Modellaufrufe aller Agenten einer Ausführung zusammen.",
  "limits.tokens": "Ein- und Ausgabe-Tokens aller Modellaufrufe einer Ausführung.",
  "limits.seconds": "Sekunden, in denen eine Ausführung aktiv ist. Warten auf Personen zählt nicht.",
  "limits.waiting_hours": "Stunden, die für jede Genehmigung und Frage bleiben.",
  "limits.usd": "Kosten einer Ausführung in US-Dollar, für Modelle mit bekannten Preisen.",
  "limits.depth": "Wie tief Subagenten verschachtelt sein können; 1: keine eigenen.",
  "limits.parallel": "Gleichzeitige Tool-Aufrufe und Subagenten eines Agenten.",
  "limits.context_share":
    "Anteil des Kontextfensters, den eine Unterhaltung füllen darf, bevor ihr älterer Teil zusammengefasst wird, 0.2 bis 0.95.",
  "programs.enabled": "Ob Agenten Programme ausführen können.",
  "programs.python": "Der Python-Interpreter. Leer: `python3` im `PATH` des Servers.",
  "programs.seconds": "Sekunden, die ein Befehl oder Python-Code laufen darf, 1 bis 3600.",
  "programs.memory_mb": "Arbeitsspeicher aller Prozesse eines Aufrufs zusammen, in MB, mindestens 64.",
  "programs.processes": "Gleichzeitige Prozesse und Threads eines Aufrufs.",
  "programs.runner_token": "Token der Runner, die dann alle Programme ausführen.",
  "programs.runner_wait_seconds": "Sekunden, die ein Programm auf einen Runner wartet.",
  "knowledge.file_mb": "Größte Datei in einer Sammlung, 1 bis 500 MB.",
  "knowledge.person_mb": "Alle Dokumente einer Person zusammen, in MB.",
  "knowledge.memory_mb": "Arbeitsspeicher für die Indizes durchsuchter Sammlungen, in MB.",
  "knowledge.embedding_model":
    "ID eines Embedding-Modells für die semantische Suche. `built-in`: das integrierte. Leer: nur Volltextsuche.",
  "knowledge.query_prefix": "Text, den das Embedding-Modell vor einer Suchanfrage erwartet, etwa `query: `.",
  "knowledge.passage_prefix":
    "Text, den das Embedding-Modell vor einer Textstelle erwartet. Bei Änderung werden alle Embeddings neu berechnet.",
  "knowledge.embedding_batch": "Höchstzahl der Textstellen pro Anfrage an das Embedding-Modell, 1 bis 1000.",
  "knowledge.embedding_seconds": "Sekunden, die eine Suche auf das Embedding ihrer Anfrage wartet, 1 bis 60.",
  "knowledge.embedding_threads":
    "Threads des integrierten Embedding-Modells, 1 bis 32; jeder braucht etwa 70 MB.",
  "knowledge.onnxruntime":
    "Die Bibliothek ONNX Runtime für das integrierte Modell. Leer: die neben dem Programm oder neben dem Modell.",
  "knowledge.qdrant_url":
    "Adresse eines Qdrant, das Embeddings vergleicht. Leer: Vergleich im Arbeitsspeicher.",
  "knowledge.qdrant_key": "Der API-Schlüssel für Qdrant.",
  "knowledge.pgvector":
    "Ob pgvector in der PostgreSQL-Datenbank die Embeddings vergleicht, statt im Arbeitsspeicher.",
  "knowledge.source_folders":
    'Ordner des Servers, mit denen die Administration Sammlungen synchronisieren kann, etwa `["/srv/handbook"]`.',
  "knowledge.rerank_model": "ID eines Modells, das die besten Textstellen neu sortiert. Leer: keines.",
  "knowledge.rerank_seconds": "Sekunden, die eine Suche auf den Reranker wartet, 1 bis 60.",
  "knowledge.vision_model": "ID eines Vision-Modells, das Bilder unter den Dokumenten liest. Leer: keines.",
  "knowledge.ocr_languages":
    "Die Sprachen der Texterkennung, wie `tesseract --list-langs` sie nennt. Leer: alle installierten.",
  "knowledge.ocr_program": "Das Programm Tesseract. Leer: `tesseract` im `PATH` des Servers.",
  "knowledge.ocr": "Ob Text in gescannten Seiten und Bildern erkannt wird, wenn Tesseract installiert ist.",
  "knowledge.reader_url":
    "Adresse eines externen Dokumentlesers: eines Servers von Apache Tika, etwa `http://127.0.0.1:9998`, oder von Docling, etwa `http://127.0.0.1:5001`. Leer: keiner.",
  "knowledge.reader_kind": "Art des externen Dokumentlesers: `tika` oder `docling`.",
  "knowledge.reader_key": "Schlüssel des externen Dokumentlesers, falls er einen verlangt.",
  "knowledge.reader_files":
    "Dateien, die der externe Dokumentleser liest: `unreadable` (sonst nicht lesbare), `scans` (Bilder und Dokumente mit gescannten Seiten), `all` oder solche mit bestimmten Endungen, etwa `unreadable, vsdx, pages`.",
  "knowledge.reader_seconds": "Sekunden, die der externe Dokumentleser für eine Datei hat.",
  "knowledge.transcription_model":
    "ID eines Modells, das Aufnahmen (MP3, M4A, WAV, Ogg, FLAC, WebM, MP4) unter den Dokumenten transkribiert. Leer: keines.",
  "knowledge.transcription_mb":
    "Größte Aufnahme, die transkribiert wird, in MB. Die meisten Anbieter nehmen 25 MB an.",
  "knowledge.transcription_seconds": "Sekunden, die die Transkription einer Aufnahme dauern darf.",
  "knowledge.graph_model":
    "ID eines Modells, das Wissensgraphen aus Sammlungen extrahiert. Leer: keine Graphen.",
  "knowledge.graph_url":
    "Adresse einer Graphdatenbank mit Bolt, etwa Neo4j, die eine Kopie der Graphen erhält. Leer: keine.",
  "knowledge.graph_user": "Der Benutzer der Graphdatenbank.",
  "knowledge.graph_password": "Das Passwort dieses Benutzers.",
  "knowledge.graph_database": "Name der Datenbank auf dem Graphserver. Leer: dessen Standard.",
  "research.turns": "Wie oft eine Recherche höchstens sucht und liest, 1 bis 20.",
  "research.deep_turns": "Wie oft Deep Research höchstens sucht und liest, 1 bis 20.",
  "research.queries": "Höchstzahl der Suchanfragen pro Runde einer Recherche, 1 bis 10.",
  "research.sources": "Höchstzahl der Quellen, die pro Runde gelesen werden, 1 bis 30.",
  "research.steps": "Modellaufrufe aller Agenten einer Recherche; 0: das Limit anderer Ausführungen.",
  "research.tokens": "Ein- und Ausgabe-Tokens einer Recherche; 0: das Limit anderer Ausführungen.",
  "research.usd": "Kosten einer Recherche in US-Dollar; 0: das Limit anderer Ausführungen.",
  "research.minutes": "Minuten, in denen eine Recherche aktiv ist; 0: das Limit anderer Ausführungen.",
  "web.search":
    "Die Suchanbieter in der Reihenfolge, in der sie gefragt werden: `searxng`, `brave`, `tavily`, `mcp`, `own`. Leer: keiner.",
  "web.search_url": "Adresse von SearXNG; bei anderen Anbietern nur, wenn sie nicht die übliche ist.",
  "web.search_key": "API-Schlüssel für Brave oder Tavily; bei mehreren Anbietern der des ersten.",
  "web.search_tool":
    "Mit `mcp`: das Tool, das sucht, mit seinem Namen unter „Einstellungen“ → „Agenten, Skills und Tools“.",
  "web.brave_url": "Adresse von Brave, wenn sie nicht die übliche ist.",
  "web.brave_key": "API-Schlüssel für Brave, wenn `web.search_key` einem anderen Anbieter gehört.",
  "web.tavily_url": "Adresse von Tavily, wenn sie nicht die übliche ist.",
  "web.tavily_key": "API-Schlüssel für Tavily, wenn `web.search_key` einem anderen Anbieter gehört.",
  "web.fetch": "Ob Agenten Webseiten lesen können.",
  "web.robots": "Ob die `robots.txt` von Websites beachtet wird.",
  "web.pause_ms": "Millisekunden zwischen zwei Anfragen an einen Host, höchstens 60000.",
  "web.seconds": "Sekunden, die eine Seite samt Weiterleitungen und Wartezeit brauchen darf, 1 bis 600.",
  "web.page_mb": "Größte Seite, die gelesen wird, 1 bis 100 MB.",
  "web.fresh_minutes": "Minuten, die die Kopie einer Seite ohne Rückfrage bei deren Server verwendet wird.",
  "pipelines.task_model":
    "Modell für Modellaufgaben in Chats mit einem Modell auf diesem Rechner oder in dessen Netzwerk. Leer: das Modell des Chats.",
  "pipelines.task_model_external":
    "Modell für Modellaufgaben in Chats mit einem externen Modell. Leer: das Modell des Chats.",
  "pipelines.enable_title_generation": "Ob ein Modell Titel von Chats schreibt.",
  "pipelines.title_generation_prompt_template": "Prompt-Vorlage für Titel. Leer: die integrierte.",
  "pipelines.enable_tags_generation": "Ob ein Modell Tags von Chats schreibt.",
  "pipelines.tags_generation_prompt_template": "Prompt-Vorlage für Tags. Leer: die integrierte.",
  "pipelines.enable_follow_up_generation": "Ob ein Modell Anschlussfragen vorschlägt.",
  "pipelines.follow_up_generation_prompt_template":
    "Prompt-Vorlage für Anschlussfragen. Leer: die integrierte.",
  "pipelines.enable_search_query_generation":
    "Ob ein Modell die Suchanfragen für eine Websuche vor der Antwort und für Frontends schreibt.",
  "pipelines.enable_retrieval_query_generation":
    "Ob ein Modell die Suchanfragen für Dokumente schreibt: für alle Nachrichten außer der ersten, und für Frontends.",
  "pipelines.query_generation_prompt_template":
    "Prompt-Vorlage für Suchanfragen im Web und in Dokumenten. Leer: die integrierte.",
  "pipelines.rag_template":
    "Vorlage, mit der Textstellen aus Dokumenten und Web dem Modell gezeigt werden. Leer: die integrierte.",
  "pipelines.rag_top_k":
    "Höchstzahl der Textstellen pro Nachricht, aus Dokumenten und aus Webseiten, 1 bis 50.",
  "pipelines.rag_system_context":
    "Ob Textstellen in der Systemnachricht stehen statt vor der Nachricht der Person.",
  "pipelines.enable_autocomplete_generation": "Ob ein Modell Eingaben vervollständigt.",
  "pipelines.autocomplete_generation_input_max_length":
    "Größte Länge einer Eingabe, die vervollständigt wird, in Zeichen; -1: beliebig.",
  "pipelines.autocomplete_generation_prompt_template":
    "Prompt-Vorlage für die Autovervollständigung. Leer: die integrierte.",
  "pipelines.enable_moa_generation": "Ob mehrere Antworten auf eine Nachricht zusammengeführt werden können.",
  "pipelines.moa_generation_prompt_template":
    "Prompt-Vorlage für das Zusammenführen von Antworten. Leer: die integrierte.",
  "pipelines.moa_samples": "Wie viele Antworten ein Modell normalerweise gibt, 1 bis 8.",
  "pipelines.moa_layers":
    "Wie viele Runden von Antworten es normalerweise vor dem Zusammenführen gibt, 1 bis 3.",
  "pipelines.tools_function_calling_prompt_template":
    "Prompt-Vorlage, die Modellen ohne Tool-Aufrufe die Tools beschreibt. Leer: die integrierte.",
  "pipelines.enable_code_interpreter":
    "Ob Modelle ohne Tool-Aufrufe Python in Tags schreiben; sonst rufen sie es wie jedes andere Tool auf.",
  "pipelines.code_interpreter_prompt_template":
    "Prompt-Vorlage, die solchen Modellen den Code Interpreter beschreibt. Leer: die integrierte.",
  "pipelines.code_interpreter_max_retries":
    "Wie oft hintereinander fehlschlagendes Python in einer Antwort wiederholt wird, 0 bis 50.",
  "web.person_mb": "Alle Kopien von Seiten einer Person zusammen, in MB; die ältesten werden gelöscht.",
  "web.browser":
    "Was die Skripte von Seiten ausführt, die ohne sie leer sind: `auto`, der Pfad eines Chromium oder die Adresse eines Crawl4AI. Leer: nichts.",
  "web.browser_key": "Das Token für Crawl4AI.",
  "web.browser_hosts": "Hosts, deren Seiten immer mit dem Browser gelesen werden.",
  "web.browser_seconds": "Sekunden, die die Skripte einer Seite laufen dürfen, 5 bis 120.",
  "object_storage.url":
    "Wo große Inhalte liegen: `s3://BUCKET/PREFIX`, `gs://…`, `az://…` oder `file:///ORDNER`. Leer: in der Datenbank.",
  "object_storage.endpoint": "Adresse des Dienstes. Leer: die des Anbieters.",
  "object_storage.region": "Region eines S3-Buckets. Leer: `AWS_REGION` oder us-east-1.",
  "object_storage.access_key":
    "Access Key ID für S3 oder Name eines Azure-Speicherkontos. Leer: aus der Umgebung oder der Rolle der Maschine.",
  "object_storage.secret_key":
    "Geheimer Schlüssel für S3 und Azure oder ein Google-Dienstkonto als JSON. Leer: aus der Umgebung oder der Rolle.",
  "object_storage.secret_key_file": "Eine Datei mit diesem Schlüssel.",
  "object_storage.path_style": "Ob der S3-Bucket im Pfad steht statt im Hostnamen.",
  "skills.folder": "Der Ordner der Skills. Leer: `skills` im Datenordner.",
  "model_timeouts.first_token_seconds": "Sekunden bis zum ersten Token einer Antwort, 1 bis 86400.",
  "model_timeouts.idle_seconds":
    "Sekunden, die ein Modell mitten in einer Antwort schweigen darf, 1 bis 86400.",
  "oidc.issuer":
    "Adresse des OpenID-Connect-Anbieters, genau wie in `/.well-known/openid-configuration`. Leer: aus.",
  "oidc.client_id": "Die Client-ID beim Anbieter.",
  "oidc.client_secret": "Das Client-Secret beim Anbieter.",
  "oidc.name": "Name des Anbieters auf der Schaltfläche „Weiter mit …“.",
  "oidc.scopes": "Die anzufordernden Scopes.",
  "oidc.groups_claim": "Der Claim mit den Gruppen einer Person: eine Liste oder ein Text.",
  "oidc.groups_url":
    "Wo die Gruppen einer Person abgefragt werden, wenn das Token sie weglässt, weil es zu viele sind. Leer: nirgends.",
  "oidc.admin_groups":
    "Gruppen, deren Mitglieder Admins sind; andere, die sich dort anmelden, sind es nicht. Leer: Admins werden in der Web-App bestimmt.",
  "oidc.allowed_groups":
    "Gruppen, deren Mitglieder sich anmelden dürfen, zusätzlich zu `oidc.admin_groups`. Leer: alle.",
  "oidc.create_accounts": "Ob bei der ersten Anmeldung ein Konto erstellt wird.",
  "oidc.link_by_email":
    "Ob eine Person mit bestätigter Adresse das vorhandene Konto mit dieser Adresse erhält.",
  "trusted_header.user":
    "Header mit der ID der Person beim Proxy, etwa `X-Forwarded-User`. Leer: keine Anmeldung über einen Proxy.",
  "trusted_header.email": "Header mit der E-Mail-Adresse der Person. Leer: Die ID ist die Adresse.",
  "trusted_header.name": "Header mit dem Namen der Person.",
  "trusted_header.groups": "Header mit den Gruppen der Person.",
  "trusted_header.groups_separator": "Trennzeichen zwischen zwei Gruppen.",
  "trusted_header.proxies": "Adressen und Netzwerke, von denen aus sich der Proxy verbindet.",
  "trusted_header.sign_out_url": "Adresse, unter der man sich beim Proxy abmeldet, etwa `/oauth2/sign_out`.",
  "trusted_header.admin_groups":
    "Gruppen, deren Mitglieder Admins sind; andere, die der Proxy nennt, sind es nicht. Leer: Admins werden in der Web-App bestimmt.",
  "trusted_header.allowed_groups":
    "Gruppen, deren Mitglieder Zugang haben, zusätzlich zu `trusted_header.admin_groups`. Leer: alle.",
  "trusted_header.create_accounts": "Ob bei der ersten Anfrage ein Konto erstellt wird.",
  "trusted_header.link_by_email":
    "Ob eine Person das vorhandene Konto mit der vom Proxy genannten Adresse erhält.",
  "mail.server": "Der SMTP-Server, der E-Mails versendet.",
  "mail.security": "Verschlüsselung der Verbindung zum Mailserver: `starttls`, `tls` oder `none`.",
  "mail.user": "Der Benutzername beim Mailserver.",
  "mail.password": "Das Passwort dieses Benutzers.",
  "mail.from": "Der Absender von E-Mails.",
  "outbound.allow":
    "Hosts und Netzwerke, die Anfragen an fremde Adressen erreichen dürfen, zusätzlich zum öffentlichen Internet.",
  "tls.certificate":
    "Datei mit dem Zertifikat, mit dem der Server selbst TLS spricht, in PEM, gefolgt von Zwischenzertifikaten.",
  "tls.key": "Datei mit dem privaten Schlüssel des Zertifikats, in PEM, ohne Passwort.",
  "tls.http2":
    "Ob Clients HTTP/2 verwenden dürfen, womit eine Verbindung alle Anfragen eines Browsers überträgt.",
  "log.level": "Die Protokollstufe: `error`, `warn`, `info`, `debug` oder `trace`.",
  "log.format": "Das Protokollformat: `text`, oder `json` mit einem Objekt pro Zeile.",
  "tracing.endpoint": "Ein OpenTelemetry-Collector für OTLP über HTTP. Leer: keine Traces.",
  "tracing.content": "Ob Traces Aufgaben, Argumente und Ergebnisse enthalten, die privat sein können.",
};
