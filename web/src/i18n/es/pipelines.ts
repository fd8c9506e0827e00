/** Spanish texts for the pipelines: small model calls around a chat. */
import type { Entry } from "../index.svelte.ts";
import type { pipelines as en } from "../en/pipelines.ts";

export const pipelines: Record<keyof typeof en, Entry> = {
  "settings.pipelines": "Tareas del modelo",
  "pipelines.intro":
    "Títulos, etiquetas, sugerencias y otras llamadas breves a modelos en torno a un chat. Solo las consultas de búsqueda retrasan la respuesta, unos segundos como mucho. Los totales son de la última semana.",
  "pipelines.taskModel": "Modelo de tareas",
  "pipelines.taskModelHint": "Se usa en chats con un modelo de esta máquina o de su red.",
  "pipelines.taskModelExternal": "Modelo de tareas externo",
  "pipelines.taskModelExternalHint": "Se usa en chats con un modelo externo.",
  "pipelines.chatModel": "El mismo que el chat",
  "pipelines.title": "Título",
  "pipelines.title.hint":
    "Los chats llevan sus primeras palabras como nombre hasta que un modelo propone un título.",
  "pipelines.tags": "Etiquetas",
  "pipelines.tags.hint": "De una a tres palabras para explorar los chats.",
  "pipelines.follow_ups": "Sugerencias",
  "pipelines.follow_ups.hint": "Mensajes sugeridos debajo de cada respuesta.",
  "pipelines.queries": "Consultas de búsqueda",
  "pipelines.queries.hint": "Consultas que se redactan a partir de todo el chat antes de responder.",
  "pipelines.queries.web": "En la web",
  "pipelines.queries.webHint":
    "Cuando la búsqueda web está activada. Si no, la consulta es el propio mensaje.",
  "pipelines.queries.documents": "En documentos",
  "pipelines.queries.documentsHint":
    "Para los mensajes siguientes en chats con colecciones. El primer mensaje es su propia consulta.",
  "pipelines.rag": "Recuperación",
  "pipelines.rag.hint": "Cómo se entregan al modelo los fragmentos de documentos y páginas.",
  "pipelines.rag.system": "En el mensaje del sistema",
  "pipelines.rag.systemHint":
    "En lugar de antes del mensaje del usuario. Los servidores con caché de prompts empiezan entonces de cero con cada mensaje.",
  "pipelines.rag.passages": "Máximo de fragmentos",
  "pipelines.rag.passagesHint": "Por mensaje: de documentos y de páginas.",
  "pipelines.autocomplete": "Autocompletado",
  "pipelines.autocomplete.hint": "Un texto gris sugiere cómo podría seguir el mensaje; Tab lo acepta.",
  "pipelines.autocomplete.length": "Longitud máxima del texto",
  "pipelines.autocomplete.lengthHint": "En caracteres. Los textos más largos no reciben sugerencias.",
  "pipelines.autocomplete.any": "cualquiera",
  "pipelines.moa": "Combinar respuestas",
  "pipelines.moa.hint": "Cómo se combinan en una varias respuestas cuando se pide.",
  "pipelines.moa.samples": "Respuestas por modelo",
  "pipelines.moa.samplesHint":
    "Valor predeterminado en «Comparar» → «Avanzado». Cada persona puede elegir otro número.",
  "pipelines.moa.layers": "Capas",
  "pipelines.moa.layersHint":
    "Con 2 o 3, los modelos vuelven a responder antes de combinar, con todas las respuestas de la capa anterior a la vista. Cada capa cuesta más o menos lo mismo que las respuestas.",
  "pipelines.tools": "Herramientas en el prompt",
  "pipelines.tools.hint":
    "Cómo se describen las herramientas a los modelos que no admiten llamadas a herramientas. Si está desactivado, estos modelos no tienen herramientas.",
  "pipelines.code_interpreter": "Intérprete de código",
  "pipelines.code_interpreter.hint":
    "Estos modelos escriben Python entre etiquetas y se ejecuta. Si está desactivado, lo llaman como cualquier otra herramienta.",
  "pipelines.code_interpreter.retries": "Reintentos de código",
  "pipelines.code_interpreter.retriesHint":
    "Cuántas veces seguidas puede un modelo reintentar código fallido en una respuesta. Después, el código se muestra pero no se ejecuta.",
  "pipelines.calls": { one: "{count} llamada", many: "{count} de llamadas", other: "{count} llamadas" },
  "pipelines.failed": "no utilizables: {count}",
  "pipelines.cancelled": "canceladas: {count}",
  "pipelines.tokens": "{tokens} tokens",
  "pipelines.lastFailure": "Último fallo ({at}):",
  "pipelines.latest": "Llamadas recientes",
  "pipelines.change": "Editar",
  "pipelines.template": "Plantilla",
  "pipelines.templateHint":
    "Las variables entre llaves dobles se sustituyen: MESSAGES:END:6, prompt, CURRENT_DATE, USER_NAME y otras. Puedes pegar plantillas de Open WebUI.",
  "pipelines.preview": "Vista previa",
  "pipelines.try": "Probar con el modelo",
  "pipelines.reset": "Restablecer",
  "pipelines.noChat": "No tienes ningún chat para la vista previa.",
  "pipelines.ofChat": "Con tu último chat: {chat}",
  "pipelines.answerOf": "Respuesta de {model}",
  "pipelines.model": "Modelo",
  "pipelines.modelDefault": "El modelo de tareas o el del chat",
  "pipelines.outputTokens": "Máximo de tokens de salida",
  "pipelines.seconds": "Tiempo de espera en segundos",
  "pipelines.badNumber": "Introduce un número entero.",
  "pipelines.between": "Introduce un número entero de {least} a {most}.",
  "pipelines.outcome.done": "completada",
  "pipelines.outcome.fallback": "respuesta no utilizable",
  "pipelines.outcome.failed": "fallida",
  "pipelines.outcome.cancelled": "cancelada",
  "debug.beside": {
    one: "{count} llamada al modelo fuera de la ejecución",
    many: "{count} de llamadas al modelo fuera de la ejecución",
    other: "{count} llamadas al modelo fuera de la ejecución",
  },
  "followUps.title": "Sugerencias para continuar",
  "followUps.edit": "Editar antes",
  "settings.completions": "Autocompletar mis mensajes",
  "settings.completionsHint":
    "Un texto gris sugiere cómo podría seguir tu mensaje: Tab lo acepta todo; la flecha derecha acepta una palabra. En el teléfono, tócalo.",
  "audit.area.pipeline": "Tareas del modelo",
  "audit.pipeline.change": "Tarea del modelo modificada",
  "audit.pipeline.try": "Tarea del modelo probada",
};
