/**
 * French descriptions of the server settings; the server sends the English ones. Loaded with the configuration page.
 */
export const serverSettings: Readonly<Record<string, string>> = {
  listen: "Adresses sur lesquelles le serveur écoute.",
  public_url:
    "Adresse que saisissent les utilisateurs en cas de proxy inverse : schéma, hôte et, si besoin, port et chemin.",
  strict_transport_security:
    "L’en-tête `Strict-Transport-Security`, par exemple `max-age=31536000`, avec lequel les navigateurs n’utilisent que HTTPS.",
  cors_allow_origins: "Origines d’autres sites dont les pages peuvent appeler l’API avec une clé.",
  trusted_proxies: "Proxys dont l’en-tête « X-Forwarded-For » est pris en compte.",
  data_dir:
    "Dossier de la base de données et du fichier de clé. Vide : le dossier de données de l’utilisateur.",
  secret_key: "La clé de chiffrement des secrets enregistrés. Vide : secret.key dans le dossier de données.",
  secret_key_file: "Fichier contenant cette clé, par exemple monté par Kubernetes.",
  database_url: "Adresse de PostgreSQL. Vide : SQLite dans le dossier de données.",
  database_connections:
    "Nombre maximal de connexions à PostgreSQL, de 2 à 1000 ; 3 de plus servent au bail, aux commandes et aux journaux.",
  bus_url:
    "Redis ou Valkey entre les serveurs qui partagent une base de données : redis://host:6379, ou rediss://:password@host:6379 avec TLS.",
  auth: "Mode d’authentification. « none » : tout le monde est administrateur.",
  session_hours: "Heures pendant lesquelles un navigateur reste connecté après sa dernière utilisation.",
  session_max_hours: "Heures après lesquelles un navigateur doit se reconnecter, même s’il est utilisé.",
  seal_logs_hours: "Heures entre la fin d’une exécution et la compression de son journal ; 0 : jamais.",
  file_link_days: "Jours pendant lesquels les front-ends peuvent ouvrir les liens signés des fichiers.",
  retention_days: "Jours de conservation des exécutions sans chat.",
  start_prompts: "Exemples de prompts sur la page d’un nouveau chat, 6 au plus.",
  moderation: "Permet aux administrateurs de lire les chats de tous. Les utilisateurs en sont informés.",
  audit_days: "Jours de conservation des entrées du journal d’audit.",
  forward_user_info_headers:
    "Indique aux serveurs de modèles du fichier et de l’environnement quel utilisateur fait la requête.",
  bedrock: "Crée une connexion à Amazon Bedrock avec les identifiants AWS du serveur.",
  body_limit_mb: "Taille maximale d’une requête, en Mo.",
  import_limit_mb: "Taille maximale d’un fichier à importer, en Mo. 0 désactive les imports.",
  body_memory_mb: "Mémoire pour les requêtes en cours de réception, en Mo.",
  connection_limit: "Nombre maximal de connexions ouvertes ; les autres attendent.",
  connections_per_address: "Nombre maximal de connexions inactives depuis une même adresse.",
  shutdown_delay_seconds:
    "Avec PostgreSQL : secondes après SIGTERM pendant lesquelles le serveur accepte encore des requêtes, `/readyz` répondant 503.",
  drain_seconds:
    "Secondes accordées aux appels de modèles, aux appels d’outils et aux requêtes en cours lors de l’arrêt du serveur.",
  lease_seconds:
    "Avec PostgreSQL : secondes après lesquelles un autre serveur reprend les exécutions d’un serveur muet.",
  approvals:
    "Règles des appels d’outils soumis à approbation, en plus de ceux pour lesquels l’outil en demande une.",
  "limits.steps": "Appels au modèle d’un agent.",
  "limits.all_steps": "Appels au modèle de tous les agents d’une exécution.",
  "limits.tokens": "Tokens en entrée et en sortie d’une exécution. 0 : sans limite.",
  "limits.seconds": "Secondes d’activité d’une exécution ; l’attente de personnes ne compte pas.",
  "limits.waiting_hours": "Heures dont dispose une personne pour chaque approbation et question.",
  "limits.usd": "Coût d’une exécution en dollars américains, pour les modèles aux prix connus.",
  "limits.depth": "Nombre maximal de niveaux de sous-agents.",
  "limits.parallel": "Appels d’outils et sous-agents simultanés d’un agent.",
  "limits.context_share":
    "Part de la fenêtre de contexte au-delà de laquelle le début de la conversation est résumé.",
  "programs.enabled": "Permet aux agents d’exécuter des programmes.",
  "programs.python": "L’interpréteur Python. Vide : celui du serveur.",
  "programs.seconds": "Durée maximale d’un programme, en secondes.",
  "programs.memory_mb": "Mémoire d’un programme, en Mo.",
  "programs.processes": "Processus et threads simultanés d’un programme.",
  "programs.runner_token": "Jeton des runners, qui exécutent alors tous les programmes.",
  "programs.runner_wait_seconds": "Durée d’attente d’un runner, en secondes.",
  "knowledge.file_mb": "Taille maximale d’un fichier dans une collection, en Mo.",
  "knowledge.person_mb": "Taille totale des documents d’une personne, en Mo.",
  "knowledge.memory_mb": "Mémoire pour les index des collections consultées, en Mo.",
  "knowledge.embedding_model":
    "Modèle d’embedding pour la recherche sémantique. « built-in » : le modèle intégré. Vide : mots-clés seulement.",
  "knowledge.query_prefix": "Texte attendu par le modèle d’embedding avant une requête.",
  "knowledge.passage_prefix":
    "Texte attendu par le modèle d’embedding avant un passage. Le modifier recalcule tous les embeddings.",
  "knowledge.embedding_batch": "Nombre maximal de passages par requête au modèle d’embedding.",
  "knowledge.embedding_seconds": "Secondes pendant lesquelles une recherche attend le modèle d’embedding.",
  "knowledge.embedding_threads": "Threads du modèle d’embedding intégré.",
  "knowledge.onnxruntime":
    "Bibliothèque ONNX Runtime du modèle intégré. Vide : celle à côté du programme ou du modèle.",
  "knowledge.qdrant_url":
    "Adresse d’un Qdrant qui compare les embeddings. Vide : ils sont comparés en mémoire.",
  "knowledge.qdrant_key": "Clé API de Qdrant.",
  "knowledge.pgvector": "Compare les embeddings avec pgvector dans PostgreSQL plutôt qu’en mémoire.",
  "knowledge.source_folders":
    'Dossiers du serveur avec lesquels les administrateurs peuvent synchroniser des collections, comme `["/srv/handbook"]`.',
  "knowledge.rerank_model": "Modèle qui reclasse les meilleurs passages. Vide : aucun.",
  "knowledge.rerank_seconds": "Secondes pendant lesquelles une recherche attend le modèle de reclassement.",
  "knowledge.vision_model":
    "Modèle de vision qui lit les images ajoutées comme documents. Vide : elles ne sont pas lues.",
  "knowledge.ocr_languages":
    "Les langues de la reconnaissance de texte, telles que les nomme `tesseract --list-langs`. Vide : toutes celles installées.",
  "knowledge.ocr_program": "Le programme Tesseract. Vide : `tesseract` dans le `PATH` du serveur.",
  "knowledge.ocr":
    "Si le texte des pages numérisées et des images est reconnu, lorsque Tesseract est installé.",
  "knowledge.reader_url":
    "Adresse d’un lecteur de documents externe : un serveur Apache Tika, par exemple `http://127.0.0.1:9998`, ou Docling, par exemple `http://127.0.0.1:5001`. Vide : aucun.",
  "knowledge.reader_kind": "Type du lecteur de documents externe : `tika` ou `docling`.",
  "knowledge.reader_key": "Clé du lecteur de documents externe, s’il en demande une.",
  "knowledge.reader_files":
    "Fichiers lus par le lecteur de documents externe : `unreadable` (ceux qui ne sont pas lus autrement), `scans` (images et documents avec des pages numérisées), `all`, ou ceux avec certaines extensions, par exemple `unreadable, vsdx, pages`.",
  "knowledge.reader_seconds": "Secondes accordées au lecteur de documents externe pour un fichier.",
  "knowledge.transcription_model":
    "Identifiant d’un modèle qui transcrit les enregistrements (MP3, M4A, WAV, Ogg, FLAC, WebM, MP4) parmi les documents. Vide : ils ne sont pas lus.",
  "knowledge.transcription_mb":
    "Plus grand enregistrement transcrit, en Mo. La plupart des fournisseurs acceptent 25 Mo.",
  "knowledge.transcription_seconds": "Secondes que peut prendre la transcription d’un enregistrement.",
  "knowledge.graph_model": "Modèle qui extrait les graphes des collections. Vide : pas de graphes.",
  "knowledge.graph_url":
    "Base de graphes Bolt, comme Neo4j, qui reçoit une copie des graphes. Vide : aucune.",
  "knowledge.graph_user": "Utilisateur de la base de graphes.",
  "knowledge.graph_password": "Mot de passe de l’utilisateur de la base de graphes.",
  "knowledge.graph_database": "Nom de la base de données sur le serveur de graphes. Vide : celle par défaut.",
  "research.turns": "Nombre maximal de tours (recherche et lecture) d’une recherche.",
  "research.deep_turns": "Nombre maximal de tours d’une recherche approfondie.",
  "research.queries": "Nombre maximal de requêtes par tour de recherche.",
  "research.sources": "Nombre maximal de sources lues par tour de recherche.",
  "research.steps": "Appels au modèle de tous les agents d’une recherche. 0 : comme dans « limits ».",
  "research.tokens": "Tokens en entrée et en sortie d’une recherche. 0 : comme dans « limits ».",
  "research.usd": "Coût d’une recherche, en dollars américains. 0 : comme dans « limits ».",
  "research.minutes": "Minutes d’activité d’une recherche. 0 : comme dans « limits ».",
  "web.search":
    "Fournisseurs de recherche dans l’ordre, séparés par des virgules : searxng, brave, tavily, mcp, own. Vide : aucun.",
  "web.search_url": "Adresse de SearXNG ; celle d’un autre fournisseur si ce n’est pas celle par défaut.",
  "web.search_key": "Clé API de Brave ou Tavily ; s’il y a plusieurs fournisseurs, celle du premier.",
  "web.search_tool":
    "Avec mcp : l’outil qui cherche, par son nom dans Paramètres → Agents, compétences et outils.",
  "web.brave_url": "Adresse de Brave, si ce n’est pas celle par défaut.",
  "web.brave_key": "Clé API de Brave s’il y a plusieurs fournisseurs.",
  "web.tavily_url": "Adresse de Tavily, si ce n’est pas celle par défaut.",
  "web.tavily_key": "Clé API de Tavily s’il y a plusieurs fournisseurs.",
  "web.fetch": "Permet aux agents de lire des pages web.",
  "web.robots": "Respecte le « robots.txt » des sites.",
  "web.pause_ms": "Millisecondes entre deux requêtes vers un même hôte.",
  "web.seconds": "Secondes que peut prendre une page, redirections comprises.",
  "web.page_mb": "Taille maximale d’une page, en Mo.",
  "web.fresh_minutes": "Minutes pendant lesquelles la copie d’une page sert sans interroger son serveur.",
  "pipelines.task_model":
    "Modèle des titres et tâches similaires dans les chats avec un modèle de cette machine ou de son réseau. Vide : celui du chat.",
  "pipelines.task_model_external":
    "Modèle des titres et tâches similaires dans les chats avec un modèle externe. Vide : celui du chat.",
  "pipelines.enable_title_generation": "Fait rédiger les titres des chats par un modèle.",
  "pipelines.title_generation_prompt_template": "Template de prompt pour les titres. Vide : celui intégré.",
  "pipelines.enable_tags_generation": "Fait rédiger les tags des chats par un modèle.",
  "pipelines.tags_generation_prompt_template": "Template de prompt pour les tags.",
  "pipelines.enable_follow_up_generation": "Fait suggérer des questions de suivi par un modèle.",
  "pipelines.follow_up_generation_prompt_template": "Template de prompt pour les questions de suivi.",
  "pipelines.enable_search_query_generation":
    "Fait rédiger par un modèle les requêtes de recherche web avant la réponse.",
  "pipelines.enable_retrieval_query_generation":
    "Fait rédiger par un modèle les requêtes dans les documents, sauf pour le premier message d’un chat.",
  "pipelines.query_generation_prompt_template":
    "Template de prompt pour les requêtes, sur le Web et dans les documents.",
  "pipelines.rag_template": "Template qui présente les passages au modèle.",
  "pipelines.rag_top_k": "Nombre maximal de passages par message.",
  "pipelines.rag_system_context":
    "Place les passages dans le message système plutôt qu’avant le message de l’utilisateur.",
  "pipelines.enable_autocomplete_generation": "Fait compléter par un modèle les messages en cours de saisie.",
  "pipelines.autocomplete_generation_input_max_length":
    "Longueur maximale du texte complété, en caractères. -1 : illimitée.",
  "pipelines.autocomplete_generation_prompt_template": "Template de prompt pour l’autocomplétion.",
  "pipelines.enable_moa_generation": "Permet de fusionner plusieurs réponses à un message.",
  "pipelines.moa_generation_prompt_template": "Template de prompt pour la fusion des réponses.",
  "pipelines.moa_samples": "Nombre de réponses demandées à un modèle par défaut.",
  "pipelines.moa_layers":
    "Nombre de tours de réponses avant la fusion ; à partir du deuxième, chaque modèle voit toutes les réponses.",
  "pipelines.tools_function_calling_prompt_template":
    "Template de prompt qui décrit les outils aux modèles sans appel d’outils.",
  "pipelines.enable_code_interpreter":
    "Fait écrire du Python entre des balises aux modèles sans appel d’outils ; sinon, ils l’appellent comme tout autre outil.",
  "pipelines.code_interpreter_prompt_template":
    "Template de prompt qui décrit l’interpréteur de code à ces modèles.",
  "pipelines.code_interpreter_max_retries":
    "Nombre de nouveaux essais de suite pour un code Python en échec, par réponse.",
  "web.person_mb":
    "Taille totale des copies de pages d’une personne, en Mo ; les plus anciennes sont supprimées.",
  "web.browser":
    "Ce qui exécute les scripts des pages qui en ont besoin : auto, le chemin d’un Chromium ou l’adresse d’un Crawl4AI. Vide : rien.",
  "web.browser_key": "Jeton pour Crawl4AI.",
  "web.browser_hosts": "Hôtes dont les pages sont toujours lues avec le navigateur.",
  "web.browser_seconds": "Durée maximale des scripts d’une page, en secondes.",
  "object_storage.url":
    "Où sont les contenus volumineux : `s3://BUCKET/PREFIXE`, `gs://…`, `az://…` ou `file:///DOSSIER`. Vide : dans la base de données.",
  "object_storage.endpoint": "Adresse du service. Vide : celle du fournisseur.",
  "object_storage.region": "Région d’un bucket S3. Vide : `AWS_REGION` ou us-east-1.",
  "object_storage.access_key":
    "Identifiant de clé d’accès S3 ou nom du compte Azure. Vide : celui de l’environnement ou du rôle de la machine.",
  "object_storage.secret_key":
    "Clé secrète S3 ou Azure, ou compte de service Google en JSON. Vide : celle de l’environnement ou du rôle.",
  "object_storage.secret_key_file": "Fichier contenant cette clé.",
  "object_storage.path_style": "Indique si le bucket S3 figure dans le chemin et non dans le nom d’hôte.",
  "skills.folder": "Dossier des compétences. Vide : « skills » dans le dossier de données.",
  "model_timeouts.first_token_seconds": "Secondes d’attente maximale du premier token d’une réponse.",
  "model_timeouts.idle_seconds": "Secondes de silence maximal d’un modèle au milieu d’une réponse.",
  "oidc.issuer": "Adresse du fournisseur OpenID Connect. Vide : désactivé.",
  "oidc.client_id": "ID du client chez le fournisseur.",
  "oidc.client_secret": "Secret du client chez le fournisseur.",
  "oidc.name": "Nom du fournisseur sur le bouton « Continuer avec… ».",
  "oidc.scopes": "Scopes à demander.",
  "oidc.groups_claim": "Claim contenant les groupes d’une personne.",
  "oidc.groups_url": "Où demander les groupes trop nombreux pour le jeton. Vide : nulle part.",
  "oidc.admin_groups": "Groupes dont les membres sont administrateurs. Vide : ils sont choisis ici.",
  "oidc.allowed_groups": "Groupes dont les membres peuvent se connecter. Vide : tous.",
  "oidc.create_accounts": "Crée un compte à la première connexion.",
  "oidc.link_by_email": "Donne accès au compte existant qui a la même adresse, si elle est vérifiée.",
  "trusted_header.user":
    "En-tête avec l’ID de la personne auprès du proxy. Vide : aucun proxy ne connecte les utilisateurs.",
  "trusted_header.email": "En-tête avec l’adresse e-mail. Vide : l’ID est l’adresse.",
  "trusted_header.name": "En-tête avec le nom de la personne.",
  "trusted_header.groups": "En-tête avec les groupes de la personne.",
  "trusted_header.groups_separator": "Séparateur entre deux groupes.",
  "trusted_header.proxies":
    "Adresses depuis lesquelles le proxy se connecte. Les autres ne sont pas de confiance.",
  "trusted_header.sign_out_url": "Adresse où l’on se déconnecte du proxy.",
  "trusted_header.admin_groups":
    "Groupes dont les membres sont administrateurs, selon le proxy. Vide : ils sont choisis ici.",
  "trusted_header.allowed_groups": "Groupes dont les membres ont accès, selon le proxy. Vide : tous.",
  "trusted_header.create_accounts": "Crée un compte à la première requête via le proxy.",
  "trusted_header.link_by_email": "Donne accès au compte existant qui a l’adresse indiquée par le proxy.",
  "mail.server": "Le serveur SMTP qui envoie les e-mails.",
  "mail.security": "Chiffrement de la connexion au serveur de messagerie : `starttls`, `tls` ou `none`.",
  "mail.user": "Le nom d’utilisateur sur le serveur de messagerie.",
  "mail.password": "Le mot de passe de cet utilisateur.",
  "mail.from": "L’expéditeur des e-mails.",
  "outbound.allow": "Hôtes et réseaux accessibles par des adresses de tiers, en plus de l’Internet public.",
  "tls.certificate":
    "Fichier du certificat avec lequel le serveur parle lui-même TLS, en PEM, suivi des certificats intermédiaires.",
  "tls.key": "Fichier de la clé privée du certificat, en PEM, sans mot de passe.",
  "tls.http2":
    "Si les clients peuvent utiliser HTTP/2, avec lequel une connexion transporte toutes les requêtes d’un navigateur.",
  "log.level": "Niveau de détail du journal du serveur.",
  "log.format": "Format du journal : texte ou JSON.",
  "tracing.endpoint": "Collecteur OpenTelemetry qui reçoit les traces. Vide : aucun.",
  "tracing.content": "Inclut les tâches, les arguments et les résultats dans les traces.",
};
