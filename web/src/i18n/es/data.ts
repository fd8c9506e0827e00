/** Spanish texts for data export, import and account deletion in the settings. */
import type { Entry } from "../index.svelte.ts";
import type { data as en } from "../en/data.ts";

export const data: Record<keyof typeof en, Entry> = {
  "settings.data": "Exportar e importar",
  "data.export": "Exportar",
  "data.exportText":
    "Un archivo con todos tus datos: chats con todas sus ramas y registros de ejecución, archivos, colecciones de documentos, recuerdos, tareas programadas y nombres de claves. No incluye contraseñas ni claves.",
  "data.exportDo": "Descargar mis datos",
  "data.import": "Importar",
  "data.importText":
    "Importa en esta cuenta una exportación de Glasshouse, o chats de ChatGPT, Claude, Open WebUI o LibreChat. Los datos existentes se conservan y no se duplican; las tareas programadas se importan desactivadas.",
  "data.importFiles": "ChatGPT y Claude: el archivo ZIP tal como lo recibiste. Otros: .json o .jsonl.",
  "data.choose": "Elegir archivo",
  "data.dropHere": "o suéltalo aquí",
  "data.sending": "Importando {name} ({size})…",
  "data.made": "Importado",
  "data.here": "Ya estaba aquí",
  "data.left": "Omitido",
  "data.leftMore": { one: "y {count} más", many: "y {count} más", other: "y {count} más" },
  "data.nothingNew": "No hay nada nuevo que importar.",
  "data.count.chats": { one: "{count} chat", many: "{count} de chats", other: "{count} chats" },
  "data.count.messages": { one: "{count} mensaje", many: "{count} de mensajes", other: "{count} mensajes" },
  "data.count.runs": {
    one: "{count} ejecución",
    many: "{count} de ejecuciones",
    other: "{count} ejecuciones",
  },
  "data.count.files": { one: "{count} archivo", many: "{count} de archivos", other: "{count} archivos" },
  "data.count.memories": {
    one: "{count} recuerdo",
    many: "{count} de recuerdos",
    other: "{count} recuerdos",
  },
  "data.count.facts": {
    one: "{count} dato aprendido",
    many: "{count} de datos aprendidos",
    other: "{count} datos aprendidos",
  },
  "data.count.schedules": {
    one: "{count} tarea programada",
    many: "{count} de tareas programadas",
    other: "{count} tareas programadas",
  },
  "data.count.collections": {
    one: "{count} colección",
    many: "{count} de colecciones",
    other: "{count} colecciones",
  },
  "data.count.sources": { one: "{count} fuente", many: "{count} fuentes", other: "{count} fuentes" },
  "data.count.documents": {
    one: "{count} documento",
    many: "{count} de documentos",
    other: "{count} documentos",
  },
  "data.what.chat": "Chat",
  "data.what.message": "Mensaje",
  "data.what.run": "Ejecución",
  "data.what.file": "Archivo",
  "data.what.memory": "Recuerdo",
  "data.what.fact": "Dato aprendido",
  "data.what.schedule": "Tarea programada",
  "data.what.collection": "Colección",
  "data.what.source": "Fuente",
  "data.what.document": "Documento",
  "data.what.key": "Clave",
  "data.what.agent": "Agente",
  "data.what.line": "Línea",
  "data.end": "Eliminar cuenta",
  "data.endText": "Elimina para siempre tu cuenta y todo su contenido. Exporta antes tus datos.",
};
