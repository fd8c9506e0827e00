/** Spanish texts for sign-in settings. */
import type { signIn as en } from "../en/sign-in.ts";
import type { Entry } from "../index.svelte.ts";

export const signIn: Record<keyof typeof en, Entry> = {
  "settings.sessions": "Sesiones",
  "sessions.intro": {
    one: "Dónde tienes sesiones abiertas. Una sesión finaliza {count} hora después de iniciarse.",
    many: "Dónde tienes sesiones abiertas. Una sesión finaliza {count} horas después de iniciarse.",
    other: "Dónde tienes sesiones abiertas. Una sesión finaliza {count} horas después de iniciarse.",
  },
  "sessions.on": "{browser} en {system}",
  "sessions.unknown": "Navegador desconocido",
  "sessions.this": "este navegador",
  "sessions.began": "iniciada el {date}",
  "sessions.from": "desde {address}",
  "sessions.used": "último uso: {date}",
  "sessions.end": "Cerrar sesión",
  "sessions.endOf": "Cerrar sesión: {device}",
  "sessions.endConfirm":
    "¿Cerrar la sesión de {device}? Todo lo que esté abierto allí se cierra de inmediato.",
  "sessions.endOthers": "Cerrar las demás sesiones",
  "sessions.endOthersConfirm":
    "Todas tus demás sesiones finalizan de inmediato. Las claves de API siguen funcionando.",
  "sessions.endAll": "Cerrar todas las sesiones",
  "sessions.endAllConfirm":
    "Todas tus sesiones finalizan de inmediato, incluida esta. Las claves de API siguen funcionando.",
  "sessions.ended": "Se cerraron las demás sesiones.",

  "reset.title": "Elige una contraseña nueva",
  "reset.over":
    "Este enlace ha caducado o ya se usó. Para obtener uno nuevo, elige «{forgotten}» en la página de inicio de sesión.",
  "reset.done": "Contraseña cambiada. Ya puedes iniciar sesión.",
  "reset.make": "Restablecer contraseña",
  "reset.made":
    "Envía este enlace a {name} para que elija una contraseña nueva. Funciona una sola vez, hasta el {date}, y solo se muestra ahora.",

  "signUp.title": "Crear una cuenta",
  "signUp.submit": "Crear cuenta",
  "signUp.closed": "Necesitas una invitación para crear una cuenta aquí. Pídesela a un administrador.",
  "signUp.over":
    "Esta invitación ya se usó, ha caducado, se revocó o es para otro correo electrónico. Pide una nueva.",
  "signUp.taken":
    "No se pudo iniciar sesión con esta contraseña. Si ya tienes una cuenta, usa su contraseña.",
  "signUp.toLogin": "Iniciar sesión",
  "signUp.link": "Crear una cuenta",
  "signUp.who": "Registro",
  "signUp.closedMode": "Cerrado",
  "signUp.closedText":
    "Solo los administradores añaden cuentas; las invitaciones existentes quedan en pausa.",
  "signUp.invitationMode": "Con invitación",
  "signUp.invitationText": "Con un enlace que envías tú.",
  "signUp.openMode": "Abierto",
  "signUp.openText":
    "Cualquiera que pueda acceder a este servidor. Cada cuenta cuesta lo que cuestan sus ejecuciones: fija límites.",

  "invitations.title": "Invitaciones",
  "invitations.invite": "Invitar a personas",
  "invitations.way": "Para quién son los enlaces",
  "invitations.byEmail": "Por dirección de correo",
  "invitations.shared": "Un enlace compartido",
  "invitations.most": "Máximo de cuentas",
  "invitations.days": "Validez (días)",
  "invitations.turnsOn": "El registro está cerrado. Al crear un enlace se activa el registro con invitación.",
  "invitations.reopens": {
    one: "{count} invitación anterior vuelve a ser válida.",
    many: "{count} de invitaciones anteriores vuelven a ser válidas.",
    other: "{count} invitaciones anteriores vuelven a ser válidas.",
  },
  "invitations.invalid": {
    one: "No es un correo electrónico: {names}",
    many: "No son correos electrónicos: {names}",
    other: "No son correos electrónicos: {names}",
  },
  "invitations.accounts": {
    one: "Ya tiene una cuenta: {names}",
    many: "Ya tienen una cuenta: {names}",
    other: "Ya tienen una cuenta: {names}",
  },
  "invitations.repeated": {
    one: "Introducido más de una vez: {names}",
    many: "Introducidos más de una vez: {names}",
    other: "Introducidos más de una vez: {names}",
  },
  "invitations.invited": {
    one: "Ya tiene una invitación: {names}. El enlace nuevo reemplaza al anterior.",
    many: "Ya tienen una invitación: {names}. Los enlaces nuevos reemplazan a los anteriores.",
    other: "Ya tienen una invitación: {names}. Los enlaces nuevos reemplazan a los anteriores.",
  },
  "invitations.createLinks": {
    one: "Crear enlace",
    many: "Crear {count} de enlaces",
    other: "Crear {count} enlaces",
  },
  "invitations.ready":
    "Válido hasta el {date}, para una cuenta. No se envía ningún correo: comparte tú el enlace.",
  "invitations.readyEach":
    "Cada enlace es válido hasta el {date}, para una cuenta. No se envía ningún correo: comparte tú los enlaces.",
  "invitations.readyAnybody": {
    one: "Válido hasta el {date}, para {count} cuenta. No se envía ningún correo: comparte tú el enlace.",
    many: "Válido hasta el {date}, para {count} de cuentas. No se envía ningún correo: comparte tú el enlace.",
    other: "Válido hasta el {date}, para {count} cuentas. No se envía ningún correo: comparte tú el enlace.",
  },
  "invitations.sendMail": "Enviar los enlaces por correo",
  "invitations.noMail": "No se envía ningún correo: tú compartes los enlaces.",
  "invitations.setUpMail": "Configurar el correo",
  "invitations.send": {
    one: "Enviar invitación",
    many: "Enviar {count} de invitaciones",
    other: "Enviar {count} invitaciones",
  },
  "invitations.sendingOf": "Enviando {at} de {count}…",
  "invitations.sent": "Correo enviado",
  "invitations.allSent": {
    one: "Invitación enviada. El enlace es válido hasta el {date}, para una cuenta.",
    many: "{count} de invitaciones enviadas. Cada enlace es válido hasta el {date}, para una cuenta.",
    other: "{count} invitaciones enviadas. Cada enlace es válido hasta el {date}, para una cuenta.",
  },
  "invitations.someSent":
    "Invitaciones enviadas: {sent} de {count}. Comparte tú los demás enlaces. Cada enlace es válido hasta el {date}, para una cuenta.",
  "invitations.turnedOn": "El registro con invitación está activado.",
  "invitations.copy": "Copiar enlace",
  "invitations.copyAll": "Copiar todos",
  "invitations.copyOf": "Copiar enlace: {who}",
  "invitations.mail": "Escribir un correo",
  "invitations.mailTo": "Escribir un correo: {who}",
  "invitations.mailSubject": "Invitación a Glasshouse",
  "invitations.mailText": "Crea tu cuenta aquí: {link}\n\nEl enlace es válido hasta el {date}.",
  "invitations.failed": "No se pudo invitar a {email}: {problem}",
  "invitations.done": "Listo",
  "invitations.pending": "Invitaciones pendientes",
  "invitations.paused": "El registro está cerrado, así que estos enlaces no funcionan ahora.",
  "invitations.past": {
    one: "{count} usada o caducada",
    many: "{count} usadas o caducadas",
    other: "{count} usadas o caducadas",
  },
  "invitations.renew": "Enlace nuevo",
  "invitations.renewOf": "Enlace nuevo: {who}",
  "invitations.renewConfirm": "¿Crear un enlace nuevo para «{who}»? El actual dejará de funcionar.",
  "invitations.renewed": "Enlace nuevo para {who}, válido hasta el {date}:",
  "invitations.anybody": "Cualquiera con el enlace",
  "invitations.anybodyHint":
    "Cualquiera que tenga el enlace puede crear una cuenta, hasta que se agote o caduque.",
  "invitations.emails": "Correos electrónicos",
  "invitations.emailsHint":
    "Sepáralos con comas, espacios o saltos de línea. Cada uno recibe un enlace que solo sirve para ese correo.",
  "invitations.used": "usada",
  "invitations.uses": "{uses} de {most} usos",
  "invitations.until": "hasta el {date}",
  "invitations.over": "caducó el {date}",
  "invitations.takeBack": "Revocar",
  "invitations.takeBackConfirm":
    "¿Revocar la invitación «{who}»? Su enlace deja de funcionar de inmediato. Las cuentas creadas con él se conservan.",

  "signIns.title": "Tus inicios de sesión",
  "signIns.intro":
    "Cuando inicias sesión, los agentes que trabajan para ti usan estos servidores en tu nombre. Los demás no ven lo que tú ves allí.",
  "signIns.none": "Aquí ninguna herramienta requiere que inicies sesión.",
  "signIns.kind.oauth": "requiere que inicies sesión",
  "signIns.kind.user_token": "requiere tu token",
  "signIns.state.signed_out": "sin sesión iniciada",
  "signIns.state.lapsed": "sesión caducada",
  "signIns.signIn": "Iniciar sesión en {name}",
  "signIns.signOut": "Cerrar sesión en {name}",
  "signIns.signOutConfirm":
    "Tu sesión se elimina de este servidor. Los agentes no podrán usar {name} en tu nombre hasta que vuelvas a iniciar sesión.",
  "signIns.token": "Tu token de {name}",
  "signIns.save": "Guardar",
  "signIns.ended.done": "Has iniciado sesión.",
  "signIns.ended.unknown":
    "Este inicio de sesión ya se usó, tardó demasiado o empezó en otro lugar. Inténtalo de nuevo.",
  "signIns.ended.denied": "El servidor denegó el acceso.",
  "signIns.ended.wrong_issuer":
    "Volviste desde una dirección inesperada, así que se rechazó el inicio de sesión. Avisa a un administrador.",
  "signIns.ended.refused": "El servidor rechazó el inicio de sesión. Inténtalo de nuevo.",
  "signIns.ended.unreachable": "No se puede conectar con el servidor. Inténtalo más tarde.",
  "signIns.ended.signed_out": "Inicia sesión en Glasshouse en este navegador e inténtalo de nuevo.",
};
