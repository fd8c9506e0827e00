/** Portuguese texts for two-step sign-in. */
import type { twoStep as en } from "../en/two-step.ts";
import type { Entry } from "../index.svelte.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "Verificação em duas etapas",
  "twoStep.intro":
    "Depois da senha, você digita um código de um app autenticador como Aegis, Google Authenticator ou 1Password. Quem descobrir sua senha ainda assim não consegue entrar. As chaves de API funcionam como antes.",
  "twoStep.begin": "Configurar",
  "twoStep.beginText": "Você precisa de um celular com um app autenticador. Primeiro, confirme sua senha:",
  "twoStep.next": "Continuar",
  "twoStep.scan": "Escaneie com o app e digite o código que ele mostrar.",
  "twoStep.qr": "QR code para o app",
  "twoStep.type": "Ou digite isto no app:",
  "twoStep.code": "Código do app",
  "twoStep.codeHint": "Seis dígitos",
  "twoStep.wrong": "Código incorreto. Aguarde o próximo e verifique se o relógio do celular está certo.",
  "twoStep.turnOn": "Ativar",
  "twoStep.onSince": "Ativada desde {date}.",
  "twoStep.left": {
    one: "Resta {count} código de recuperação.",
    many: "Restam {count} de códigos de recuperação.",
    other: "Restam {count} códigos de recuperação.",
  },
  "twoStep.renew": "Novos códigos de recuperação",
  "twoStep.renewText": "Você recebe dez novos códigos. Os antigos param de funcionar.",
  "twoStep.end": "Desativar verificação em duas etapas",
  "twoStep.endText":
    "Você vai entrar só com a senha. Os códigos do app e os de recuperação param de funcionar.",
  "twoStep.isOff": "A verificação em duas etapas está desativada.",
  "twoStep.noPassword": "Você entra por um provedor e não tem senha aqui. Configure a segunda etapa por lá.",
  "twoStep.recoveryText":
    "A verificação em duas etapas está ativada. Guarde estes códigos de recuperação em um lugar acessível sem o celular: cada um substitui um código do app uma vez. Eles só são mostrados agora.",
  "twoStep.copyCodes": "Copiar todos",
  "twoStep.kept": "Já guardei",
  "twoStep.enter": "Falta uma etapa",
  "twoStep.recoveryCode": "Código de recuperação",
  "twoStep.recoveryCodeHint": "Dezesseis letras e números; cada um funciona uma vez",
  "twoStep.submit": "Continuar",
  "twoStep.used": "O código está errado ou já foi usado.",
  "twoStep.lost": "Usar um código de recuperação",
  "twoStep.useApp": "Usar o app",
  "twoStep.startOver": "Recomeçar",
  "twoStep.has": "verificação em duas etapas",
  "twoStep.endOfConfirm":
    "Depois disso, {name} pode entrar só com a senha. Certifique-se de que é mesmo {name} quem está pedindo. Todas as sessões de {name} são encerradas.",
};
