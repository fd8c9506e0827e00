/** Spanish texts for the embedding model settings. */
import type { embedding as en } from "../en/embedding.ts";
import type { Entry } from "../index.svelte.ts";

export const embedding: Record<keyof typeof en, Entry> = {
  "embedding.title": "Búsqueda semántica",
  "embedding.intro":
    "Con un modelo de embeddings, los fragmentos se encuentran por su significado y no solo por palabras clave.",
  "embedding.inForce": "Modelo activo",
  "embedding.none": "Ninguno (solo palabras clave)",
  "embedding.builtIn": "Integrado (inglés)",
  "embedding.from.page": "elegido aquí",
  "embedding.from.configuration": "de la configuración",
  "embedding.dimensions": "Dimensiones",
  "embedding.notYet": "se sabrá con el primer documento",
  "embedding.progress": "Documentos",
  "embedding.done": "{whole} de {documents} listos ({percent} %)",
  "embedding.failed": { one: "{count} con error", many: "{count} con error", other: "{count} con error" },
  "embedding.noDocuments": "Aún no hay documentos",
  "embedding.earlier": "Hasta entonces se usa {model}, con {count} documentos.",
  "embedding.problem": "En pausa. {message}",
  "embedding.choose": "Modelo",
  "embedding.asConfigured": "De la configuración ({model})",
  "embedding.likely": "Probables modelos de embeddings",
  "embedding.others": "Otros modelos",
  "embedding.noModels": "Conecta un servidor con un modelo de embeddings para elegirlo aquí.",
  "embedding.queryPrefix": "Prefijo de la consulta",
  "embedding.passagePrefix": "Prefijo del fragmento",
  "embedding.prefixHint":
    "Algunos modelos lo necesitan; consulta la documentación del modelo. Los espacios cuentan.",
  "recognition.noScript": "Instale también los datos «osd» para detectar la escritura de una página.",
  "recognition.install": "Instale Tesseract con sus idiomas, por ejemplo:",
  "recognition.missing": "No disponible. {cause}",
  "recognition.off": "Desactivado",
  "recognition.languages": "Idiomas",
  "recognition.program": "Programa",
  "recognition.intro": "Tesseract lee páginas escaneadas e imágenes en este servidor.",
  "recognition.title": "Reconocimiento de texto",
  "embedding.try": "Probar",
  "embedding.trying": "Probando…",
  "embedding.tried": "Una frase tardó {time} y dio un vector de {dimensions} dimensiones.",
  "embedding.anew":
    "Los embeddings de todos los documentos se vuelven a generar en segundo plano y a cargo de sus propietarios. Hasta entonces se usan los actuales.",
  "embedding.turnsOff": "La búsqueda semántica se desactiva. Sus embeddings se eliminan al cabo de una hora.",
  "audit.area.embedding": "Modelo de embeddings",
  "audit.embedding.change": "Modelo de embeddings modificado",
  "audit.embedding.try": "Modelo de embeddings probado",
  "reader.title": "Lector de documentos",
  "reader.intro":
    "Otro programa, Apache Tika o Docling, puede leer archivos que este servidor no lee, como los archivos antiguos de Office.",
  "reader.off": "No hay ningún lector de documentos configurado.",
  "documents.models": "Modelos para documentos",
  "documents.modelsIntro":
    "Procesan los documentos en segundo plano y en las búsquedas. Sus tokens cuentan como uso.",
};
