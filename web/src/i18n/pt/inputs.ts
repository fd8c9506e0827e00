/** Portuguese texts for messages to a run that is going. */
import type { Entry } from "../index.svelte.ts";
import type { inputs as en } from "../en/inputs.ts";

export const inputs: Record<keyof typeof en, Entry> = {
  "inputs.label": "Mensagens na fila",
  "inputs.steer": "Será enviada na próxima etapa",
  "inputs.queue": "Será enviada após esta resposta",
  "inputs.interrupt": "Interrompendo…",
  "inputs.nextTurn": "Será enviada assim que possível",
  "inputs.givenUp": "Não foi possível enviar",
  "inputs.toAgent": "Será enviada ao subagente {agent} na próxima etapa dele",
  "inputs.edit": "Editar",
  "inputs.remove": "Remover",
  "inputs.how": "Como enviar",
  "inputs.sendSteer": "Enviar na próxima etapa",
  "inputs.sendSteerHint": "O agente lê assim que a ação atual terminar.",
  "inputs.sendQueue": "Enviar após esta resposta",
  "inputs.sendQueueHint": "Será a próxima mensagem do chat.",
  "inputs.sendInterrupt": "Interromper e enviar agora",
  "inputs.sendInterruptHint": "A etapa atual é interrompida. O que já foi escrito é mantido.",
  "inputs.withFiles": "Será enviada com os anexos após esta resposta; pressione para cancelar",
  "inputs.read": "Enviada enquanto o agente trabalhava",
  "inputs.readBy": "{name}, enquanto o agente trabalhava",
  "inputs.placeholder": "Acrescente algo enquanto ele trabalha",
  "inputs.messageAgent": "Enviar mensagem a este subagente",
  "inputs.messageTo": "Mensagem para {name}",
  "inputs.fromYou": "Você",
};
