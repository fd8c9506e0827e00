/** Portuguese texts for the form of example prompts. */
import type { startPrompts as en } from "../en/start-prompts.ts";
import type { Entry } from "../index.svelte.ts";

export const startPrompts: Record<keyof typeof en, Entry> = {
  "settings.prompts": "Prompts de exemplo",
  "startPrompts.intro": "Todas as pessoas os veem na página de um novo chat, exatamente como escritos aqui.",
  "startPrompts.builtIn": "Os novos chats mostram os exemplos integrados, no idioma de cada pessoa.",
  "startPrompts.of": "Exemplo {number}",
  "startPrompts.title": "Título (opcional)",
  "startPrompts.text": "Prompt",
  "startPrompts.clickHint":
    "Um clique envia o prompt. Se terminar com dois-pontos, ele vai para a caixa de mensagem para ser completado.",
  "startPrompts.add": "Adicionar exemplo",
  "startPrompts.up": "Mover o exemplo {number} para cima",
  "startPrompts.down": "Mover o exemplo {number} para baixo",
  "startPrompts.remove": "Remover o exemplo {number}",
  "startPrompts.removed": "Exemplo removido",
  "startPrompts.missing": "Informe o prompt.",
  "startPrompts.tooLong": "Use no máximo {limit} caracteres, incluindo o título.",
  "startPrompts.useBuiltIn": "Usar os exemplos integrados",
  "startPrompts.usesBuiltIn": "Os novos chats mostram os exemplos integrados",
};
