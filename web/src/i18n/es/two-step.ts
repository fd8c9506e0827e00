/** Spanish texts for two-step sign-in. */
import type { Entry } from "../index.svelte.ts";
import type { twoStep as en } from "../en/two-step.ts";

export const twoStep: Record<keyof typeof en, Entry> = {
  "settings.two-step": "Verificación en dos pasos",
  "twoStep.intro":
    "Después de la contraseña, introduces un código de una aplicación de autenticación como Aegis, Google Authenticator o 1Password. Quien averigüe tu contraseña no podrá iniciar sesión. Las claves de API funcionan como antes.",
  "twoStep.begin": "Configurar",
  "twoStep.beginText":
    "Necesitas un teléfono con una aplicación de autenticación. Primero, confirma tu contraseña:",
  "twoStep.next": "Continuar",
  "twoStep.scan": "Escanéalo con la aplicación e introduce el código que muestre.",
  "twoStep.qr": "Código QR para la aplicación",
  "twoStep.type": "O introduce esto en la aplicación:",
  "twoStep.code": "Código de la aplicación",
  "twoStep.codeHint": "Seis cifras",
  "twoStep.wrong":
    "Código incorrecto. Espera al siguiente y comprueba que el reloj del teléfono está en hora.",
  "twoStep.turnOn": "Activar",
  "twoStep.onSince": "Activada desde el {date}.",
  "twoStep.left": {
    one: "Queda {count} código de recuperación.",
    many: "Quedan {count} códigos de recuperación.",
    other: "Quedan {count} códigos de recuperación.",
  },
  "twoStep.renew": "Códigos de recuperación nuevos",
  "twoStep.renewText": "Recibirás diez códigos nuevos. Los anteriores dejarán de funcionar.",
  "twoStep.end": "Desactivar la verificación en dos pasos",
  "twoStep.endText":
    "Iniciarás sesión solo con la contraseña. Los códigos de la aplicación y de recuperación dejarán de funcionar.",
  "twoStep.isOff": "La verificación en dos pasos está desactivada.",
  "twoStep.noPassword":
    "Inicias sesión con un proveedor y aquí no tienes contraseña. Configura allí un segundo paso.",
  "twoStep.recoveryText":
    "La verificación en dos pasos está activada. Guarda estos códigos de recuperación donde puedas acceder a ellos sin tu teléfono: cada uno sustituye una vez a un código de la aplicación. Solo se muestran ahora.",
  "twoStep.copyCodes": "Copiar todos",
  "twoStep.kept": "Los he guardado",
  "twoStep.enter": "Un paso más",
  "twoStep.recoveryCode": "Código de recuperación",
  "twoStep.recoveryCodeHint": "Dieciséis letras y cifras; cada uno funciona una vez",
  "twoStep.submit": "Continuar",
  "twoStep.used": "El código es incorrecto o ya se usó.",
  "twoStep.lost": "Usar un código de recuperación",
  "twoStep.useApp": "Usar la aplicación",
  "twoStep.startOver": "Empezar de nuevo",
  "twoStep.has": "verificación en dos pasos",
  "twoStep.endOfConfirm":
    "{name} podrá entonces iniciar sesión solo con la contraseña. Asegúrate de que realmente es {name} quien lo pide. Todas las sesiones de {name} finalizan.",
};
