/**
 * Spanish descriptions of the server settings; the server sends the English ones. Loaded with the configuration page.
 */
export const serverSettings: Readonly<Record<string, string>> = {
  listen: "Direcciones en las que escucha el servidor.",
  public_url:
    "La dirección con la que se accede al servidor si hay un proxy inverso: esquema, host y, opcionalmente, puerto y ruta.",
  strict_transport_security:
    "La cabecera `Strict-Transport-Security`, como `max-age=31536000`, con la que los navegadores usan solo HTTPS.",
  cors_allow_origins: "Orígenes de otros sitios cuyas páginas pueden llamar a la API desde el navegador.",
  trusted_proxies: "Proxies en cuyo «X-Forwarded-For» se confía.",
  data_dir: "Carpeta de la base de datos y del archivo de clave. Vacío: la carpeta de datos del usuario.",
  secret_key:
    "La clave con la que se cifran los secretos guardados. Vacío: secret.key en la carpeta de datos.",
  secret_key_file: "Archivo con esa clave, por ejemplo uno montado por Kubernetes.",
  database_url: "Dirección de PostgreSQL. Vacío: SQLite en la carpeta de datos.",
  database_connections:
    "Máximo de conexiones a PostgreSQL, de 2 a 1000; 3 más son para la concesión, las órdenes y los registros.",
  bus_url:
    "Redis o Valkey entre servidores que comparten una base de datos: redis://host:6379, o rediss://:password@host:6379 con TLS.",
  auth: "Cómo se identifican las personas. «none» convierte a todos los de esta máquina en administradores.",
  session_hours: "Horas que un navegador mantiene la sesión tras su último uso.",
  session_max_hours: "Horas tras las que hay que volver a iniciar sesión, por mucho que se use el navegador.",
  seal_logs_hours: "Horas desde el final de una ejecución hasta que se comprime su registro; 0: nunca.",
  file_link_days:
    "Días durante los que los front-ends pueden abrir los archivos de las respuestas con enlaces firmados.",
  retention_days: "Días que se conservan las ejecuciones sin chat.",
  start_prompts: "Prompts de ejemplo en la página de un chat nuevo, hasta 6.",
  moderation: "Si los administradores pueden leer los chats de todos. Se avisa de ello a las personas.",
  audit_days: "Días que se conservan las entradas del registro de auditoría.",
  forward_user_info_headers:
    "Si se indica a los servidores de modelos del archivo y del entorno qué usuario pregunta.",
  bedrock: "Si se crea una conexión a Amazon Bedrock con las credenciales de AWS del servidor.",
  body_limit_mb: "Tamaño máximo de una solicitud, en MB.",
  import_limit_mb: "Tamaño máximo de un archivo para importar, en MB. 0 desactiva las importaciones.",
  body_memory_mb: "Memoria para las solicitudes que se reciben, en MB.",
  connection_limit: "Máximo de conexiones abiertas; las demás esperan.",
  connections_per_address: "Máximo de conexiones inactivas desde una misma dirección.",
  shutdown_delay_seconds:
    "Con PostgreSQL: segundos tras SIGTERM en los que el servidor aún acepta solicitudes mientras `/readyz` responde 503.",
  drain_seconds:
    "Segundos que tienen las llamadas a modelos y herramientas y las solicitudes en curso para terminar al detener el servidor.",
  lease_seconds:
    "Con PostgreSQL: segundos tras los que otro servidor asume las ejecuciones de uno que ha dejado de responder.",
  approvals:
    "Reglas sobre qué llamadas a herramientas requieren aprobación, además de las que piden las propias herramientas.",
  "limits.steps": "Llamadas al modelo de un agente.",
  "limits.all_steps": "Llamadas al modelo de todos los agentes de una ejecución.",
  "limits.tokens": "Tokens de entrada y salida de una ejecución. 0: sin límite.",
  "limits.seconds": "Segundos de actividad de una ejecución; no cuenta la espera a personas.",
  "limits.waiting_hours": "Horas que tiene una persona para cada aprobación y pregunta.",
  "limits.usd": "Coste de una ejecución en dólares estadounidenses, para modelos con precios conocidos.",
  "limits.depth": "Cuántos niveles de subagentes puede haber.",
  "limits.parallel": "Llamadas a herramientas y subagentes de un agente que se ejecutan a la vez.",
  "limits.context_share":
    "Parte de la ventana de contexto a partir de la cual se resume lo más antiguo de la conversación.",
  "programs.enabled": "Si los agentes pueden ejecutar programas.",
  "programs.python": "El intérprete de Python. Vacío: el del servidor.",
  "programs.seconds": "Segundos que puede durar un programa.",
  "programs.memory_mb": "Memoria de un programa, en MB.",
  "programs.processes": "Procesos e hilos simultáneos de un programa.",
  "programs.runner_token": "Token de los ejecutores, que entonces ejecutan todos los programas.",
  "programs.runner_wait_seconds": "Segundos que un programa espera a un ejecutor.",
  "knowledge.file_mb": "Tamaño máximo de un archivo en una colección, en MB.",
  "knowledge.person_mb": "Todos los documentos de una persona, en MB.",
  "knowledge.memory_mb": "Memoria para los índices de las colecciones en las que se ha buscado, en MB.",
  "knowledge.embedding_model":
    "Modelo de embeddings para la búsqueda semántica. «built-in»: el integrado. Vacío: solo palabras clave.",
  "knowledge.query_prefix": "Texto que el modelo de embeddings espera antes de una consulta.",
  "knowledge.passage_prefix":
    "Texto que el modelo de embeddings espera antes de un fragmento. Un cambio vuelve a generar todos los embeddings.",
  "knowledge.embedding_batch": "Máximo de fragmentos en una solicitud al modelo de embeddings.",
  "knowledge.embedding_seconds": "Segundos que una búsqueda espera al modelo de embeddings.",
  "knowledge.embedding_threads": "Hilos del modelo de embeddings integrado.",
  "knowledge.onnxruntime":
    "Biblioteca ONNX Runtime del modelo integrado. Vacío: la que está junto al programa o al modelo.",
  "knowledge.qdrant_url":
    "Dirección de un servidor Qdrant que compara los embeddings. Vacío: se comparan en memoria.",
  "knowledge.qdrant_key": "Clave de API de Qdrant.",
  "knowledge.pgvector": "Si pgvector compara los embeddings en PostgreSQL, en lugar de hacerlo en memoria.",
  "knowledge.source_folders":
    'Carpetas del servidor con las que los administradores pueden sincronizar colecciones, como `["/srv/handbook"]`.',
  "knowledge.rerank_model": "Modelo que reordena los mejores fragmentos. Vacío: ninguno.",
  "knowledge.rerank_seconds": "Segundos que una búsqueda espera al reranker.",
  "knowledge.vision_model":
    "Modelo de visión que lee las imágenes subidas como documentos. Vacío: no se leen.",
  "knowledge.ocr_languages":
    "Los idiomas del reconocimiento de texto, como los nombra `tesseract --list-langs`. Vacío: todos los instalados.",
  "knowledge.ocr_program": "El programa Tesseract. Vacío: `tesseract` en el `PATH` del servidor.",
  "knowledge.ocr":
    "Si se reconoce el texto de páginas escaneadas e imágenes cuando Tesseract está instalado.",
  "knowledge.reader_url":
    "Dirección de un lector de documentos externo: un servidor de Apache Tika, como `http://127.0.0.1:9998`, o de Docling, como `http://127.0.0.1:5001`. Vacío: ninguno.",
  "knowledge.reader_kind": "Tipo del lector de documentos externo: `tika` o `docling`.",
  "knowledge.reader_key": "Clave del lector de documentos externo, si pide una.",
  "knowledge.reader_files":
    "Archivos que lee el lector de documentos externo: `unreadable` (los que no se leen de otro modo), `scans` (imágenes y documentos con páginas escaneadas), `all`, o los de ciertas extensiones, como `unreadable, vsdx, pages`.",
  "knowledge.reader_seconds": "Segundos que tiene el lector de documentos externo para un archivo.",
  "knowledge.transcription_model":
    "ID de un modelo que transcribe las grabaciones (MP3, M4A, WAV, Ogg, FLAC, WebM, MP4) que hay entre los documentos. Vacío: no se leen.",
  "knowledge.transcription_mb":
    "Grabación más grande que se transcribe, en MB. La mayoría de los proveedores acepta 25 MB.",
  "knowledge.transcription_seconds": "Segundos que puede durar la transcripción de una grabación.",
  "knowledge.graph_model":
    "Modelo que extrae los grafos de conocimiento de las colecciones. Vacío: no hay grafos.",
  "knowledge.graph_url":
    "Base de datos de grafos con Bolt, como Neo4j, que recibe una copia de los grafos. Vacío: ninguna.",
  "knowledge.graph_user": "Usuario de la base de datos de grafos.",
  "knowledge.graph_password": "Contraseña del usuario de la base de datos de grafos.",
  "knowledge.graph_database":
    "Nombre de la base de datos en el servidor de grafos. Vacío: la predeterminada.",
  "research.turns": "Cuántas veces, como máximo, busca y lee una investigación.",
  "research.deep_turns": "Cuántas veces, como máximo, busca y lee una investigación a fondo.",
  "research.queries": "Máximo de consultas en una ronda de investigación.",
  "research.sources": "Máximo de fuentes que se leen en una ronda de investigación.",
  "research.steps":
    "Llamadas al modelo de todos los agentes de una investigación. 0: el límite de las demás ejecuciones.",
  "research.tokens":
    "Tokens de entrada y salida de una investigación. 0: el límite de las demás ejecuciones.",
  "research.usd":
    "Coste de una investigación en dólares estadounidenses. 0: el límite de las demás ejecuciones.",
  "research.minutes": "Minutos de actividad de una investigación. 0: el límite de las demás ejecuciones.",
  "web.search":
    "Servicios de búsqueda por orden, separados por comas: searxng, brave, tavily, mcp, own. Vacío: ninguno.",
  "web.search_url": "Dirección de SearXNG; la de otro servicio, si no es la predeterminada.",
  "web.search_key": "Clave de API de Brave o Tavily; si hay varios servicios, la del primero.",
  "web.search_tool": "Con «mcp»: la herramienta del servidor MCP que busca.",
  "web.brave_url": "Dirección de Brave, si no es la predeterminada.",
  "web.brave_key": "Clave de API de Brave, si «web.search_key» es de otro servicio.",
  "web.tavily_url": "Dirección de Tavily, si no es la predeterminada.",
  "web.tavily_key": "Clave de API de Tavily, si «web.search_key» es de otro servicio.",
  "web.fetch": "Si los agentes pueden leer páginas web.",
  "web.robots": "Si se respeta el «robots.txt» de los sitios.",
  "web.pause_ms": "Milisegundos entre dos solicitudes a un mismo host.",
  "web.seconds": "Segundos que puede tardar una página, incluidas las redirecciones.",
  "web.page_mb": "Tamaño máximo de una página, en MB.",
  "web.fresh_minutes": "Minutos durante los que se usa la copia de una página sin consultar a su servidor.",
  "pipelines.task_model":
    "Modelo para títulos y tareas similares en chats con un modelo de esta máquina o de su red. Vacío: el del chat.",
  "pipelines.task_model_external":
    "Modelo para títulos y tareas similares en chats con un modelo externo. Vacío: el del chat.",
  "pipelines.enable_title_generation": "Si un modelo escribe los títulos de los chats.",
  "pipelines.title_generation_prompt_template": "Plantilla del prompt para los títulos. Vacío: la integrada.",
  "pipelines.enable_tags_generation": "Si un modelo escribe las etiquetas de los chats.",
  "pipelines.tags_generation_prompt_template":
    "Plantilla del prompt para las etiquetas. Vacío: la integrada.",
  "pipelines.enable_follow_up_generation": "Si un modelo sugiere preguntas para continuar.",
  "pipelines.follow_up_generation_prompt_template":
    "Plantilla del prompt para las preguntas sugeridas. Vacío: la integrada.",
  "pipelines.enable_search_query_generation":
    "Si un modelo escribe las consultas para la búsqueda web antes de la respuesta.",
  "pipelines.enable_retrieval_query_generation":
    "Si un modelo escribe las consultas para los documentos, en todos los mensajes salvo el primero del chat.",
  "pipelines.query_generation_prompt_template":
    "Plantilla del prompt para las consultas, en la web y en documentos. Vacío: la integrada.",
  "pipelines.rag_template":
    "Plantilla con la que se presentan los fragmentos al modelo. Vacío: la integrada.",
  "pipelines.rag_top_k": "Máximo de fragmentos por mensaje.",
  "pipelines.rag_system_context":
    "Si los fragmentos van en el mensaje del sistema y no antes del mensaje del usuario.",
  "pipelines.enable_autocomplete_generation": "Si un modelo completa los mensajes mientras se escriben.",
  "pipelines.autocomplete_generation_input_max_length":
    "Longitud máxima del texto que se completa, en caracteres. -1: cualquiera.",
  "pipelines.autocomplete_generation_prompt_template":
    "Plantilla del prompt para el autocompletado. Vacío: la integrada.",
  "pipelines.enable_moa_generation": "Si se pueden combinar varias respuestas a un mensaje.",
  "pipelines.moa_generation_prompt_template":
    "Plantilla del prompt para combinar respuestas. Vacío: la integrada.",
  "pipelines.moa_samples": "Cuántas respuestas se piden a un modelo de forma predeterminada.",
  "pipelines.moa_layers":
    "Cuántas rondas de respuestas hay antes de combinarlas; desde la segunda, con todas a la vista.",
  "pipelines.tools_function_calling_prompt_template":
    "Plantilla del prompt que describe las herramientas a los modelos que no las admiten. Vacío: la integrada.",
  "pipelines.enable_code_interpreter":
    "Si los modelos que no admiten herramientas escriben Python entre etiquetas; si no, lo llaman como cualquier otra herramienta.",
  "pipelines.code_interpreter_prompt_template":
    "Plantilla del prompt que describe el intérprete de código a los modelos que no admiten herramientas. Vacío: la integrada.",
  "pipelines.code_interpreter_max_retries":
    "Cuántas veces seguidas se reintenta en una respuesta el código Python que falla.",
  "web.person_mb": "Copias de páginas guardadas de una persona, en MB; las más antiguas se eliminan.",
  "web.browser":
    "Qué ejecuta los scripts de las páginas que los necesitan: «auto», la ruta de un Chromium o la dirección de un Crawl4AI. Vacío: nada.",
  "web.browser_key": "Token de Crawl4AI.",
  "web.browser_hosts": "Hosts cuyas páginas se leen siempre con el navegador.",
  "web.browser_seconds": "Segundos que pueden durar los scripts de una página.",
  "object_storage.url":
    "Dónde se guardan los contenidos grandes: `s3://BUCKET/PREFIJO`, `gs://…`, `az://…` o `file:///CARPETA`. Vacío: en la base de datos.",
  "object_storage.endpoint": "Dirección del servicio. Vacío: la del proveedor.",
  "object_storage.region": "Región de un bucket de S3. Vacío: `AWS_REGION` o us-east-1.",
  "object_storage.access_key":
    "ID de clave de acceso de S3 o nombre de la cuenta de Azure. Vacío: del entorno o del rol de la máquina.",
  "object_storage.secret_key":
    "Clave secreta de S3 y Azure, o cuenta de servicio de Google en JSON. Vacío: del entorno o del rol.",
  "object_storage.secret_key_file": "Archivo con esa clave.",
  "object_storage.path_style": "Si el bucket de S3 va en la ruta y no en el nombre de host.",
  "skills.folder": "Carpeta de las habilidades. Vacío: «skills» en la carpeta de datos.",
  "model_timeouts.first_token_seconds": "Segundos que puede tardar el primer token de una respuesta.",
  "model_timeouts.idle_seconds": "Segundos que un modelo puede guardar silencio en mitad de una respuesta.",
  "oidc.issuer": "Dirección del proveedor de OpenID Connect. Vacío: desactivado.",
  "oidc.client_id": "ID de cliente en el proveedor.",
  "oidc.client_secret": "Secreto de cliente en el proveedor.",
  "oidc.name": "Nombre del proveedor en el botón «Continuar con…».",
  "oidc.scopes": "Ámbitos (scopes) que se solicitan.",
  "oidc.groups_claim": "El claim con los grupos de una persona.",
  "oidc.groups_url": "Dónde se piden los grupos de una persona si no caben en el token. Vacío: no se piden.",
  "oidc.admin_groups": "Grupos cuyos miembros son administradores. Vacío: se eligen aquí.",
  "oidc.allowed_groups": "Grupos cuyos miembros pueden iniciar sesión. Vacío: todos.",
  "oidc.create_accounts": "Si se crea una cuenta en el primer inicio de sesión.",
  "oidc.link_by_email": "Si una dirección verificada da acceso a la cuenta existente con esa dirección.",
  "trusted_header.user":
    "Cabecera con el ID de la persona en el proxy. Vacío: ningún proxy gestiona el inicio de sesión.",
  "trusted_header.email": "Cabecera con el correo electrónico. Vacío: el ID es la dirección.",
  "trusted_header.name": "Cabecera con el nombre de la persona.",
  "trusted_header.groups": "Cabecera con los grupos de la persona.",
  "trusted_header.groups_separator": "Separador entre dos grupos.",
  "trusted_header.proxies":
    "Direcciones y redes desde las que se conecta el proxy. En las demás no se confía.",
  "trusted_header.sign_out_url": "Dirección donde se cierra la sesión del proxy.",
  "trusted_header.admin_groups":
    "Grupos cuyos miembros son administradores, según el proxy. Vacío: se eligen aquí.",
  "trusted_header.allowed_groups": "Grupos cuyos miembros pueden entrar, según el proxy. Vacío: todos.",
  "trusted_header.create_accounts": "Si se crea una cuenta en la primera solicitud a través del proxy.",
  "trusted_header.link_by_email":
    "Si la dirección que indica el proxy da acceso a la cuenta existente con esa dirección.",
  "mail.server": "El servidor SMTP que envía los correos.",
  "mail.security": "Cómo se cifra la conexión con el servidor de correo: `starttls`, `tls` o `none`.",
  "mail.user": "El nombre de usuario en el servidor de correo.",
  "mail.password": "La contraseña de ese usuario.",
  "mail.from": "El remitente de los correos.",
  "outbound.allow":
    "Hosts y redes a los que pueden llegar las solicitudes a direcciones de terceros, además de la internet pública.",
  "tls.certificate":
    "Archivo con el certificado con el que el propio servidor habla TLS, en PEM, seguido de los intermedios.",
  "tls.key": "Archivo con la clave privada del certificado, en PEM, sin contraseña.",
  "tls.http2":
    "Si los clientes pueden usar HTTP/2, con el que una conexión lleva todas las solicitudes de un navegador.",
  "log.level": "Nivel de detalle del registro del servidor.",
  "log.format": "Formato del registro: texto o JSON.",
  "tracing.endpoint": "Colector de OpenTelemetry que recibe las trazas. Vacío: ninguno.",
  "tracing.content": "Si las trazas incluyen tareas, argumentos y resultados.",
};
