/** Spanish texts for the pages before sign-in. */
import type { account as en } from "../en/account.ts";
import type { Entry } from "../index.svelte.ts";

export const account: Record<keyof typeof en, Entry> = {
  "setup.title": "Te damos la bienvenida a Glasshouse",
  "setup.intro":
    "Un servidor de agentes con paredes de cristal: ves cada paso en tiempo real. Primero, crea la cuenta de administrador.",
  "setup.submit": "Crear cuenta",
  "login.title": "Iniciar sesión",
  "login.submit": "Iniciar sesión",
  "login.forgotten": "¿Olvidaste tu contraseña?",
  "login.forgottenHelp": "Pide un enlace de restablecimiento a un administrador de este servidor.",
  "login.resetHelp":
    "El enlace para elegir una contraseña nueva se envía a la dirección de correo de arriba.",
  "login.sendReset": "Enviarme un enlace",
  "login.resetSent":
    "Si {email} tiene una cuenta con contraseña, el enlace va en camino. Mira también en la carpeta de spam.",
  "login.or": "o",
  "login.with": "Continuar con {name}",
  "login.problem.unknown":
    "Este inicio de sesión empezó en otro navegador o tardó demasiado. Inténtalo de nuevo.",
  "login.problem.denied": "Según {name}, rechazaste el acceso. Inténtalo de nuevo.",
  "login.problem.refused":
    "{name} no pudo confirmar tu identidad. Inténtalo de nuevo; si sigue fallando, consulta a un administrador.",
  "login.problem.unreachable": "No se puede conectar con {name}. Inténtalo más tarde.",
  "login.problem.notAllowed":
    "Ninguno de tus grupos en {name} tiene acceso aquí. Consulta a un administrador.",
  "login.problem.groupsUnknown":
    "{name} no envió tus grupos y aquí solo tienen acceso algunos. Consulta a un administrador.",
  "login.groupsKept":
    "{name} no envió tus grupos esta vez, así que aquí conservas los mismos grupos y el mismo rol.",
  "login.problem.noAccount": "Aún no tienes una cuenta aquí. Pídesela a un administrador.",
  "login.problem.addressTaken":
    "Ya existe una cuenta con tu correo electrónico. Inicia sesión con su contraseña.",
  "login.problem.noAddress":
    "{name} no compartió tu correo electrónico, que aquí es obligatorio. Consulta a un administrador.",
  "login.problem.suspended": "Esta cuenta está suspendida. Consulta a un administrador.",
  "login.problem.codeNeeded":
    "El proxy inició tu sesión, pero esta cuenta también requiere un código. Inicia sesión con tu contraseña.",
  "proxy.name": "El proxy de este servidor",
  "proxy.signsOut": "Tu sesión la gestiona el proxy de este servidor. Ciérrala allí.",
  "proxy.sessions":
    "Tu sesión la gestiona el proxy de este servidor, así que este navegador no necesita ninguna. Ciérrala allí.",
  "login.problem.notSetUp":
    "Este servidor aún no está configurado. Su administrador debe crear la primera cuenta.",
  "close.open": "Eliminar cuenta…",
  "close.title": "Eliminar mi cuenta",
  "close.text":
    "Tu cuenta se elimina de inmediato y para siempre, con todos tus chats, archivos, recuerdos, tareas programadas y claves. Los totales de uso permanecen en el servidor sin tu nombre. Confirma con tu contraseña; si no tienes, consulta a un administrador.",
  "close.wrong": "Contraseña incorrecta.",
  "settings.profile": "Perfil",
  "profile.role": "Rol",
  "profile.save": "Guardar",
  "profile.saved": "Nombre cambiado.",
  "profile.others": "Solo un administrador puede cambiar tu correo electrónico y tu rol.",
};
