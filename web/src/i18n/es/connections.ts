/** Spanish texts for model connections. */
import type { Entry } from "../index.svelte.ts";
import type { connections as en } from "../en/connections.ts";

export const connections: Record<keyof typeof en, Entry> = {
  "connection.name": "Nombre",
  "connection.namePlaceholder": "Mi servidor",
  "connection.url": "URL base",
  "connection.key": "Clave de API",
  "connection.keyOptional": "déjala vacía si no hace falta",
  "connection.provider": "Proveedor",
  "connection.otherProvider": "Otro servidor compatible con OpenAI",
  "connection.getKey": "Obtener una clave de API",
  "connection.more": "Más opciones",
  "connection.kind": "Formato de la API",
  "connection.region": "Región de AWS",
  "connection.profile": "Perfil de AWS, si no hay clave",
  "connection.api_version": "Versión de la API, para URL de implementaciones",
  "connection.project": "Proyecto de Google Cloud",
  "connection.location": "Ubicación",
  "connection.bedrockKey":
    "Una clave de API de Bedrock o ACCESS_KEY_ID:SECRET_ACCESS_KEY. Déjala vacía para usar las credenciales de AWS del servidor.",
  "connection.vertexKey":
    "El JSON de una cuenta de servicio o una clave de API. En Google Cloud, déjala vacía para usar la cuenta de servicio de la máquina.",
  "connection.file": "del archivo de configuración",
  "connection.test": "Probar",
  "connection.testing": "Probando…",
  "connection.added": {
    one: "Conectado. {count} modelo disponible.",
    many: "Conectado. {count} de modelos disponibles.",
    other: "Conectado. {count} modelos disponibles.",
  },
  "connection.testOk": {
    one: "La conexión funciona. {count} modelo disponible.",
    many: "La conexión funciona. {count} de modelos disponibles.",
    other: "La conexión funciona. {count} modelos disponibles.",
  },
  "connection.add": "Conectar",
  "connection.refresh": "Actualizar modelos",
  "connection.remove": "Quitar",
  "connection.removeConfirm":
    "¿Quitar «{name}»? Sus modelos dejarán de estar disponibles; los chats se conservan.",
  "connection.environment": "del entorno",
  "connection.withKey": { one: "{count} clave", many: "{count} de claves", other: "{count} claves" },
  "connection.trusted": "Reenviar datos del usuario",
  "connection.trustedHint":
    "Con cada solicitud, envía a este servidor el nombre, el correo y el rol del usuario, el chat y metadatos de la solicitud.",
  "connection.none": "Aún no hay servidores conectados",
  "connection.settings": "Configuración de {name}",
  "connection.off": "desactivada",
  "connection.enabled": "Activada",
  "connection.enabledHint": "Si está desactivada, sus modelos no están disponibles.",
  "connection.together": "Balanceo de carga",
  "connection.togetherHint":
    "Los modelos con el mismo nombre de todas las conexiones con esta opción se convierten en uno solo: las solicitudes se reparten por peso y, si un servidor falla, pasan a otro.",
  "connection.weight": "Peso",
  "connection.weightHint":
    "Proporción de las solicitudes, de 0 a 1000. Con 0, solo se usa cuando las demás fallan.",
  "connection.badWeight": "Introduce un número entero de {least} a 1000.",
  "connection.leftAlone": {
    one: "En pausa durante {time} tras {count} fallo.",
    many: "En pausa durante {time} tras {count} fallos seguidos.",
    other: "En pausa durante {time} tras {count} fallos seguidos.",
  },
  "connection.halfOpen": "La próxima solicitud la volverá a probar.",
  "connection.lastFailure": "Hace {ago}: {message}",
  "connection.keys": "Claves",
  "connection.noKeys": "Las solicitudes se envían sin clave.",
  "connection.keyEnding": "Clave …{ending}",
  "connection.keyHidden": "Clave {number}",
  "connection.keyUnreadable":
    "No se puede descifrar con el archivo de clave de este servidor. Quítala y vuelve a introducirla.",
  "connection.keyUses": {
    one: "{count} respuesta desde que se inició el servidor",
    many: "{count} de respuestas desde que se inició el servidor",
    other: "{count} respuestas desde que se inició el servidor",
  },
  "connection.keyRests": "en pausa durante {time}",
  "connection.keyWeight": "Peso de {key}",
  "connection.removeKey": "Quitar {key}",
  "connection.removeKeyConfirm": "La clave se quita de este servidor. Sigue siendo válida en el proveedor.",
  "connection.newKey": "Clave nueva",
  "connection.addKey": "Añadir clave",
  "connection.tryModel": "Modelo para probar",
  "connection.tryNoModel": "solo listar modelos",
  "connection.tryTook": {
    one: "Responde en {time}. {count} modelo disponible.",
    many: "Responde en {time}. {count} de modelos disponibles.",
    other: "Responde en {time}. {count} modelos disponibles.",
  },
  "connection.tryAnswer": "El modelo respondió en {time}: {text}",
  "connection.trySilent": "El modelo devolvió una respuesta vacía en {time}.",
};
