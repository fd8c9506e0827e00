/** Spanish server messages, by message code; the server sends the English text with each code. */
import type { Messages } from "../../api/messages.ts";
import type { Entry } from "../index.svelte.ts";
import { refusals } from "./refusals.ts";

export const sentences: Record<keyof Messages, Entry> = {
  ...refusals,

  thinking: "Pensando…",
  summing_up: "Resumiendo los pasos anteriores…",
  asking_again: "Se volverá a consultar al modelo en {seconds} s (intento {attempt} de {attempts})…",
  running_tools: {
    one: "Ejecutando {count} herramienta…",
    many: "Ejecutando {count} de herramientas…",
    other: "Ejecutando {count} herramientas…",
  },
  planning: "Planificando…",
  searching_in_turn: "Ronda {turn}: buscando…",
  reading_in_turn: {
    one: "Ronda {turn}: leyendo {count} fuente…",
    many: "Ronda {turn}: leyendo {count} de fuentes…",
    other: "Ronda {turn}: leyendo {count} fuentes…",
  },
  writing_report: "Escribiendo el informe…",
  looking_for: "Decidiendo qué buscar…",
  searching_queries: {
    one: "Haciendo {count} búsqueda…",
    many: "Haciendo {count} de búsquedas…",
    other: "Haciendo {count} búsquedas…",
  },
  reading_pages: {
    one: "Leyendo {count} página…",
    many: "Leyendo {count} de páginas…",
    other: "Leyendo {count} páginas…",
  },
  layer: "Respondiendo de nuevo a la vista de todas las respuestas, {layer} de {layers}…",

  the_run: "La ejecución",
  the_agent: "El agente",
  limit_steps: {
    one: "El agente dio {count} paso, que es su límite. Termina con lo que tiene.",
    many: "El agente dio {count} de pasos, que es su límite. Termina con lo que tiene.",
    other: "El agente dio {count} pasos, que es su límite. Termina con lo que tiene.",
  },
  limit_steps_near: "El agente dio {count} de {limit} pasos. Termina con lo que tiene.",
  limit_all_steps: {
    one: "{who} dio {count} paso entre todos sus agentes y su límite es {limit}. Termina con lo que tiene.",
    many: "{who} dio {count} de pasos entre todos sus agentes y su límite es {limit}. Termina con lo que tiene.",
    other:
      "{who} dio {count} pasos entre todos sus agentes y su límite es {limit}. Termina con lo que tiene.",
  },
  limit_tokens: {
    one: "{who} usó {count} token y su límite es {limit}. Termina con lo que tiene.",
    many: "{who} usó {count} de tokens y su límite es {limit}. Termina con lo que tiene.",
    other: "{who} usó {count} tokens y su límite es {limit}. Termina con lo que tiene.",
  },
  limit_cost: "{who} costó {cost} y su límite es {limit}. Termina con lo que tiene.",
  limit_time: "{who} trabajó {seconds} segundos, que es su límite. Termina con lo que tiene.",
  limit_time_near: "{who} trabajó {seconds} de los {limit} segundos que tiene. Termina con lo que tiene.",
  limit_answer: {
    one: "La respuesta alcanzó el límite solicitado de {count} token y se cortó.",
    many: "La respuesta alcanzó el límite solicitado de {count} de tokens y se cortó.",
    other: "La respuesta alcanzó el límite solicitado de {count} tokens y se cortó.",
  },
  hook_stopped: "El hook «{hook}» detuvo la ejecución: {reason}",
  hook_withheld: "El hook «{hook}» retuvo la respuesta: {reason}",

  limit_account: "{who} ha alcanzado su límite de {most} por {span}. Se restablece en {wait}.",
  this_account: "Esta cuenta",
  group_of_account: "Un grupo de esta cuenta",
  this_key: "Esta clave",
  this_person: "Esta persona",
  requests: { one: "{count} solicitud", many: "{count} de solicitudes", other: "{count} solicitudes" },
  tokens: { one: "{count} token", many: "{count} de tokens", other: "{count} tokens" },
  minute: "minuto",
  day: "día",
  month: "mes",
  seconds: { one: "{count} segundo", many: "{count} de segundos", other: "{count} segundos" },
  minutes: { one: "{count} minuto", many: "{count} de minutos", other: "{count} minutos" },
  hours: { one: "{count} hora", many: "{count} de horas", other: "{count} horas" },
  days: { one: "{count} día", many: "{count} de días", other: "{count} días" },

  model_not_yours: "Ya no puedes usar el modelo {name}: un administrador ha cambiado los permisos.",
  agent_not_yours: "Ya no puedes usar el agente {name}: un administrador ha cambiado los permisos.",
  workspace_not_yours:
    "Ya no puedes usar la carpeta de trabajo {name}: un administrador ha cambiado los permisos.",

  media_left_out:
    "Este modelo no admite las imágenes, los audios ni los vídeos de esta conversación, así que se le consultó sin ellos.",
  parameter_left_out: "Se consultó al modelo sin «{name}», que no admite aquí.",
  tools_simplified:
    "El servidor de este modelo no admite todos los esquemas de estas herramientas, así que el modelo recibe otros más sencillos: {tools}. Sus argumentos se comprueban como antes.",
  tools_left_out: "El servidor de este modelo rechaza estas herramientas, así que se omiten: {tools}.",
  tools_by_search:
    "Hay más herramientas de las que admite el servidor de este modelo: se incluyen {listed} de {all}; las demás se encuentran con la búsqueda.",
  stop_sequences_left_out: "Se consultó al modelo sin algunas de las secuencias de parada, que no admite.",
  arguments_repaired: "El modelo escribió argumentos no válidos para {tool}, que se corrigieron.",
  tool_name_repaired: "El modelo llamó a «{written}»; se refería a la herramienta {tool}.",
  empty_answer: "El modelo dio una respuesta vacía.",
  made_picture_too_large:
    "Una imagen del modelo es demasiado grande para conservarla: {size} bytes, con un máximo de {limit}.",
  made_picture_unreadable: "Una imagen del modelo no se puede leer y no se muestra.",
  answer_cut: "El modelo alcanzó su límite de tokens de salida; la respuesta puede estar cortada.",
  answer_filtered: "El filtro de contenido del servidor del modelo cortó la respuesta.",
  answer_without_end: "El servidor del modelo terminó la respuesta sin indicar que estaba completa.",
  answer_not_in_form: "La respuesta no tiene el formato solicitado, así que se escribe de nuevo: {fault}.",
  answer_never_in_form: "El modelo no respondió en el formato solicitado: {fault}.",
  other_model: "No se pudo usar {before}, así que se usa {after} en su lugar. {why}",

  title_missing: "no hay título",
  title_of_lines: "el título tiene varias líneas",
  title_without_words: "el título no tiene palabras o tiene demasiadas",
  title_in_other_language: "el título no está en el idioma del chat",
  tags_missing: "no hay etiquetas",
  follow_ups_missing: "no hay follow_ups",
  json_missing: "no hay ningún objeto JSON con {field}",
  fault_and_more: "{fault}; {more}",

  no_summary: "No se pudieron resumir los pasos anteriores, así que se omiten: {why}",
  parts_too_long: "Incluso partes de ellos son demasiado largas para el servidor del modelo.",

  no_answer_of: "{name} no respondió. {why}",
  nobody_answered:
    "Ningún modelo respondió en esta capa, así que se usan las respuestas de la capa anterior.",

  no_report: "El modelo no escribió ningún informe. Estas son las notas.",
  notes_so_far: "Terminó antes del informe. Estas son las notas hasta ahora.",
  cites_nothing: "El informe no cita fuentes, así que no se sabe de dónde procede.",
  quotes_found:
    "{verified} de {count} notas citadas tienen una cita que aparece palabra por palabra en la fuente.",
  figures_unsupported:
    "El informe contiene cifras o citas sin referencia que no aparecen en ninguna cita de las fuentes: {list}.",
  nothing_to_research_in:
    "No hay dónde investigar: ni una colección de documentos en la que puedas buscar ni búsqueda web. Crea antes una colección o consulta a un administrador.",
  no_web_here: "La búsqueda web no está disponible aquí, así que se responde sin ella.",

  interrupted:
    "El servidor se reinició durante esta ejecución. Lo que escribió se conserva; pregunta de nuevo para continuar.",
  given_up:
    "El servidor se detuvo repetidamente durante esta ejecución, así que se dio por terminada. Lo que escribió se conserva; pregunta de nuevo para continuar.",
  model_gone: "El servidor se reinició durante esta ejecución y el modelo {name} ya no está disponible.",
  fault_of_server: "La ejecución terminó por un error del servidor. Lo que escribió se conserva.",
  not_stored: "No se pudo guardar el registro, así que se detuvo la ejecución.",

  mcp_server_away:
    "Ahora no se puede conectar con el servidor MCP «{name}», así que esta ejecución sigue sin sus herramientas.",
  mcp_sign_in_ended:
    "Tu sesión en el servidor MCP «{name}» ha finalizado, así que esta ejecución sigue sin sus herramientas. Vuelve a iniciar sesión en Configuración → Permisos y sesiones de herramientas.",
  mcp_server_full: "El servidor MCP «{name}» tiene demasiadas conexiones ahora mismo.",
  mcp_server_fails: "No se pudo conectar con el servidor MCP «{name}».",

  saying: "{words} Dice: {quote}",
  other_server: "{why} Se usa {name} en su lugar.",
  other_key: "{why} Se usa otra clave de {name}.",
  model_servers_unreachable: "No se puede conectar con los servidores de modelos: {why}.",
  model_broke_off:
    "El servidor del modelo cerró la conexión en mitad de la respuesta. Inténtalo de nuevo; si sigue ocurriendo, consulta el registro de ese servidor.",
  model_silent:
    "El servidor del modelo no envió nada durante {waited}. Puede que aún esté cargando el modelo o que esté saturado; inténtalo de nuevo.",
  model_went_silent:
    "El servidor del modelo se detuvo en mitad de la respuesta: no llegó nada durante {waited}. Inténtalo de nuevo.",
  short_milliseconds: "{count} ms",
  short_seconds: "{count} s",
  certificate_not_trusted: "El certificado de {server} no es de confianza: {why}",
  server_name_unknown: "No se pudo resolver el nombre de host de {server}. Comprueba la dirección.",
  nothing_answers:
    "No se pudo conectar con {server}. ¿Está en marcha el servidor del modelo y es correcta la dirección?",
  closed_before_answer:
    "El servidor del modelo en {server} cerró la conexión antes de responder. Inténtalo de nuevo.",
  no_such_model: "El servidor no tiene el modelo «{model}».",
  no_api:
    "En {server} no hay ninguna API compatible con OpenAI. Comprueba la dirección; suele terminar en /v1.",
  model_gave_up: "El servidor del modelo tardó demasiado y canceló la solicitud (408). Inténtalo de nuevo.",
  context_full: "La conversación es demasiado larga para el modelo. El servidor del modelo dice: {quote}",
  model_refused: "El servidor del modelo rechazó la solicitud ({status}).",
  model_failed: "El servidor del modelo falló ({status}). Inténtalo más tarde.",
  key_wanted: "El servidor del modelo requiere una clave. Introduce una en esta conexión.",
  key_not_allowed: "El servidor del modelo no permite que esta clave use el modelo.",
  key_refused: "El servidor del modelo rechazó la clave. Comprueba la clave de esta conexión.",
  no_credit: "La cuenta en el servidor del modelo se ha quedado sin saldo.",
  slow_down:
    "El servidor del modelo está recibiendo demasiadas solicitudes. Espera un poco e inténtalo de nuevo.",
  sends_on: "{server} redirige a {to}. Introduce esa dirección en su lugar.",
  answers_redirect: "{server} no es un servidor compatible con OpenAI: respondió con una redirección.",
  answers_web_page:
    "{server} no es un servidor compatible con OpenAI: respondió con una página web. Comprueba la dirección; suele terminar en /v1.",
  no_model_list:
    "{server} no es un servidor compatible con OpenAI: no se puede leer su lista de modelos. Comprueba la dirección; suele terminar en /v1.",
  no_answer_within: "{server} no respondió en {seconds} s.",
  no_model_server: "«{model}» no tiene servidor de modelos.",
  did_you_mean: "{words} ¿Quisiste decir {names}?",
  no_embeddings:
    "{model} no puede generar embeddings: su conexión es del tipo {kind}. Indica un modelo de embeddings.",
  useless_answer: "La respuesta de {model} no se puede usar: {why}.",
  answer_over: "La respuesta de {model} ocupa más de {limit} MB.",
  not_finished_within: "El modelo no terminó su respuesta en {seconds} s.",
  model_reported: "El servidor del modelo devolvió un error: {quote}",
  not_the_protocol:
    "El servidor del modelo en {server} envió algo que no sigue el protocolo de OpenAI: {quote}",
  conversation_too_long: "La conversación de esta ejecución ocupa más de {limit} MB.",
  answer_too_long:
    "El servidor del modelo envió más de {limit} MB en una respuesta. Inténtalo de nuevo o usa otro modelo.",
  event_too_long:
    "El servidor del modelo envió un solo evento de más de {limit} MB, lo que no permite el protocolo.",
  gave_up_in_answer: "El servidor del modelo interrumpió la respuesta a la mitad. Inténtalo de nuevo.",
  answers_texts: "El servidor del modelo admite chat, pero no el completado de texto.",
  tried_just_now: "El servidor del modelo se está volviendo a probar en este momento.",
  left_alone: "{name} falló repetidamente y no se usará durante {seconds} s.",
  because: "{words} {why}",
  vectors_differ: "El modelo devolvió vectores de distinta longitud, que no se pueden comparar.",
  vector_without_direction:
    "El modelo devolvió un vector sin dirección, con el que no se puede encontrar nada.",
  built_in_slow: "El modelo integrado tardó más de {seconds} s.",
  built_in_missing:
    "El modelo integrado no está instalado: falta {file}. Un administrador puede instalarlo como se describe en la página del manual sobre documentos.",
  built_in_broken: "El modelo integrado no se puede cargar. Consulta el registro del servidor.",
  not_in_form_of: "{name} no respondió en el formato solicitado.",
  no_transcription:
    "{model} no puede transcribir grabaciones: su conexión es de tipo {kind}. Indica un modelo de transcripción.",
  reader_unreachable: "No se puede acceder al lector de documentos externo.",
  reader_slow: "El lector de documentos externo tardó más de {seconds} s.",
  reader_busy: "El lector de documentos externo está sobrecargado.",
  reader_refused: "El lector de documentos externo rechazó el archivo (HTTP {status}).",
  reader_failed: "El lector de documentos externo no pudo leer el archivo.",
  reader_answer_over: "La respuesta del lector de documentos externo supera los {limit} MB.",
  reader_other:
    "Lo que responde en la dirección del lector de documentos externo es otra cosa. Revisa knowledge.reader_url y knowledge.reader_kind.",
  recording_too_large: "La grabación es demasiado grande. Se transcriben como máximo {limit} MB.",
  said_nothing: "{name} no describió la imagen.",

  only_words: "Solo se compararon palabras clave, no significados: {why}",
  not_embedded_yet:
    "En algunas colecciones solo se compararon palabras clave: sus documentos aún no tienen embeddings.",
  not_ranked: "Los mejores resultados no se reordenaron: {why}",

  no_address:
    "No es una dirección válida: debe empezar por https:// y no puede contener un nombre de usuario.",
  address_not_allowed:
    "Lleva a esta máquina, a una red privada o a un puerto que no es de la web. Solo un administrador puede permitirlo (outbound.allow).",
  unreachable: "No se puede acceder.",
  slow: "No responde a tiempo.",
  too_many_redirects: "Redirige demasiadas veces.",
  answer_too_large: "Su respuesta es demasiado grande.",
  answer_compressed: "Su respuesta está comprimida, aunque no se pidió.",
  answer_cut_off: "Se perdió la conexión en mitad de su respuesta.",
  robots_refuse:
    "El robots.txt del sitio pide a los programas que no lean esta página, así que no se leyó. Usa otra fuente.",
  no_page: "Página no encontrada (HTTP {status}).",
  page_closed: "El sitio no permite leer esta página (HTTP {status}). Usa otra fuente.",
  site_busy: "El sitio pide esperar (HTTP 429). Inténtalo más tarde o usa otra fuente.",
  site_fault: "El servidor del sitio falló (HTTP {status}). Inténtalo más tarde.",
  without_page: "El sitio respondió sin una página (HTTP {status}).",
  not_text: "El contenido de esta dirección es {what}, no texto, y no se puede leer.",
  a_picture: "una imagen",
  sound_or_film: "audio o vídeo",
  no_image: "El sitio respondió sin una imagen (HTTP {status}).",
  not_image: "No es una imagen PNG, JPEG, GIF o WebP.",
  page_unreadable: "La página se cargó, pero no se puede leer. {why}",
  page_needs_scripts: "La página no muestra nada hasta que se ejecutan sus scripts, y {why}",
  scripts_slow: "no terminaron a tiempo.",
  scripts_too_large: "ocuparon más memoria o disco de lo que puede usar una página.",
  browser_not_started: "no se pudo iniciar el navegador de este servidor.",
  browser_failed: "el navegador de este servidor falló.",
  browser_not_here: "el navegador no se puede iniciar en este sistema.",
  crawl4ai_failed: "Crawl4AI no pudo cargarla: {why}.",
  no_web_search:
    "La búsqueda web no está configurada en este servidor. Un administrador puede configurarla (web.search).",
  bad_web_query: "Una búsqueda debe tener de 1 a {limit} caracteres.",
  web_search_failed: "La búsqueda no funcionó: {why}",
  own_fault: "El servidor no pudo hacerlo por un error interno.",
  collection_full: {
    one: "Una colección puede tener como máximo {count} documento.",
    many: "Una colección puede tener como máximo {count} de documentos.",
    other: "Una colección puede tener como máximo {count} documentos.",
  },
  no_room_for_documents: "No queda espacio para tus documentos. Elimina antes algunos.",
  key_unreadable:
    "Esta clave no se puede leer con el archivo de clave de este servidor. Introdúcela de nuevo.",
};
