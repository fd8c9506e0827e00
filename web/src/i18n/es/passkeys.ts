/** Spanish texts for passkeys. */
import type { Entry } from "../index.svelte.ts";
import type { passkeys as en } from "../en/passkeys.ts";

export const passkeys: Record<keyof typeof en, Entry> = {
  "settings.passkeys": "Llaves de acceso",
  "passkeys.intro":
    "Inicia sesión con tu huella, tu cara o el PIN del dispositivo en lugar de una contraseña y un código. Una llave de acceso no se puede adivinar ni robar con phishing. Tu contraseña sigue funcionando.",
  "passkeys.name": "Nombre",
  "passkeys.nameHint": "Por ejemplo: teléfono, llave de seguridad",
  "passkeys.make": "Añadir llave de acceso",
  "passkeys.makeText":
    "Confirma tu contraseña. Después, el navegador te preguntará dónde guardar la llave de acceso.",
  "passkeys.made": "Llave de acceso añadida. Ya puedes iniciar sesión con ella.",
  "passkeys.madeAt": "Creada el {date} para {host}",
  "passkeys.used": "último uso: {date}",
  "passkeys.unused": "sin usar",
  "passkeys.copied": "Es posible que esta llave de acceso se haya copiado y se ha desactivado. Quítala.",
  "passkeys.remove": "Quitar llave de acceso",
  "passkeys.removeConfirm":
    "¿Quitar «{name}»? No podrás iniciar sesión con ella. Elimínala también del dispositivo o este seguirá ofreciéndola.",
  "passkeys.known": "Este dispositivo ya tiene tu llave de acceso para este servidor.",
  "passkeys.notMade":
    "No se añadió la llave de acceso: se canceló, se agotó el tiempo o este dispositivo no es compatible.",
  "passkeys.notHere":
    "Las llaves de acceso necesitan un navegador compatible y HTTPS con un nombre de host, o localhost.",
  "passkeys.logIn": "Iniciar sesión con una llave de acceso",
  "passkeys.notUsed":
    "No se usó la llave de acceso: se canceló, se agotó el tiempo o no está en este dispositivo.",
  "passkeys.wrong":
    "Esta llave de acceso ya no funciona aquí. Inicia sesión con tu contraseña y revisa tus llaves de acceso.",
  "passkeys.has": "llaves de acceso",
  "passkeys.removeShort": "Quitar llaves de acceso",
  "passkeys.removeOfConfirm":
    "{name} podrá entonces iniciar sesión con la contraseña y añadir llaves de acceso nuevas. Todas las sesiones de {name} finalizan.",
};
