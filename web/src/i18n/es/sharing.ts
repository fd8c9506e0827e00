/** Spanish texts for shared chats and collections, and for administrator access. */
export const sharing = {
  "share.open": "Compartir chat",
  "share.intro":
    "Las personas con las que compartes ven todo el chat: mensajes, pasos, herramientas y archivos. Quienes pueden responder también pueden escribir en él.",
  "share.all": "Cualquiera en este servidor que tenga el enlace",
  "share.allHint": "Cualquiera con una cuenta en este servidor que abra el enlace.",
  "share.copy": "Copiar enlace",
  "share.people": "Personas",
  "share.email": "Correo electrónico",
  "share.add": "Compartir",
  "share.added": "Compartido con {name}",
  "share.remove": "Dejar de compartir",
  "share.removeOf": "Dejar de compartir con {name}",
  "share.removeConfirm": "¿Dejar de compartir con {name}? Ya no podrá leer este chat.",
  "share.files": "Sus archivos están en una carpeta del servidor que los lectores no pueden ver.",
  "shared.title": "Compartidos conmigo",
  "shared.of": "Compartido por {name}",
  "share.mayReply": "Puede responder",
  "share.mayRead": "Puede leer",
  "share.rights": "Acceso de {name}",
  "share.rightsOfNew": "Acceso",
  "share.replyHint":
    "Quienes pueden responder usan tus modelos, herramientas, archivos y límites. Solo tú puedes aprobar llamadas y detener respuestas.",
  "shared.byWritable": "Compartido por {name} ({email}) · puedes responder",
  "shared.by": "Compartido por {name} ({email}) · solo lectura",
  "shared.waiting": "Esperando a {name}",
  "shared.notAnswerable": "Solo {name} puede responder a esto.",
  "moderation.note":
    "Los administradores pueden leer los chats de este servidor. Cada acceso queda registrado.",
  "moderation.chats": "Chats",
  "moderation.chatsOf": "Chats de {name}",
  "moderation.noted": "Tu acceso queda en el registro de auditoría.",
  "moderation.none": "No hay chats",
  "collectionShare.open": "Compartir",
  "collectionShare.title": "Compartir «{name}»",
  "collectionShare.intro":
    "Podrán leerla y buscar en ella, pero no modificarla. Los cambios se aplican de inmediato.",
  "collectionShare.introAdmin": "Haces este cambio como administrador. Queda en el registro de auditoría.",
  "collectionShare.all": "Todos en este servidor",
  "collectionShare.allHint": "Cualquiera con una cuenta en este servidor.",
  "collectionShare.groups": "Grupos",
  "collectionShare.noGroups": "No hay grupos que elegir",
  "collectionShare.removeConfirm":
    "¿Dejar de compartir con {name}? Ya no podrá leer estos documentos ni buscar en ellos.",
  "collectionShare.closeConfirm":
    "Solo puedes leer esta colección porque está compartida contigo. Si eso termina, solo su propietario podrá volver a compartirla contigo.",
  "collectionShare.is": "Compartida",
};
