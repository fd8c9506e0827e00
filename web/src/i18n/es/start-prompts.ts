/** Spanish texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "Prompts de ejemplo",
  "startPrompts.intro":
    "Todas las personas los ven en la página de un chat nuevo, tal como se escriben aquí.",
  "startPrompts.builtIn": "Los chats nuevos muestran los ejemplos integrados, en el idioma de cada persona.",
  "startPrompts.of": "Ejemplo {number}",
  "startPrompts.title": "Título (opcional)",
  "startPrompts.text": "Prompt",
  "startPrompts.clickHint":
    "Un clic envía el prompt. Si termina en dos puntos, pasa al cuadro de mensaje para completarlo.",
  "startPrompts.add": "Añadir ejemplo",
  "startPrompts.up": "Subir el ejemplo {number}",
  "startPrompts.down": "Bajar el ejemplo {number}",
  "startPrompts.remove": "Quitar el ejemplo {number}",
  "startPrompts.removed": "Ejemplo quitado",
  "startPrompts.missing": "Introduce el prompt.",
  "startPrompts.tooLong": "Usa como máximo {limit} caracteres, incluido el título.",
  "startPrompts.useBuiltIn": "Usar los ejemplos integrados",
  "startPrompts.usesBuiltIn": "Los chats nuevos muestran los ejemplos integrados",
};
