/** Portuguese texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Sessões",
  "sessions.intro": {
    one: "Onde sua conta está conectada. Uma sessão termina {count} hora após o início.",
    many: "Onde sua conta está conectada. Uma sessão termina {count} de horas após o início.",
    other: "Onde sua conta está conectada. Uma sessão termina {count} horas após o início.",
  },
  "sessions.on": "{browser} no {system}",
  "sessions.unknown": "Navegador desconhecido",
  "sessions.this": "este navegador",
  "sessions.began": "iniciada em {date}",
  "sessions.from": "de {address}",
  "sessions.used": "último uso em {date}",
  "sessions.end": "Sair",
  "sessions.endOf": "Sair: {device}",
  "sessions.endConfirm": "Encerrar a sessão de {device}? Tudo o que está aberto lá fecha imediatamente.",
  "sessions.endOthers": "Sair dos outros dispositivos",
  "sessions.endOthersConfirm":
    "Todas as suas outras sessões são encerradas imediatamente. As chaves de API continuam funcionando.",
  "sessions.endAll": "Sair de todos os dispositivos",
  "sessions.endAllConfirm":
    "Todas as suas sessões são encerradas imediatamente, inclusive esta. As chaves de API continuam funcionando.",
  "sessions.ended": "Outras sessões encerradas.",

  "reset.title": "Escolha uma nova senha",
  "reset.over": "Este link expirou ou já foi usado. Peça um novo a um administrador.",
  "reset.done": "Senha alterada. Você já pode entrar.",
  "reset.make": "Redefinir senha",
  "reset.makeOf": "Redefinir a senha de {name}",
  "reset.made":
    "Envie este link a {name} para que escolha uma nova senha. Funciona uma vez, até {date}, e só é mostrado agora.",

  "signUp.title": "Criar uma conta",
  "signUp.submit": "Criar conta",
  "signUp.closed": "Você precisa de um convite para criar uma conta aqui. Fale com um administrador.",
  "signUp.over":
    "Este convite foi usado, expirou, foi revogado ou é para outro endereço de e-mail. Peça um novo.",
  "signUp.taken": "Não foi possível entrar com esta senha. Se você já tem uma conta, use a senha dela.",
  "signUp.toLogin": "Já tenho conta",
  "signUp.link": "Criar uma conta",
  "signUp.who": "Cadastro",
  "signUp.closedMode": "Fechado",
  "signUp.closedText": "Só administradores adicionam contas; os convites existentes ficam suspensos.",
  "signUp.invitationMode": "Por convite",
  "signUp.invitationText": "Com um link que você envia.",
  "signUp.openMode": "Aberto",
  "signUp.openText":
    "Qualquer pessoa com acesso a este servidor. Cada conta custa o que custam suas execuções: defina limites.",

  "invitations.title": "Convites",
  "invitations.email": "Restringir ao e-mail",
  "invitations.emailHint": "Deixe em branco para qualquer pessoa com o link",
  "invitations.most": "Máximo de contas",
  "invitations.days": "Validade (dias)",
  "invitations.create": "Criar link",
  "invitations.made": "Envie este link. Ele só é mostrado agora.",
  "invitations.anybody": "Qualquer pessoa com o link",
  "invitations.used": "usado",
  "invitations.uses": "{uses} de {most} usados",
  "invitations.until": "até {date}",
  "invitations.over": "expirou em {date}",
  "invitations.takeBack": "Revogar",
  "invitations.takeBackConfirm":
    "Revogar o convite “{who}”? O link para de funcionar imediatamente. As contas criadas com ele são mantidas.",

  "signIns.title": "Seus logins",
  "signIns.intro":
    "Depois que você faz login, os agentes que trabalham para você usam estes servidores em seu nome. Outras pessoas não veem o que você vê lá.",
  "signIns.kind.oauth": "precisa do seu login",
  "signIns.kind.user_token": "precisa do seu token",
  "signIns.state.signed_out": "sem login",
  "signIns.state.lapsed": "login expirado",
  "signIns.signIn": "Fazer login em {name}",
  "signIns.signOut": "Sair de {name}",
  "signIns.signOutConfirm":
    "Seu login é removido daqui. Os agentes não podem usar {name} por você até que você faça login de novo.",
  "signIns.token": "Seu token para {name}",
  "signIns.save": "Salvar",
  "signIns.ended.done": "Login concluído.",
  "signIns.ended.unknown":
    "Este login já foi usado, demorou demais ou começou em outro lugar. Tente de novo.",
  "signIns.ended.denied": "O servidor negou o acesso.",
  "signIns.ended.wrong_issuer":
    "Você voltou de um endereço inesperado, por isso o login foi recusado. Avise um administrador.",
  "signIns.ended.refused": "O servidor recusou o login. Tente de novo.",
  "signIns.ended.unreachable": "Não foi possível acessar o servidor. Tente mais tarde.",
  "signIns.ended.signed_out": "Entre no Glasshouse neste navegador e tente de novo.",
};
